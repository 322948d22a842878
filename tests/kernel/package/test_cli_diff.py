"""``compilescope diff`` of saved reports: what it compares nothing of, and measurements."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from compilescope.cli import files, main
from compilescope.report import Report

REPORTS = Path(__file__).parents[2] / "data" / "reports"
MLP = REPORTS / "mlp.compilescope.json"


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[Callable[[Report], None]], list[str]]:
    """Makes two folders with the same report, which is changed in the second."""

    def make(change: Callable[[Report], None]) -> list[str]:
        for name in ("before", "after"):
            (tmp_path / name).mkdir()
            report = files.read(MLP)
            if name == "after":
                change(report)
            report.save(tmp_path / name / "mlp.compilescope.json")
        return [str(tmp_path / "before"), str(tmp_path / "after")]

    return make


def _rename(report: Report) -> None:
    for variant in report.variants:
        variant.name = f"new {variant.name}"


def test_reports_of_folders_without_a_common_variant_are_no_success(
    folders: Callable[[Callable[[Report], None]], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = folders(_rename)
    assert main(["diff", *paths]) == 0
    capsys.readouterr()
    assert main(["diff", *paths, "--fail-on", "recompile"]) == 2
    written = capsys.readouterr()
    assert "only before: variant" in written.out
    assert "--fail-on compares nothing of mlp" in written.err


def _clear(report: Report) -> None:
    for variant in report.variants:
        variant.timing, variant.accuracy = None, []


def test_what_was_not_measured_is_said_to_be_not_compared(
    folders: Callable[[Callable[[Report], None]], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = folders(_clear)
    assert main(["diff", *paths, "--fail-on", "slower,wrong-result,recompile"]) == 0
    written = capsys.readouterr()
    assert "wrong results" not in written.out
    assert [line.partition(":")[0] for line in written.err.splitlines()] == [
        "--fail-on slower compares nothing",
        "--fail-on wrong-result compares nothing",
    ]


def _load(report: Report) -> None:
    report.environment.torch = "99.0"
    for variant in report.variants:
        if variant.timing is not None:
            variant.timing.median_us *= 3
            low, high = variant.timing.interval_us
            variant.timing.interval_us = (low * 3, high * 3)


def test_a_slower_machine_is_not_a_slower_call(
    folders: Callable[[Callable[[Report], None]], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = folders(_load)
    assert main(["diff", *paths, "--fail-on", "slower"]) == 0
    written = capsys.readouterr()
    assert "higher, but not clearly slower compared with eager" in written.out
    assert "→ 99.0" in written.out
    assert written.err == ""
    assert main(["diff", *paths, "--json"]) == 0
    variants = json.loads(capsys.readouterr().out)["reports"]["mlp"]["variants"]
    assert [variant["latency"]["conditions"] for variant in variants if variant["latency"]]
