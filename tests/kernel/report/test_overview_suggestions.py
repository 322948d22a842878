"""What the Overview suggests to change."""

from __future__ import annotations

import compilescope as cs
import pytest
from compilescope.analysis.guards.reasons.recompile_words import add_causes
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.analysis.overview.overview import overview
from compilescope.analysis.overview.suggestions.python_calls import against_python_calls
from compilescope.analysis.overview.suggestions.verdict_helps import UNGUARDED
from compilescope.report import (
    Advice,
    Break,
    Compilation,
    Crossing,
    DistinctBreak,
    Effective,
    Failure,
    Graph,
    Guard,
    GuardManager,
    Node,
    OutputError,
    Problem,
    Recompile,
    SourceLine,
    VariantReport,
)
from compilescope.report.measurements.accuracy import SINGLE
from compilescope.report.variant import Variant
from compilescope.views.text.report import what_to_change

from .overview_reports import REPORTS, look, make_report, suggestion_of

WRONG = OutputError(
    path="output",
    dtype="float32",
    max_abs=1.0,
    max_rel=1.0,
    tolerance_abs=0.0,
    tolerance_rel=0.0,
    ok=False,
)


def test_guards_are_filtered_only_where_modules_are_guarded() -> None:
    report = make_report(eager=60.0, python=40.0)
    (compilation,) = report.variant("python").compilations
    compilation.guards = [Guard(expression="check", type="TENSOR_MATCH", source="L['x']")]
    look(report, "python", guards=30.0, wrapper=5.0, kernels=5.0)
    assert "Fewer guards" not in [suggestion.what for suggestion in overview(report).suggestions]
    compilation.guards[0].source = "L['self']._modules['up']"
    look(report, "python", guards=30.0, wrapper=5.0, kernels=5.0)
    assert "Fewer guards" in [suggestion.what for suggestion in overview(report).suggestions]


def test_fewer_guards_save_about_what_checking_them_takes() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=30.0, wrapper=5.0, kernels=5.0)
    assert suggestion_of(report, "Fewer guards").gain == "up to 30.0 µs (75 %) less per call"
    (compilation,) = report.variant("python").compilations
    compilation.guard_tree = [GuardManager(kind="RootGuardManager", cost_ns=4000.0)]
    assert suggestion_of(report, "Fewer guards").gain == "about 4.00 µs (10 %) less per call"


@pytest.mark.parametrize(
    ("operators", "options", "suggested"),
    [
        (["aten.relu.default", "aten.mean.dim"], {}, False),
        (["aten.relu.default"], {"freezing": True}, False),
        (["aten.addmm.default"], {}, False),
        (["aten.addmm.default"], {"freezing": True}, True),
        (["aten.bmm.default"], {}, True),
    ],
)
def test_autotuning_is_suggested_where_there_is_something_to_tune(
    operators: list[str], options: dict[str, bool], suggested: bool
) -> None:
    report = make_report(eager=60.0, python=40.0)
    variant = report.variant("python")
    variant.requested = Variant(options=options)
    nodes = [
        Node(name=f"n{number}", op="call_function", target=f"torch.ops.{operator}")
        for number, operator in enumerate(operators)
    ]
    variant.compilations[0].graphs["post_grad"] = Graph(stage="post_grad", text="", nodes=nodes)
    look(report, "python", guards=8.0, wrapper=8.0, kernels=24.0)
    whats = [suggestion.what for suggestion in overview(report).suggestions]
    assert ("Max-autotune" in whats) is suggested


def test_what_was_tried_in_vain_is_not_suggested() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=40.0)
    look(report, "python", guards=10.0, wrapper=12.0, launches=8.0, kernels=10.0)
    whats = [suggestion.what for suggestion in overview(report).suggestions]
    assert "C++ wrapper" not in whats
    alone = make_report(eager=60.0, python=40.0)
    look(alone, "python", guards=10.0, wrapper=12.0, launches=8.0, kernels=10.0)
    first = overview(alone).suggestions[0]
    assert first.what == "C++ wrapper"
    assert first.requested == Variant(cpp_wrapper=True)
    assert (first.gain, first.basis) == ("up to 20.0 µs (50 %) less per call", "estimated")


@pytest.mark.parametrize("rounds", [64, 3])
def test_what_was_tried_without_a_result_is_not_called_unmeasured(rounds: int) -> None:
    report = make_report(spread=1.0, eager=60.0, python=40.0, cpp=40.0)
    for variant in report.variants:
        assert variant.timing is not None
        variant.timing.samples_us = variant.timing.samples_us[:rounds]
    look(report, "python", guards=10.0, wrapper=12.0, kernels=18.0)
    result = overview(report)
    assert result.wrapper is not None
    tried = suggestion_of(report, "C++ wrapper")
    assert (tried.gain, tried.basis, tried.variant) == (
        "too noisy to judge" if rounds > 3 else "too few rounds",
        "unknown",
        "cpp",
    )
    assert result.wrapper.headline == f"{tried.gain.capitalize()}."


def test_settings_not_in_effect_are_counted_and_suggested() -> None:
    report = make_report(eager=60.0, python=40.0)
    report.variant("python").effective = [
        Effective(
            setting="max_autotune",
            requested="on",
            actual="off",
            why="Too few multiprocessors.",
            remedy="Set it by hand.",
            differs=True,
        )
    ]
    result = overview(report)
    counted = next(count for count in result.counts if count.view == "requested")
    assert (counted.text, counted.warning) == ("1 setting not in effect: max_autotune", True)
    assert "Set it by hand." in [count.what for count in result.suggestions]
    assert "1. Set it by hand: not measured" in what_to_change(report)


def test_settings_not_in_effect_in_another_variant_are_counted_with_its_name() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=30.0)
    report.variant("cpp").effective = [
        Effective(setting="fusions", requested="on", actual="off", differs=True)
    ]
    counted = next(count for count in overview(report).counts if count.view == "requested")
    assert counted.text == "1 setting not in effect: fusions (cpp)"
    assert (counted.of, counted.warning) == ("cpp", True)
    report.variant("eager").effective = [
        Effective(setting=setting, requested="on", actual="off", differs=True)
        for setting in ("CUDA graphs", "autotuning")
    ]
    counted = next(count for count in overview(report).counts if count.view == "requested")
    assert counted.text == (
        "3 settings not in effect: CUDA graphs, autotuning (eager); fusions (cpp)"
    )
    report.variant("cpp").effective += [
        Effective(setting=setting, requested="on", actual="off", differs=True)
        for setting in ("dynamic", "fullgraph")
    ]
    counted = next(count for count in overview(report).counts if count.view == "requested")
    assert counted.text == (
        "5 settings not in effect: CUDA graphs, autotuning (eager); dynamic (cpp) and 2 more"
    )


@pytest.mark.parametrize(
    ("operators", "fact"),
    [
        (["demo::a"], "demo::a is called through Python"),
        (["demo::a", "demo::b"], "demo::a and demo::b are called through Python"),
        (["demo::a", "demo::b", "c::d"], "demo::a, demo::b and 1 more are called through Python"),
    ],
)
def test_calls_through_python_are_a_fact_and_no_setting(operators: list[str], fact: str) -> None:
    report = make_report(eager=60.0, python=40.0, cpp=30.0)
    assert [count for count in overview(report).counts if count.view == "requested"] == []
    (compilation,) = report.variant("cpp").compilations
    why, remedy = "Its kernel is written in Python.", "Register its kernel in C++."
    compilation.crossings = [
        Crossing(operator=name, artifact="cpp", lines=[3, 9], why=why, remedy=remedy)
        for name in operators
    ]
    python_call = Crossing(operator="demo::c", artifact="python", lines=[4])
    report.variant("python").compilations[0].crossings = [python_call]
    (counted,) = (count for count in overview(report).counts if count.view == "requested")
    assert (counted.text, counted.warning) == (f"{fact} (cpp)", False)
    assert (counted.number, counted.of) == (2 * len(operators), "cpp")
    (suggestion,) = (ranked.suggestion for ranked in against_python_calls(report.variant("cpp")))
    assert (suggestion.what, suggestion.why) == (remedy, f"{fact}. {why}")


SLOW = {"guards": 20.0, "wrapper": 5.0, "launches": 5.0, "kernels": 10.0}


@pytest.mark.parametrize(
    ("begin", "requested"),
    [
        ("C++ wrapper", Variant(cpp_wrapper=True)),
        ("CUDA graphs", Variant(mode="reduce-overhead")),
        ("Fewer, larger kernels", Variant(options={"combo_kernels": True})),
        ("Fewer guards", Variant(options=UNGUARDED)),
    ],
)
def test_a_suggestion_that_is_a_setting_can_be_tried(begin: str, requested: Variant) -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", **SLOW)
    python = report.variant("python")
    python.layers[0].device = "cuda:0"
    python.verdict = verdict(python, report)
    assert suggestion_of(report, begin).requested == requested
    # Its code is in the report, and not measured yet: it is there to be looked at.
    report.variants.append(VariantReport(name="tried", requested=requested))
    tried = suggestion_of(report, begin)
    assert (tried.requested, tried.variant) == (None, "tried")
    report.variants[-1].stage = "failed"
    assert begin not in [suggestion.what for suggestion in overview(report).suggestions]


def test_a_size_that_changes_can_be_tried_as_a_symbol() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    number = suggestion_of(report, "Avoid recompile 0/2")
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert (size.requested, size.trial) == (Variant(dynamic=True), "dynamic=True")
    assert (size.code, size.place) == (
        "torch._dynamo.mark_dynamic(batch, 0)",
        "before the call (cell line 4)",
    )
    assert (size.view, size.compilation, size.of) == ("recompiles", "0/1", "in the cell")
    # A tensor in place of a number is a change of the code.
    assert number.requested is None
    assert (number.code, number.place) == (
        "rate = torch.tensor(rate)",
        "before the call (cell line 4)",
    )
    report.variants.append(VariantReport(name="dynamic", requested=Variant(dynamic=True)))
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert (size.requested, size.variant) == (None, "dynamic")
    # That it failed leaves the advice as it is.
    report.variants[-1].stage = "failed"
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert (size.requested, size.variant, size.view) == (None, "", "recompiles")


def test_recompiles_on_both_sides_of_a_graph_break_are_one_suggestion() -> None:
    def again(compilation: str, function: str, source: str, code: str) -> Compilation:
        frame = SourceLine(file="cell", line=1, function=function)
        where = SourceLine(file="cell", line=9, code=code)
        advice = Advice(kind="dynamic", what="Symbols.", code=code, where=where)
        failure = Failure(
            guard="g", kind="size", source=source, dimension=0, old="8", new="9", compilation="0/0"
        )
        recompile = Recompile(reasons=[], failures=[failure], advice=[advice])
        recompiled = Compilation(id=compilation, frame=frame, duration_s=2.0, recompile=recompile)
        add_causes(recompiled)
        return recompiled

    report = make_report(eager=60.0, python=40.0)
    report.variant("python").compilations += [
        again("0/1", "step", "L['x']", "compiled = torch.compile(step, dynamic=True)"),
        again(
            "1/1",
            "torch_dynamo_resume_in_step_at_4",
            "L['y']",
            "step = torch.compile(step, dynamic=True)",
        ),
    ]
    suggestion = suggestion_of(report, "Avoid")
    assert suggestion.what == "Avoid 2 recompiles (x.size(0): 8 → 9; y.size(0): 8 → 9)"
    assert suggestion.code == "compiled = torch.compile(step, dynamic=True)"
    assert suggestion.place == "in place of the torch.compile of step"
    assert suggestion.gain == "costs 4.00 s of compile time"


def test_the_same_code_at_two_calls_is_two_suggestions() -> None:
    def again(compilation: str, line: int) -> Compilation:
        where = SourceLine(file="train.py", line=line, function="main")
        code = "torch._dynamo.mark_dynamic(x, 0)"
        advice = Advice(kind="mark_dynamic", what="Symbols.", code=code, where=where)
        recompile = Recompile(reasons=[], failures=[], advice=[advice])
        return Compilation(id=compilation, duration_s=2.0, recompile=recompile)

    report = make_report(eager=60.0, python=40.0)
    calls = [again("0/1", 3), again("1/1", 7), again("1/2", 7)]
    report.variant("python").compilations += calls
    suggestions = [item for item in overview(report).suggestions if item.what.startswith("Avoid")]
    assert {(item.place, item.gain) for item in suggestions} == {
        ("before the call (train.py:3)", "costs 2.00 s of compile time"),
        ("before the call (train.py:7)", "costs 4.00 s of compile time"),
    }


def test_a_frame_without_operations_is_no_graph() -> None:
    report = cs.load(REPORTS / "breaks.compilescope.json")
    counted = overview(report).counts[0]
    settings = {setting.setting: setting for setting in report.variant("python").effective}
    assert counted.text == "6 graphs in 7 compilations"
    assert settings["fullgraph"].actual == "6 graphs"


@pytest.mark.parametrize(
    ("effective", "requested", "code", "place"),
    [
        (
            Effective(
                setting="fusions",
                requested="bias_addmm",
                actual="off",
                differs=True,
                remedy="Compare with the Python wrapper.",
                trial=Variant(dynamic=False),
            ),
            Variant(dynamic=False),
            "compiled = torch.compile(fn, dynamic=False)",
            "",
        ),
        (
            Effective(
                setting="freezing",
                requested="on",
                actual="off",
                differs=True,
                remedy="Set torch._inductor.config.freezing = True.",
                code="torch._inductor.config.freezing = True",
            ),
            None,
            "torch._inductor.config.freezing = True",
            "before the first call; code that is already compiled does not change",
        ),
    ],
)
def test_a_setting_not_in_effect_is_tried_or_copied(
    effective: Effective, requested: Variant | None, code: str, place: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    report.variant("python").effective = [effective]
    suggestion = suggestion_of(report, effective.remedy)
    assert (suggestion.requested, suggestion.code, suggestion.place) == (requested, code, place)


def test_what_no_button_can_try_says_where_its_code_belongs() -> None:
    points = "points: float32[8, 4] cpu"
    code = "compiled(torch.cat([points] * 8))  # more samples a call"
    # Of several arguments it is unknown which ones hold the samples.
    for arguments, expected in [([points], code), ([points, "rate: 0.1"], ""), ([], "")]:
        report = make_report(eager=60.0, python=40.0)
        report.subject.arguments = arguments
        look(report, "python", **SLOW)
        batch = suggestion_of(report, "Larger batch")
        assert (batch.code, bool(batch.place)) == (expected, bool(expected))
    for name in ("recompiles", "breaks"):
        for suggestion in overview(cs.load(REPORTS / f"{name}.compilescope.json")).suggestions:
            assert suggestion.requested or suggestion.variant or suggestion.view, suggestion.what
            assert (
                suggestion.requested
                or suggestion.variant
                or suggestion.place
                or not suggestion.code
            ), suggestion.what


def test_recompiles_up_to_torchs_limit_are_one_change_and_come_first() -> None:
    report = make_report(eager=60.0, python=40.0)
    line = SourceLine(file="train.py", line=13, function="forward", code="self.steps += 1")
    tensor = Advice(
        kind="tensor",
        what="A tensor's value is not guarded.",
        code="model.steps = torch.tensor(model.steps)",
        where=line,
    )
    stance = Advice(
        kind="stance", what="New cases run in eager.", code="torch.compiler.set_stance(...)"
    )
    limit = Advice(kind="limit", what="More compilations.", code="recompile_limit = 16")

    def again(compilation: str, old: str, new: str, advice: list[Advice]) -> Compilation:
        failure = Failure(
            guard=f"self.steps == {old}",
            source="self.steps",
            kind="value",
            old=old,
            new=new,
            where=line,
        )
        recompile = Recompile(reasons=[], failures=[failure], advice=advice, count=8, limit=8)
        frame = line if new else None
        recompiled = Compilation(id=compilation, frame=frame, duration_s=0.5, recompile=recompile)
        add_causes(recompiled)
        return recompiled

    cause = Break(reason="Data-dependent branching", where=line)
    python = report.variant("python")
    python.breaks = [DistinctBreak(cause=cause, wasted_us=30e6)]
    python.compilations += [
        again("1/1", "0", "1", [tensor]),
        again("1/2", "1", "2", [tensor]),
        again("1/3", "2", "", [stance, limit]),
    ]
    first = overview(report).suggestions[0]
    assert first.what == "Avoid 2 recompiles and the fallback to eager (self.steps: 0 → 1, …)"
    assert first.why == (
        "forward was compiled 8 times, torch's limit; new cases run in eager. "
        "A tensor's value is not guarded."
    )
    assert first.place == "once, before the first call"
    assert not [item for item in overview(report).suggestions if "set_stance" in item.code]


def test_not_to_compile_is_advised_where_the_results_are_right() -> None:
    report = make_report(eager=60.0, python=90.0)
    assert "Either the overhead" in suggestion_of(report, "Do not compile").why
    look(report, "python", guards=50.0, wrapper=20.0, kernels=20.0)
    assert suggestion_of(report, "Do not compile").why == (
        "The overhead around the kernels costs more than fusion saves."
    )
    look(report, "python", guards=10.0, wrapper=10.0, kernels=70.0)
    why = suggestion_of(report, "Do not compile").why
    assert why.startswith("The kernels alone take 70.0 µs, the whole call in eager 6")
    (compilation,) = report.variant("python").compilations
    compilation.kernels, compilation.graphs = [], {"dynamo": Graph(stage="dynamo", text="")}
    assert suggestion_of(report, "Do not compile").why.endswith("this call needs no kernels.")
    python = report.variant("python")
    python.requested = Variant(backend="aot_eager")
    assert "this backend generates no kernels" in suggestion_of(report, "Do not compile").why
    python.requested = Variant()
    report.variant("python").accuracy = [WRONG]
    assert overview(report).suggestions == []


def test_wrong_results_come_first_and_count_once() -> None:
    report = make_report(eager=60.0, python=90.0)
    wrong = VariantReport(name="wrong", requested=Variant(options={"a": 1}))
    wrong.accuracy = [WRONG]
    remedy = "The first kernel whose result is wrong: cpp_fused_relu_0. Report it to PyTorch."
    wrong.problems = [Problem(severity="error", what=f"output {SINGLE}", remedy=remedy)]
    report.variants.append(wrong)
    result = overview(report)
    first = result.suggestions[0]
    assert first.what == "Do not use the variant 'wrong': results differ from eager's"
    assert (first.why, first.view, first.of) == (remedy, "accuracy", "wrong")
    assert result.headline.startswith("Results of the variant 'wrong' differ from eager's.")
    (differs,) = [count for count in result.counts if count.view == "accuracy"]
    assert not differs.warning, "the variant's problem is listed"


def test_nothing_is_advised_on_a_call_that_fails_by_itself() -> None:
    what = "The subject raised ValueError."
    graph_break = DistinctBreak(cause=Break(reason="raised"), wasted_us=2e6, eager=["all of f"])
    report = make_report(eager=60.0)
    variant = VariantReport(name="python", requested=Variant(), stage="failed")
    variant.breaks = [graph_break]
    report.variants.append(variant)
    assert overview(report).suggestions
    variant.problems = [Problem(severity="error", what=what)]
    shown = overview(report)
    assert (shown.headline, shown.suggestions) == (what, [])


def test_breaks_come_before_the_advice_not_to_compile() -> None:
    report = make_report(eager=6.0, python=90.0)
    cause = Break(reason="Attempted to call a builtin", where=SourceLine("train.py", 9, "f", "g()"))
    report.variant("python").breaks = [DistinctBreak(cause=cause)]
    whats = [item.what for item in overview(report).suggestions]
    assert whats[0].startswith("Fix the graph break")
    assert whats[1].startswith("Do not compile")


def test_a_small_loss_that_had_not_settled_is_no_reason_not_to_compile() -> None:
    report = make_report(eager=60.0, python=70.0)
    assert suggestion_of(report, "Do not compile")
    slightly = make_report(eager=60.0, python=61.2)
    assert not [item for item in overview(slightly).suggestions if "Do not compile" in item.what]
    timing = report.variant("python").timing
    assert timing is not None
    timing.settled = False
    assert not [item for item in overview(report).suggestions if "Do not compile" in item.what]


def test_no_wrapper_is_recommended_where_eager_is_faster_than_both() -> None:
    result = overview(make_report(eager=20.0, python=200.0, cpp=150.0))
    assert result.wrapper is not None
    assert result.wrapper.headline == "No: eager is faster than both."
    assert [item.what for item in result.suggestions] == [
        "Do not compile this call, or compile more at once"
    ]
