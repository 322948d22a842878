"""Files of others cost bounded time and memory, whatever is in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .hostile_files import KINDS

pytestmark = pytest.mark.slow

COUNTS = {"package": 20, "report": 15, "trace": 20, "unpacked": 1}


def test_a_hostile_file_is_opened_or_refused_within_limits() -> None:
    assert COUNTS.keys() == KINDS.keys()
    counts = [text for kind, count in COUNTS.items() for text in (kind, str(count))]
    command = [sys.executable, "-m", "tests.kernel.readers.hostile_files", *counts]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    opened = "".join(f"{count} opened\n" for count in COUNTS.values())
    assert (done.stdout, done.returncode) == (opened, 0), done.stderr
