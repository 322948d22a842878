"""The commands of ``%compilescope``."""

from __future__ import annotations

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

from ..views_report import report
from .magic_support import FakeSession, succeed

COMMANDS = "Available: watch, off, clear, forget, status, doctor."


def test_status_lists_what_was_inspected(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed(shell.run_cell("%compilescope status"))
    assert capsys.readouterr().out.startswith("Nothing inspected yet.")
    session.inspections["s1"] = type("Inspection", (), {"report": report()})
    succeed(shell.run_cell("%compilescope"))
    assert (
        "f (cell line 3): eager (run), python (built and run), cpp (sources only)"
        in capsys.readouterr().out
    )


def test_all_reports_are_forgotten(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session.inspections |= {"s1": report(), "s2": report()}
    succeed(shell.run_cell("%compilescope forget"))
    assert session.inspections == {}
    assert capsys.readouterr().out == "All reports are forgotten.\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "dance",
            f"There is no %compilescope dance. {COMMANDS}",
        ),
        (
            "off now",
            f"There is no %compilescope off now. {COMMANDS}",
        ),
        (
            "doctor me",
            f"There is no %compilescope doctor me. {COMMANDS}",
        ),
        ("watch 3", "%compilescope watch 3: write --memory 512, in MB."),
        ("watch --memory much", "%compilescope watch --memory much: write --memory 512, in MB."),
    ],
)
def test_other_commands_say_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    assert not shell.run_cell(f"%compilescope {command}").success
    assert capsys.readouterr().err == f"UsageError: {message}\n"


def test_watching_is_switched_on_and_off(
    shell: InteractiveShell, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed(shell.run_cell("%compilescope off"))
    assert capsys.readouterr().out == "Nothing was watched.\n"
    succeed(shell.run_cell("%compilescope watch --memory 512"))
    # It stays below a cell that compiles: it counts nothing yet.
    assert re.match(r"Watching since [\d:]+\.\n", capsys.readouterr().out)
    succeed(shell.run_cell("%compilescope watch"))
    succeed(shell.run_cell("%compilescope clear"))
    assert session.watcher.asked == [512.0, None, "clear"]
    capsys.readouterr()
    succeed(shell.run_cell("%compilescope off"))
    assert capsys.readouterr().out.startswith("Not watching; recorded: 0 compilations")


def test_unloading_takes_everything_away_and_loading_says_what_to_do(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(shell.input_transformers_cleanup)
    shell.run_line_magic("unload_ext", "compilescope")
    assert len(shell.input_transformers_cleanup) == len(before) - 1
    for kind, name in (("cell", "compile"), ("line", "compile"), ("line", "compilescope")):
        assert name not in shell.magics_manager.magics[kind]
    capsys.readouterr()
    shell.run_line_magic("load_ext", "compilescope")
    assert shell.input_transformers_cleanup == before
    assert capsys.readouterr().out == "Ready: put %%compile at the top of a cell, and run it.\n"
