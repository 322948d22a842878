"""What the Overview suggests against graph breaks."""

from __future__ import annotations

import compilescope as cs
import msgspec
import pytest
from compilescope.analysis.overview.overview import overview
from compilescope.analysis.problems.distinct_breaks import complete_breaks, share_break_costs
from compilescope.report import (
    Advice,
    Break,
    Compilation,
    DistinctBreak,
    Recompile,
    SourceLine,
)
from compilescope.report.break_advice import TRACE_GRAD_ONLY, advice_lines

from .overview_reports import REPORTS, make_report, suggestion_of


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("print(x)", "if not torch.compiler.is_compiling():\n    print(x)"),
        ("logger.info('%s', x)", "if not torch.compiler.is_compiling():\n    logger.info('%s', x)"),
        ("y = print(x)", ""),
        ("torch._dynamo.graph_break()", ""),
        ("x.append(1)", ""),
        ("for x in y:", ""),
    ],
)
def test_output_that_breaks_the_graph_is_left_out_where_it_is_compiled(
    line: str, mended: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(file="cell", line=3, code=f"    {line}")
    hints = ["Try torch._dynamo.config.reorderable_logging_functions.", "Report an issue."]
    variant = report.variant("python")
    variant.breaks = [DistinctBreak(cause=Break(reason="Call", where=where, hints=hints))]
    complete_breaks(variant)
    (suggestion,) = overview(report).suggestions
    assert suggestion.code == mended
    # The view of graph breaks gives the same advice.
    (graph_break,) = variant.breaks
    assert (graph_break.code, graph_break.place) == (suggestion.code, suggestion.place)
    assert graph_break.advice == ([suggestion.why] if mended else hints)
    assert ("no variant can try it" in suggestion.place) == bool(mended)
    assert ("compiled calls skip it and write nothing" in suggestion.why) == bool(mended)
    assert ("reorderable_logging_functions.add(print)" in suggestion.why) == (line == "print(x)")


def test_a_line_of_torch_itself_is_not_to_be_edited() -> None:
    report = make_report(eager=60.0, python=40.0)
    file = "/venv/lib/python3.12/site-packages/torch/nn/parallel/distributed.py"
    where = SourceLine(file=file, line=1757, code="self.logger.set_runtime_stats_and_log()")
    report.subject.where = SourceLine(file=file, line=1800)
    cause = Break(reason="Call", where=where, hints=["Avoid calling it."])
    report.variant("python").breaks = [DistinctBreak(cause=cause)]
    (suggestion,) = overview(report).suggestions
    assert suggestion.code == ""
    assert "distributed.py:1757" in suggestion.what
    assert "torch's own code" in suggestion.why


def test_a_line_of_output_has_one_suggestion_for_all_its_breaks() -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(file="cell", line=3, code="    print(x.item())")
    setting = "Set `torch._dynamo.config.capture_scalar_outputs = True` to include these."
    number = Break(reason="Unsupported Tensor.item() call", where=where, hints=[setting])
    output = Break(reason="Failed to trace builtin operator", where=where, hints=["Avoid it."])
    report.variant("python").breaks = [
        DistinctBreak(cause=number, wasted_us=1e6),
        DistinctBreak(cause=output, wasted_us=2e6),
    ]
    (suggestion,) = overview(report).suggestions
    assert suggestion.what == "Fix the 2 graph breaks at cell:3"
    assert suggestion.code == "if not torch.compiler.is_compiling():\n    print(x.item())"
    assert suggestion.gain == "wastes 3.00 s of compile time"
    assert suggestion.why == (
        "Output breaks the graph. Under `if not torch.compiler.is_compiling():` it does not, and "
        "compiled calls skip it and write nothing. To keep it, return the value and write it after "
        "the call."
    )


def test_a_break_that_a_setting_of_dynamo_ends_has_it_to_copy() -> None:
    report = cs.load(REPORTS / "breaks.compilescope.json")
    item = suggestion_of(report, "Fix the graph break at line 23")
    assert item.code == "torch._dynamo.config.capture_scalar_outputs = True"
    assert item.place == "before the first call; code that is already compiled does not change"
    assert item.why.endswith("use torch.where on the tensor instead.")
    branch = suggestion_of(report, "Fix the graph break at line 17")
    assert (branch.code, branch.requested, branch.view) == ("", None, "breaks")
    # In a function that was inlined the line is that function's, not the call of it.
    inlined = suggestion_of(report, "Fix the graph break at line 11")
    assert inlined.what.endswith(': `print("so far:", text)`')


@pytest.mark.parametrize(
    ("line", "is_branch"),
    [
        ("if loss.item() > 100:", True),
        ("while x.max().item() > 1:", True),
        ("return x + 1 if x.sum().item() > 3 else x", True),
        ("assert loss.item() < 100", False),
        ("scale = x.max().item() if scaled else 1.0", False),
    ],
)
def test_the_setting_is_not_offered_for_a_number_that_decides_a_branch(
    line: str, is_branch: bool
) -> None:
    report = make_report(eager=60.0, python=40.0)
    cause = Break(
        reason="Unsupported Tensor.item() call with capture_scalar_outputs=False",
        hints=["Set `torch._dynamo.config.capture_scalar_outputs = True` to include these."],
        where=SourceLine(file="/home/me/train.py", line=3, function="step", code=f"    {line}"),
    )
    report.variant("python").breaks = [DistinctBreak(cause=cause)]
    item = suggestion_of(report, "Fix the graph break")
    assert (item.code == "") == is_branch
    assert item.why.startswith("The value decides a branch: use torch.where") == is_branch


def test_a_break_names_its_file_unless_it_is_the_subjects_own() -> None:
    report = make_report(eager=60.0, python=40.0)
    own = SourceLine(file="/home/me/train.py", line=3, function="step", code="x.show()")
    torchs = SourceLine(
        file="/venv/lib/python3.11/site-packages/torch/optim/optimizer.py",
        line=79,
        function="wrapper",
        code="torch._dynamo.graph_break()",
    )
    report.subject.where = own
    report.variant("python").breaks = [
        DistinctBreak(
            cause=Break(reason="a", where=own, hints=["Take it out."]), eager=["x.show()"]
        ),
        DistinctBreak(
            cause=Break(reason="b", where=torchs, hints=["Remove the call."]),
            eager=["optimizer.step()"],
        ),
    ]
    whys = {item.what: item.why for item in overview(report).suggestions}
    assert whys["Fix the graph break at line 3: `x.show()`"] == "Take it out."
    assert whys["Fix the graph break at optimizer.py:79: `optimizer.step()`"] == (
        "The break is in torch's own code: move this call out of the compiled code."
    )


def test_a_setting_that_torchs_hint_misspells_is_written_in_full() -> None:
    report = make_report(eager=60.0, python=40.0)
    cause = Break(reason="a", hints=["Set torch._dynamo.allow_rnn=True"])
    report.variant("python").breaks = [DistinctBreak(cause=cause, eager=["rnn(x)"])]
    item = suggestion_of(report, "Fix the graph break")
    assert item.code == "torch._dynamo.config.allow_rnn = True"
    assert item.why.startswith(f"Set {item.code}. torch then unrolls the sequence: compile time")


def test_the_setting_that_loses_the_gradients_of_backward_is_not_offered() -> None:
    report = make_report(eager=60.0, python=40.0)
    backward = Break(
        reason="Unsupported Tensor.backward() call",
        hints=["Set torch._dynamo.trace_autograd_ops=True"],
    )
    grad = Break(
        reason="using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`",
        hints=["Change `torch._dynamo.config.trace_autograd_ops` to `True`."],
    )
    report.variant("python").breaks = [
        DistinctBreak(cause=backward, eager=["loss.backward()"]),
        DistinctBreak(cause=grad, eager=["g = torch.autograd.grad(loss, x)"]),
    ]
    item = suggestion_of(report, "Fix the graph break: `loss.backward()`")
    assert (item.code, item.place) == ("", "")
    assert item.why.startswith("Call backward() and the optimizer's step() outside the compiled")
    assert advice_lines(backward) == [item.why]
    item = suggestion_of(report, "Fix the graph break: `g =")
    assert item.code == ""
    report.variant("python").breaks.pop(0)
    item = suggestion_of(report, "Fix the graph break: `g =")
    assert item.code == "torch._dynamo.config.trace_autograd_ops = True"
    assert item.why == f"{grad.hints[0]} {TRACE_GRAD_ONLY}"


@pytest.mark.parametrize(
    ("hints", "why", "code"),
    [
        (
            ["Change `torch._dynamo.config.a_setting` to `True`."],
            "Change `torch._dynamo.config.a_setting` to `True`.",
            "torch._dynamo.config.a_setting = True",
        ),
        (
            [
                "If it is a Python builtin, please file an issue on GitHub and see the next case.",
                "If it is a third-party C/C++ Python extension, please wrap it.",
            ],
            (
                "Call it outside the compiled code, and pass its result. A function of an "
                "extension can be a custom operator (torch.library.custom_op)."
            ),
            "",
        ),
        (
            ["Sparse tensor operations are not yet fully supported. Use fullgraph=False."],
            "torch.compile does not support sparse tensors: keep them outside the compiled code.",
            "",
        ),
        (
            ["Remove the `torch.compiler.disable` call"],
            (
                "Move this call out of the compiled code, or remove the function's "
                "torch.compiler.disable if it is yours."
            ),
            "",
        ),
        (
            ["Avoid calling the function `Adam.step`.", "Please file an issue to PyTorch."],
            "Call Adam.step outside the compiled code.",
            "",
        ),
        (
            ["This graph break may have been caused by an earlier graph break. Resolving it may."],
            "a",
            "",
        ),
    ],
)
def test_torchs_hint_is_the_advice_where_it_applies(hints: list[str], why: str, code: str) -> None:
    report = make_report(eager=60.0, python=40.0)
    cause = Break(reason="a", hints=hints)
    report.variant("python").breaks = [DistinctBreak(cause=cause, eager=["f(x)"])]
    item = suggestion_of(report, "Fix the graph break")
    assert (item.why, item.code) == (why, code)


def test_views_show_the_advice_among_torchs_other_hints() -> None:
    report = make_report(eager=60.0, python=40.0)
    cause = Break(
        reason="a",
        hints=["Avoid calling the function `f`.", "Set torch._dynamo.a=True", "Report it."],
    )
    variant = report.variant("python")
    variant.breaks = [DistinctBreak(cause=cause)]
    complete_breaks(variant)
    lines = ["Call f outside the compiled code.", "Set torch._dynamo.config.a = True", "Report it."]
    assert variant.breaks[0].advice == lines
    variant.compilations.append(Compilation(id="7/0", breaks=[cause]))
    assert all(f"→ {line}" in str(report) for line in lines)


@pytest.mark.parametrize(
    ("file", "is_torchs"),
    [
        ("/venv/lib/python3.11/site-packages/torch/_compile.py", True),
        ("/venv/lib/python3.11/site-packages/attr/_make.py", False),
    ],
)
def test_nobody_is_advised_to_decorate_torchs_functions(file: str, is_torchs: bool) -> None:
    avoid, *others = [
        "Avoid calling the function `Optimizer.zero_grad`.",
        "Apply `@torch._dynamo.dont_skip_tracing` to the function `Optimizer.zero_grad`.",
        "Please file an issue to PyTorch.",
    ]
    context = f"qualname: Optimizer.zero_grad, name: inner, filename: `{file}`, skip reason: a"
    advice = advice_lines(Break(reason="a", hints=[avoid, *others], context=context))
    assert advice[0] == "Call Optimizer.zero_grad outside the compiled code."
    assert advice[1:] == ([] if is_torchs else others)


def test_a_step_that_torch_compiles_on_its_own_may_stay_after_the_break() -> None:
    context = "module: torch.optim.sgd, qualname: SGD.step, skip reason: file is force-skipped (a)"
    hints = ["Avoid calling the function `SGD.step`.", "Please file an issue to PyTorch."]
    (advice,) = advice_lines(Break(reason="a", hints=hints, context=context))
    assert advice == (
        "Call the optimizer's step (SGD.step) outside the compiled code if it may run in eager. "
        "Otherwise leave the break: torch compiles the step on its own after it, and advice on "
        "its recompiles applies only there."
    )


def test_a_break_where_dynamo_calls_the_subject_names_no_line_of_torchs() -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(
        file="/venv/lib/python3.11/site-packages/torch/_dynamo/external_utils.py",
        line=69,
        code="return fn(*args, **kwargs)",
    )
    cause = Break(
        reason="Attempted to wrap RNN, GRU, or LSTM",
        where=where,
        hints=["Set torch._dynamo.config.allow_rnn=True to enable experimental support"],
    )
    report.variant("python").breaks = [DistinctBreak(cause=cause, eager=[where.code])]
    item = suggestion_of(report, "Fix the graph break")
    assert item.what == "Fix the graph break at the call itself"
    assert item.code == "torch._dynamo.config.allow_rnn = True"


def test_a_break_costs_what_was_thrown_away_and_not_the_code_after_it() -> None:
    report = make_report(eager=60.0, python=40.0)
    graph_break = DistinctBreak(cause=Break(reason="a"), after=["1/0"], after_us=21.5e6)
    report.variant("python").breaks = [graph_break]
    suggestion = suggestion_of(report, "Fix the graph break")
    assert (suggestion.gain, suggestion.basis) == ("not measured", "unknown")
    graph_break.wasted_us = 205e3
    suggestion = suggestion_of(report, "Fix the graph break")
    assert (suggestion.gain, suggestion.basis) == (
        "wastes 205 ms of compile time",
        "estimated",
    )
    assert suggestion.why == "a"


def test_the_order_of_breaks_does_not_depend_on_times_that_were_measured_once() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=40.0)
    first, often, last = (
        Break(reason=str(line), where=SourceLine(file="a.py", line=line)) for line in (3, 5, 7)
    )
    occurrences = [first, often, often, last]
    compilation = Compilation(id="0/0", breaks=occurrences)
    for name, times_us in (("python", (165e3, 200e3, 1.2e6)), ("cpp", (1.23e6, 300e3, 2e3))):
        variant = report.variant(name)
        variant.compilations = [compilation]
        variant.breaks = [
            DistinctBreak(
                cause=cause, wasted_us=time_us, after_us=0.0, count=occurrences.count(cause)
            )
            for cause, time_us in zip((first, often, last), times_us, strict=True)
        ]
        # A file of an earlier version has them in the order of their times.
        variant.breaks.sort(key=lambda each: -(each.wasted_us or 0.0))
        complete_breaks(variant)
    share_break_costs(report)
    for variant in report.variants[1:]:
        # The view of each variant shows the figures of the Overview.
        assert [each.wasted_us for each in variant.breaks] == [200e3, 165e3, 2e3]
    breaks = [(each.what[-1], each.gain) for each in overview(report).suggestions]
    assert breaks == [
        ("5", "wastes 200 ms of compile time"),
        ("3", "wastes 165 ms of compile time"),
        ("7", "wastes 2.00 ms of compile time"),
    ]


def test_no_second_counts_for_a_recompile_and_for_the_break_before_it() -> None:
    report = make_report(eager=60.0, python=40.0)
    line = SourceLine(file="a.py", line=3, function="f")
    resumed = SourceLine(file="a.py", line=3, function="torch_dynamo_resume_in_f_at_3")
    variant = report.variant("python")
    advice = Advice(kind="mark_dynamic", what="Mark it.", code="mark_dynamic(x, 0)")
    recompile = Recompile(reasons=["size"], advice=[advice])
    variant.compilations = [
        Compilation(
            id="5/0", frame=line, duration_s=0.5, breaks=[Break(reason="print", where=line)]
        ),
        Compilation(id="6/0", frame=resumed, duration_s=1.0),
        Compilation(id="6/1", frame=resumed, duration_s=1.8, recompile=recompile),
        Compilation(id="6/2", frame=resumed, duration_s=1.89, recompile=recompile),
    ]
    complete_breaks(variant)
    assert [graph_break.after_us for graph_break in variant.breaks] == [1e6]
    assert suggestion_of(report, "Avoid 2 recompiles").gain == "costs 3.69 s of compile time"
    assert suggestion_of(report, "Fix the graph break").gain == "not measured"


def test_no_advice_on_torchs_own_break_at_an_optimizers_step() -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(file="/venv/lib/python3.11/site-packages/torch/optim/optimizer.py", line=79)
    cause = Break(
        reason="Call to `torch._dynamo.graph_break()`",
        where=where,
        hints=["Remove the `torch._dynamo.graph_break()` call."],
    )
    report.variant("python").breaks = [DistinctBreak(cause=cause, wasted_us=9e6)]
    assert not [item for item in overview(report).suggestions if "graph break" in item.what]
    cause.where = SourceLine(file="/home/me/train.py", line=3)
    assert suggestion_of(report, "Fix the graph break").why == cause.hints[0]


def test_a_setting_that_ends_a_break_in_torch_s_own_code_is_the_advice() -> None:
    report = cs.load(REPORTS / "breaks.compilescope.json")
    variant = report.variant("python")
    [graph_break] = [
        item for item in variant.breaks if item.cause.where and item.cause.where.line == 17
    ]
    assert graph_break.cause.where is not None
    graph_break.cause.where = msgspec.structs.replace(
        graph_break.cause.where, file="/venv/site-packages/torch/nn/modules/module.py"
    )
    graph_break.cause.stack = []
    graph_break.cause.hints = ["Set torch._dynamo.config.compiled_autograd = True."]
    item = suggestion_of(report, "Fix the graph break at module.py:17")
    assert item.code == "torch._dynamo.config.compiled_autograd = True"
    assert item.why == "Set torch._dynamo.config.compiled_autograd = True."


OPTIMIZER = "/venv/lib/python3.11/site-packages/torch/optim"
STEP = SourceLine(file="/home/me/train.py", line=8, function="step", code="    optimizer.step()")


def test_the_break_around_an_optimizers_step_is_to_be_left() -> None:
    where = SourceLine(f"{OPTIMIZER}/optimizer.py", 79, "_use_grad", "torch._dynamo.graph_break()")
    hints = ["Remove the `torch._dynamo.graph_break()` call."]
    reason = "Call to `torch._dynamo.graph_break()`"
    cause = Break(reason=reason, where=where, hints=hints, stack=[STEP, where])
    (advice,) = advice_lines(cause)
    assert advice.startswith("Leave the break: torch breaks the graph here on purpose")
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.breaks = [DistinctBreak(cause=cause, intended=True)]
    python.compilations.append(Compilation(id="7/0", breaks=[cause]))
    texts = [count.text for count in overview(report).counts]
    assert "1 graph break, intended by torch" in texts
    assert not [item for item in overview(report).suggestions if item.what.startswith("Fix")]
    assert "Leave the break" in str(report)
    assert "move this call" not in str(report)


def test_the_break_that_wastes_the_most_compile_time_is_the_first_to_fix() -> None:
    report = make_report(eager=60.0, python=40.0)
    report.variant("python").breaks = [
        DistinctBreak(cause=Break(reason=code), eager=[code], wasted_us=wasted_us)
        for code, wasted_us in (("often()", 2e5), ("long()", 4e6), ("kept()", None))
    ]
    whats = [item.what for item in overview(report).suggestions]
    assert whats == [f"Fix the graph break: `{code}`" for code in ("long()", "often()", "kept()")]


def test_breaks_that_the_same_change_ends_have_one_suggestion() -> None:
    report = make_report(eager=60.0, python=40.0)

    def break_at(
        line: int, wasted_us: float, reason: str = "Call to graph_break()"
    ) -> DistinctBreak:
        where = SourceLine("/home/me/model.py", line, "forward", "torch._dynamo.graph_break()")
        cause = Break(reason=reason, where=where, hints=["Remove the call."])
        return DistinctBreak(cause=cause, eager=[where.code], wasted_us=wasted_us)

    report.variant("python").breaks = [
        break_at(9, 3e6, reason="Data-dependent branching"),
        *(break_at(line, 2e6) for line in (7, 3)),
    ]
    both, other = overview(report).suggestions
    assert both.what == "Fix the 2 graph breaks: `torch._dynamo.graph_break()`"
    assert [where.line for where in both.lines] == [3, 7]
    assert both.gain == "wastes 4.00 s of compile time"
    assert other.what.startswith("Fix the graph break at model.py:9")
    assert other.lines == []
    assert "model.py:3; model.py:7" in str(report)
    assert "model.py:3; model.py:7" in report._repr_html_()


def test_a_break_in_torchs_own_code_is_named_by_the_users_line() -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(f"{OPTIMIZER}/adam.py", 970, "adam", "func(")
    cause = Break(
        reason="Skip calling `torch.compiler.disable()`d function",
        where=where,
        hints=["Remove the `torch.compiler.disable` call"],
        stack=[STEP, where],
        context="<function _fused_adam at 0x7f0bf9d7f240>",
    )
    report.variant("python").breaks = [DistinctBreak(cause=cause, eager=["func("])]
    item = suggestion_of(report, "Fix the graph break")
    assert (
        item.what == "Fix the graph break at train.py:8: `optimizer.step()` (torch's _fused_adam)"
    )
    assert item.why.endswith("move this call out of the compiled code.")


def test_an_rnn_is_called_in_eager_before_its_sequence_is_unrolled() -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(file="/home/me/model.py", line=33, function="forward", code="y = self.l(x)")
    hints = ["Set torch._dynamo.config.allow_rnn=True to enable experimental support"]
    cause = Break(reason="Attempted to wrap RNN, GRU, or LSTM", where=where, hints=hints)
    report.variant("python").breaks = [DistinctBreak(cause=cause)]
    item = suggestion_of(report, "Fix the graph break")
    assert item.why.startswith("Call the RNN in a method under torch.compiler.disable")
    assert "minutes for 2 layers and 20 steps" in item.why
    assert item.code == ""
