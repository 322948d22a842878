"""A process that is ended amid its work leaves no child, and no folder for longer than the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from compilescope.processes import folders

_CELL = """
import os, subprocess, sys
from compilescope.processes.child import serve

def work(inside):
    # What the cell starts holds the pipe too.
    line = os.open(inside.header["line"], os.O_WRONLY)
    subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], pass_fds=(line,))
    os.write(line, b"begun\\n")
    import signal
    signal.pause()

serve(work)
"""

_PARENT = """
import sys
from compilescope.processes.runner import Limits, run

assert "torch" not in sys.modules
run(("-c", sys.argv[2]), b"", header={"line": sys.argv[1]}, limits=Limits())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_cells_end_with_their_parent(tmp_path: Path, number: signal.Signals) -> None:
    line = tmp_path / "line"
    os.mkfifo(line)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(line), _CELL],
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    with line.open("rb") as result:
        assert result.readline() == b"begun\n"
        (held,) = temporary.iterdir()
        folders.remove_abandoned.__wrapped__(temporary)
        assert held.exists()
        parent.send_signal(number)
        assert parent.wait() == -number
        # It ends when nobody holds the line any more: neither the cell nor what that started.
        assert result.read() == b""
    folders.remove_abandoned.__wrapped__(temporary)
    assert not held.exists()


def test_only_what_a_process_of_ours_left_is_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    place = tmp_path / "place"
    place.mkdir()
    (place / "compilescope-unmarked").mkdir()
    (place / "compilescope-link").symlink_to(elsewhere)
    (elsewhere / ".in-use").touch()
    linked = place / "compilescope-linked"
    linked.mkdir()
    (linked / ".in-use").symlink_to(elsewhere / ".in-use")
    left = place / "compilescope-left"
    left.mkdir()
    (left / ".in-use").touch()
    folders.remove_abandoned.__wrapped__(place)
    assert sorted(path.name for path in place.iterdir()) == [
        "compilescope-link",
        "compilescope-linked",
        "compilescope-unmarked",
    ]
    assert (elsewhere / "kept").exists()
