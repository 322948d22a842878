"""Files of others cost bounded time and memory, whatever is in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .hostile_files import KINDS

pytestmark = pytest.mark.slow

COUNTS = {"package": 20, "report": 15, "trace": 20, "unpacked": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_file_is_opened_or_refused_within_limits(kind: str) -> None:
    count = COUNTS[kind]
    command = [sys.executable, "-m", "tests.kernel.readers.hostile_files", kind, str(count)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (f"{count} opened\n", 0), done.stderr
