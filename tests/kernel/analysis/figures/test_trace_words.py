"""The processes of a trace, and the difference between two traces, in words."""

from __future__ import annotations

import msgspec
from compilescope import Variant
from compilescope.analysis.contents.summaries import variant_summary
from compilescope.analysis.figures.trace_words import add_change_words, add_notes, add_process_words
from compilescope.report import Compilation, Environment, Report, Subject, VariantReport
from compilescope.report.problem import Problem
from compilescope.report.saving.storage import complete, from_json
from compilescope.report.subjects.traces import (
    CompilationChange,
    ProcessDifference,
    ProcessSummary,
    TraceDifference,
    TraceSummary,
)

CHANGE = CompilationChange(function="f", before="0/0", after="0/0", outcome=("compiled", "eager"))


def test_what_both_compiled_and_what_was_not_compared() -> None:
    process = ProcessDifference(before="a", after="b")
    add_notes(process)
    assert process.notes == ["Both compiled the same code."]
    process = ProcessDifference(before="a", after="b", changed=[CHANGE], unread=2)
    add_notes(process)
    assert process.notes == ["Kernels and guards of 2 further compilations were not compared."]


def test_what_a_process_compiled() -> None:
    process = ProcessSummary(
        name="rank 0",
        compilations=3,
        recompiles=0,
        graph_breaks=1,
        failures=2,
        fallbacks=1,
        compile_time_s=0.25,
        unfinished=["1/0"],
    )
    add_process_words(process)
    assert process.counts == [
        "3 compilations (2 failed, 1 fell back to eager)",
        "0 recompiles",
        "1 graph break",
        "1 unfinished",
        "250 ms of compile time",
    ]


def test_an_outcome_that_changed() -> None:
    change = msgspec.structs.replace(CHANGE)
    add_change_words(change)
    assert change.outcome_words == "compiled → fell back to eager"


def test_the_list_of_an_earlier_file_says_what_failed_and_what_fell_back() -> None:
    variant = VariantReport(
        name="rank 0",
        requested=Variant(),
        compilations=[Compilation(id=compile_id) for compile_id in ("0/0", "0/1", "0/2")],
        problems=[
            Problem(severity="error", what="", facts={"compilation": "0/1"}),
            Problem(severity="warning", what="", facts={"compilations": "0/2, 0/3"}),
        ],
    )
    report = Report(subject=Subject(id="a", name="log", kind="trace"), variants=[variant])
    complete(report)
    rows = variant_summary(report, variant).compilations
    assert [row.outcome_words for row in rows] == ["", "failed", "fell back to eager"]


def test_a_file_of_an_earlier_version_gets_the_words() -> None:
    difference = TraceDifference(
        processes=[ProcessDifference(before="a", after="b", changed=[CHANGE], unread=1)]
    )
    trace = TraceSummary(name="log", environment=Environment(), processes=[], difference=difference)
    report = Report(subject=Subject(id="a", name="log", kind="trace"), trace=trace)
    stored = from_json(msgspec.json.encode(report)).trace
    assert stored is not None
    assert stored.difference is not None
    (process,) = stored.difference.processes
    assert process.notes == ["Kernels and guards of 1 further compilation were not compared."]
    assert process.changed[0].outcome_words == "compiled → fell back to eager"
