"""Whether the system lets this process filter its system calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from compilescope.processes import system_calls

pytestmark = pytest.mark.skipif(
    not system_calls.can_forbid_changes(), reason="the system does not filter system calls"
)

_WITHOUT = """
from compilescope.processes import system_calls as calls

PRCTL, SECCOMP, EPERM = 157, 317, 1
filtering = [
    calls._step(calls._LOAD, calls._FIRST_ARGUMENT),
    *calls._when(calls._EQUAL, calls._PR_SET_SECCOMP, calls._FAIL | EPERM),
    calls._step(calls._RETURN, calls._ALLOW),
]
calls._set_filter([
    calls._step(calls._LOAD, calls._NUMBER),
    *calls._when(calls._EQUAL, SECCOMP, calls._FAIL | EPERM),
    calls._step(calls._EQUAL, PRCTL, 0, len(filtering)),
    *filtering,
    calls._step(calls._RETURN, calls._ALLOW),
])
print(calls.can_forbid_changes())
"""


def test_a_container_that_forbids_filters_is_noticed() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True)
    assert done.stdout.split() == ["False"], done.stderr


def test_the_attempt_leaves_this_process_as_it_was() -> None:
    before = _restrictions()
    system_calls.can_forbid_changes.__wrapped__()
    assert _restrictions() == before


def _restrictions() -> list[str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return [line for line in lines if line.startswith(("Seccomp", "NoNewPrivs"))]
