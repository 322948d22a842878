"""The command line: its errors, its help, and what needs torch."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from compilescope import cli
from compilescope.cli import main

from ..stored_logs import MLP, PYTHON


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "missing.py"], "no script 'missing.py'"),
        (["run", "-o", "x.txt", __file__], "Use .json or .html"),
        (
            ["run", "-o", "no/such/folder/x.html", __file__],
            "is not a writable folder",
        ),
        (["trace", "missing.log"], "no trace at 'missing.log'"),
        (["trace", __file__], "is not a trace"),
        (["trace", "run.json"], "compilescope show, diff and open read reports"),
        (["show", __file__], "is not a trace"),
        (["diff", __file__, str(PYTHON)], "is not a trace"),
        (["trace", str(PYTHON), "--rank", "7"], "no rank 7"),
        (["trace", str(PYTHON), "--search", ""], "this one is empty"),
        (
            ["trace", str(PYTHON), "--search", "x", "-o", "x.html"],
            "--search prints to the terminal",
        ),
        (["trace", str(PYTHON), "--stacks", "-o", "x.html"], "--stacks prints to the terminal"),
        (["trace", str(PYTHON), "--stacks", "--search", "x"], "Give one of them"),
        (["trace", str(PYTHON), "-o", "x.txt"], "Use .json or .html"),
        (["trace", str(PYTHON), "--follow"], "cannot be followed: it is compressed"),
        (["diff", str(PYTHON), str(PYTHON), "-o", "x.txt"], "Use .json or .html"),
        (["sweep", "plan.json", "--out", "x.txt"], "Use .json or .html"),
        (["show", str(PYTHON), "--variant", "rank 7"], "no variant 'rank 7'"),
        (["show", str(PYTHON), "--guards", "--json"], "--json prints the summary or the list"),
        (["open", __file__, "--no-browser"], "is not a trace"),
        (["show", "missing.json"], "There is no file 'missing.json'. It was looked for in "),
        (["show", str(PYTHON), "--kernel", "k"], "has no kernel 'k'"),
        (["show", str(PYTHON), "--code", "cpp"], "It has: python"),
        (["show", str(MLP), "--variant", "eager", "--guards"], "eager in "),
        (["show", str(MLP), "--kernel", "extern_kernels.addmm"], "has no source"),
        (["reproduce", str(PYTHON)], "Give --kernel NAME or --graph STAGE"),
        (["viewer", "-o", "x.json"], "A page cannot be saved as 'x.json'. Use .html."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert says in output.err
    assert "Traceback" not in output.err
    assert not output.out


def test_a_log_that_cannot_be_unpacked_is_not_called_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "x.log.gz"
    log.write_bytes(gzip.compress(b"")[:12])
    for command in ("trace", "show", "open"):
        assert main([command, str(log)]) == 2
        assert "x.log.gz cannot be unpacked." in capsys.readouterr().err


def test_help_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    widths = []
    for columns in ("60", "120"):
        cli._columns.cache_clear()
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            main(["trace", "--help"])
        lines = capsys.readouterr().out.split("\n")
        # A choice is one word, which is not split.
        widths.append(max(len(line) for line in lines if "{" not in line))
    cli._columns.cache_clear()
    assert widths[0] <= 58 < 80 < widths[1] <= 118


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from compilescope.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "status"), [(("doctor",), 2), (("sweep", "plan.json"), 2), (("show", PYTHON), 0)]
)
def test_a_command_that_needs_torch_says_so(arguments: tuple[str | Path, ...], status: int) -> None:
    command = (sys.executable, "-c", WITHOUT_TORCH, *arguments)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status
    assert ("pip install torch" in done.stderr) == (status == 2)
    assert "Traceback" not in done.stderr


def test_an_option_that_is_given_twice_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["show", str(PYTHON), "--kernel", "a", "--kernel=b"])
    error = "argument --kernel: it is given twice, as a and as b. Leave one out."
    assert error in capsys.readouterr().err
