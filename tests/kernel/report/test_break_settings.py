"""Graph breaks at which torch's hint does harm, or is missing."""

from __future__ import annotations

import pytest
from compilescope.report import Break, DistinctBreak, SourceLine
from compilescope.report.break_advice import advice_lines, setting_of

from .overview_reports import make_report, suggestion_of


def break_at(line: str, setting: str) -> Break:
    return Break(
        reason="Data dependent operator",
        hints=[f"Set `torch._dynamo.config.{setting} = True`"],
        where=SourceLine(file="/home/me/train.py", line=3, function="step", code=f"    {line}"),
    )


@pytest.mark.parametrize(
    ("line", "reads_results"),
    [
        ("places = torch.nonzero(mask).tolist()", True),
        ("for place in torch.nonzero(mask):", True),
        ("places = torch.nonzero(mask)", False),
        ("forward(torch.nonzero(mask))", False),
    ],
)
def test_the_setting_is_not_offered_where_python_reads_results_of_unknown_number(
    line: str, reads_results: bool
) -> None:
    graph_break = break_at(line, "capture_dynamic_output_shape_ops")
    assert (setting_of(graph_break) == "") == reads_results
    (advice,) = advice_lines(graph_break)
    assert advice.startswith("How many results there are depends on the data") == reads_results
    assert "tolist()" in advice
    assert "raises an error" in advice


@pytest.mark.parametrize(
    ("line", "may_index"),
    [
        ("i, j = place.tolist()", True),
        ("y = x[i.item(), j.item()]", True),
        ("scale = x.max().item()", False),
    ],
)
def test_numbers_that_may_be_indices_come_with_a_warning(line: str, may_index: bool) -> None:
    (advice,) = advice_lines(break_at(line, "capture_scalar_outputs"))
    assert advice.endswith("an index of two such numbers, as in x[i, j], raises an error.") == (
        may_index
    )


def test_without_a_hint_the_suggestion_is_torchs_explanation() -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(file="/home/me/train.py", line=3, function="step", code="    x.t_()")
    explanation = "Getting an inplace view on\na graph input is not supported."
    cause = Break(reason="Unsupported function call", explanation=explanation, where=where)
    report.variant("python").breaks = [DistinctBreak(cause=cause, eager=["x.t_()"])]
    item = suggestion_of(report, "Fix the graph break")
    assert item.why == "Getting an inplace view on a graph input is not supported."
    cause.where = SourceLine(file="/venv/lib/python3.12/site-packages/torch/nn/a.py", line=3)
    item = suggestion_of(report, "Fix the graph break")
    assert item.why.startswith("The break is in torch's own code")


def test_a_stop_condition_in_a_loop_is_moved_out_of_it() -> None:
    clamp = "For the common pattern `if tensor_cond: x = transform(x)`, use torch.clamp."
    where = SourceLine("/me/generate.py", 7, "generate", "if (nxt == 0).all(): break")
    reason = "Data-dependent branching"
    in_loop = Break(reason=f"{reason}\ngraph break in loop", hints=[clamp], where=where)
    (advice,) = advice_lines(in_loop)
    assert "compile the step that it repeats" in advice
    assert "clamp" not in advice
    assert advice_lines(Break(reason=reason, hints=[clamp], where=where)) == [clamp]
