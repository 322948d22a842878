"""Advice on output in compiled code: it ends the graph breaks, and says how to keep the output."""

from __future__ import annotations

import pytest
import torch
from compilescope.analysis.overview.suggestions.code_suggestions import against_breaks
from compilescope.analysis.problems.distinct_breaks import distinct_breaks
from compilescope.report import Report, Subject, Suggestion, VariantReport
from compilescope.report.variant import Variant

from .recompiling_programs import Program, Ran, run

pytestmark = pytest.mark.usefixtures("settings_kept")

NUMBER = Program(
    "def f(x):\n    y = x.sin()\n    print('mean', y.mean().item())\n    return y + 1",
    "for _ in range(3):\n    compiled(torch.ones(4))",
)
TENSOR = NUMBER._replace(define=NUMBER.define.replace(".item()", ""))
LINES = {NUMBER: "print('mean', y.mean().item())", TENSOR: "print('mean', y.mean())"}


def breaks_suggestions(ran: Ran) -> list[Suggestion]:
    variant = VariantReport(
        name="watched",
        requested=Variant(),
        compilations=ran.compilations,
        breaks=distinct_breaks(ran.compilations),
    )
    report = Report(subject=Subject(id="s", name="f"))
    return [ranked.suggestion for ranked in against_breaks(variant, report)]


@pytest.mark.parametrize("program", [NUMBER, TENSOR], ids=["number", "tensor"])
def test_output_left_out_under_compile_breaks_no_graph_and_is_lost(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    define, calls, compile_ = program
    (suggestion,) = breaks_suggestions(run(define, compile_, calls))
    assert capsys.readouterr().out.count("mean") == 3
    assert "compiled calls skip it and write nothing." in suggestion.why
    mended = suggestion.code.replace("\n", "\n    ")
    after = run(define.replace(LINES[program], mended), compile_, calls)
    assert (len(after.compilations), breaks_suggestions(after)) == (1, [])
    assert capsys.readouterr().out == ""


def test_torch_prints_tensors_after_the_graph(capsys: pytest.CaptureFixture[str]) -> None:
    define, calls, compile_ = TENSOR
    (suggestion,) = breaks_suggestions(run(define, compile_, calls))
    capsys.readouterr()
    setting = "torch._dynamo.config.reorderable_logging_functions.add(print)"
    assert setting in suggestion.why
    with torch._dynamo.config.patch(reorderable_logging_functions=set()):
        after = run(define, f"{setting}\n{compile_}", calls)
    assert (len(after.compilations), breaks_suggestions(after)) == (1, [])
    assert capsys.readouterr().out.count("mean") == 3
