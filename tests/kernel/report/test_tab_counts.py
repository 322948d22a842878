"""The counts beside tabs are those of the Overview."""

from __future__ import annotations

import compilescope as cs
from compilescope.analysis.contents.summaries import variant_summary
from compilescope.analysis.overview.overview import overview

from .overview_reports import REPORTS, make_report


def test_tabs_count_what_the_overview_counts() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    cell, python = report.variant("in the cell"), report.variant("python")
    stored = cs.load(REPORTS / "breaks.compilescope.json").variants[0].breaks
    cell.breaks, python.breaks = stored[:3], stored[:1]
    shown = {counted.view: counted for counted in overview(report).counts}
    summary = variant_summary(report, python)
    assert summary.break_count is not None
    assert summary.break_count.text == "3 graph breaks (4 occurrences) in the cell"
    assert (summary.recompile_count, summary.break_count) == (shown["recompiles"], shown["breaks"])
    own = variant_summary(report, cell)
    assert own.break_count is not None
    assert (own.break_count.text, own.break_count.of) == ("3 graph breaks (4 occurrences)", "")


def test_tabs_count_the_recompiles_of_later_calls() -> None:
    report = make_report(eager=100.0, python=50.0)
    python = report.variant("python")
    assert python.timing is not None
    for values, words, earlier in (
        (["self.mask"], "1 recompile in the second call", "The first call changes self.mask"),
        (
            ["self.mask", "self.calls"],
            "2 recompiles in calls 2 to 3",
            "The calls before them change self.mask, self.calls",
        ),
    ):
        python.timing.first_recompiles = values
        count = variant_summary(report, python).recompile_count
        assert count is not None
        assert (count.number, count.text, count.warning) == (len(values), words, True)
        assert count.why == f"{earlier}, which a guard checks. Later calls do not recompile."
