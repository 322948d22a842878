"""What was watched stays within its memory, shows itself and is saved."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from compilescope.report.saving.storage import from_json

from .watch_subjects import EAGER, compiled_often, halved_or_not, ids, latest, plain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo")]


def test_memory_stays_within_its_bounds_and_says_what_is_gone() -> None:
    with cs.watch(memory_mb=0.2) as report:
        watch = latest()
        compiled_often(40)
        state = watch.state()
        assert report.compilations
        assert watch.state().held_bytes <= 200_000
        assert state.compilations == 40
    state = watch.state()
    assert state.compilations == 40
    assert state.reduced > 0
    assert state.left_out + len(report.compilations) == 40
    outline = report.compilations[0]
    assert outline.reduced.startswith("Its texts, graphs, kernels and guards were dropped at ")
    assert outline.graphs == {}
    assert outline.counts["guards"] > 0
    assert outline.absent["dynamo"] == outline.reduced
    assert len(outline.phase_times) > len(outline.phases), "they are of all its phases"
    assert outline.frame is not None
    assert outline.call is not None
    whats = [problem.what for problem in report.problems]
    assert any("reduced to an outline" in what for what in whats)


def test_what_nobody_looks_at_is_bounded_too() -> None:
    with cs.watch(memory_mb=0.2):
        watch = latest()
        compiled_often(40)
        # Nobody reads the report: the watch does it by itself, a few times a second.
        latest_end = time.monotonic() + 600
        while watch._watch_log.total_bytes > 200_000 and time.monotonic() < latest_end:
            time.sleep(0.05)
        assert watch._watch_log.total_bytes <= 200_000
    assert watch.state().reduced > 0


def test_records_go_once_they_are_read() -> None:
    with cs.watch() as report:
        compiled_often(5)
        assert len(report.compilations) == 5
        watch_log = latest()._watch_log
        assert watch_log.stream.groups == {}
        assert watch_log.printed == {}
    assert report.problems == []


def test_phases_begin_when_their_compilation_did() -> None:
    with cs.watch() as report:
        compiled_often(3)
    first, *later = report.compilations
    assert first.phases[0].start_us == 0.0
    assert first.started_s is not None
    for compilation in later:
        assert compilation.started_s is not None
        (outermost,) = compilation.phases
        began_us = (compilation.started_s - first.started_s) * 1e6
        assert outermost.start_us == pytest.approx(began_us, abs=1)
        assert all(child.start_us >= outermost.start_us for child in outermost.children)


@pytest.mark.parametrize("memory_mb", [0, -1, float("nan")])
def test_no_memory_is_refused(memory_mb: float) -> None:
    with pytest.raises(cs.CompilescopeError, match="memory_mb is"), cs.watch(memory_mb=memory_mb):
        pass


def test_it_shows_a_table() -> None:
    with cs.watch() as report:
        assert "0 compilations" in str(report)
        assert "Nothing was compiled" in report._repr_html_()
        compiled = torch.compile(plain, dynamic=False, **EAGER)
        compiled(torch.ones(3))
        compiled(torch.ones(4))
    text, html = str(report), report._repr_html_()
    assert "2 compilations, 1 recompile, 0 graph breaks" in text
    assert "x.size(0): 3 → 4" in text
    assert "plain (watch_subjects.py:" in text
    assert "plain (watch_subjects.py:" in html
    assert "<script" not in html


def test_a_cell_shows_what_broke_and_recompiled_before_the_rest() -> None:
    with cs.watch() as report:
        compiled = torch.compile(halved_or_not, **EAGER)
        for step in (1, 2):
            compiled(torch.ones(3), step)
    broken, resumed, recompiled = report.compilations
    assert broken.breaks
    assert recompiled.recompile
    html = report._repr_html_()
    # First what happened, then of what; folded all of it.
    assert html.index("3 compilations: 1 recompile and 1 graph break") < html.index("<details>")
    assert html.index("because step: 1 → 2") < html.index("<details>")
    assert html.index("if x.sum() &gt; 0: ") < html.index("<details>")
    assert "<b>Graph break</b>" in html
    assert "<b>Compiled again</b>" in html
    assert f"<b>{resumed.id}</b> ·" not in html


def test_a_report_read_back_is_a_plain_one() -> None:
    with cs.watch() as report:
        torch.compile(plain, **EAGER)(torch.ones(3))
    again = from_json(report.to_json())
    assert type(again) is Report
    assert ids(again) == ids(report) == ids(report.redacted())


def test_a_report_is_saved_while_it_grows(tmp_path: Path) -> None:
    with cs.watch() as report:
        stop = threading.Event()
        failures: list[Exception] = []

        def save() -> None:
            try:
                while not stop.is_set():
                    report.save(tmp_path / "r.json")
                    cs.load(tmp_path / "r.json")
            except Exception as error:  # noqa: BLE001 - shown below
                failures.append(error)

        thread = threading.Thread(target=save)
        thread.start()
        compiled_often(20)
        stop.set()
        thread.join()
        report.save(tmp_path / "r.json")
    assert failures == []
    assert ids(cs.load(tmp_path / "r.json")) == ids(report)
    assert len(ids(report)) == 20
