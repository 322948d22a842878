"""The list of problems: each once, with all variants that have it, the worst first."""

from __future__ import annotations

import compilescope as cs
from compilescope.analysis.contents.stored import contents
from compilescope.analysis.problems.problem_list import listed, problems_of
from compilescope.comms import report_without_texts
from compilescope.report import Problem, Report, SourceLine, Subject, VariantReport

NOTE = Problem(severity="info", what="A note.")
ERROR = Problem(severity="error", what="No compiler.", remedy="Install g++.")


def elsewhere(problem: Problem, line: int) -> Problem:
    place = SourceLine(file="f.py", line=line)
    return Problem(severity=problem.severity, what=problem.what, where=place)


def test_a_problem_of_several_variants_is_listed_once_and_errors_come_first() -> None:
    entries = listed([("", [NOTE]), ("python", [ERROR, ERROR]), ("cpp", [NOTE, ERROR])])
    assert [(entry.problem, entry.variants) for entry in entries] == [
        (ERROR, ["python", "cpp"]),
        (NOTE, ["cpp"]),
    ]


def test_problems_at_different_lines_stay_apart() -> None:
    entries = listed([("python", [elsewhere(NOTE, 1), elsewhere(NOTE, 2)])])
    assert [entry.problem.where and entry.problem.where.line for entry in entries] == [1, 2]


def test_the_first_detail_is_kept() -> None:
    detailed = Problem(severity="info", what="A note.", detail="long")
    (entry,) = listed([("python", [NOTE]), ("cpp", [detailed])])
    assert (entry.problem.detail, NOTE.detail) == ("long", "")


def test_the_panel_and_the_file_have_the_same_list_and_its_length() -> None:
    variants = [
        VariantReport(name=name, requested=cs.Variant(), problems=[ERROR])
        for name in ("python", "cpp")
    ]
    report = Report(
        subject=Subject(id="a", name="f", kind="function"), variants=variants, problems=[NOTE]
    )
    expected = problems_of(report)
    assert report_without_texts.report(report, 1).listed_problems == expected
    assert contents(report).listed_problems == expected
    assert report_without_texts.subject(report, 1).problems == len(expected) == 2
