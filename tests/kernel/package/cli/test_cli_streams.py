"""The command line in its surroundings: streams, terminals, and Ctrl-C."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from compilescope.cli import main, run_process
from compilescope.cli.terminal import Paint

from ..stored_logs import LIMIT, MLP, PYTHON


def test_a_command_ends_on_ctrl_c_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("compilescope.cli.trace.Trace", interrupted)
    assert main(["trace", str(LIMIT)]) == 130


def test_a_command_ends_on_ctrl_c_while_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str, package: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.argv", ["compilescope", "trace", str(LIMIT)])
    monkeypatch.setattr("importlib.import_module", interrupted)
    assert run_process() == 130


def test_what_goes_to_a_closed_stream_is_discarded(tmp_path: Path) -> None:
    missing = f"{shlex.quote(sys.executable)} -m compilescope trace missing.log"
    shown = f"{shlex.quote(sys.executable)} -m compilescope trace {shlex.quote(str(LIMIT))}"
    for command, status in ((f"{missing} 2>&-", 2), (f"{shown} >&-", 0)):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (status, "", ""), command


def test_characters_that_a_stream_lacks_are_replaced() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "compilescope", "diff", str(MLP), str(MLP), "--fail-on", "slower"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


@pytest.mark.slow
def test_a_pipe_that_is_closed_early_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "compilescope", "show", str(PYTHON), "--code", "python"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")


def test_places_of_this_machine_are_links_on_a_terminal(tmp_path: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file = tmp_path / "a model.py"
    file.touch()
    link = Paint(Terminal()).link(str(file), "a model.py:1")
    assert link == f"\033]8;;{file.as_uri()}\033\\a model.py:1\033]8;;\033\\"
    assert Paint(Terminal()).link(str(tmp_path / "elsewhere.py"), "text") == "text"
    assert Paint(io.StringIO()).link(str(file), "text") == "text"
