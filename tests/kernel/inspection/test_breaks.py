"""Graph breaks: each found once, none invented, with what is before and after it."""

from __future__ import annotations

import json
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

import compilescope
import numpy
import pytest
import torch
from compilescope.analysis.problems.breaks import read_breaks
from compilescope.analysis.problems.distinct_breaks import complete_breaks, distinct_breaks
from compilescope.capture.records import Record
from compilescope.report import (
    Break,
    Compilation,
    DistinctBreak,
    Recompile,
    Variant,
    VariantReport,
    conclude,
)
from compilescope.report.problem import Problem, SourceLine
from compilescope.watching.running_code import watching
from torch import Tensor

HERE = Path(__file__).name


class Noted:
    def __enter__(self) -> None:
        sys.getsizeof(self)

    def __exit__(self, *_: object) -> None:
        pass


def note(text: str) -> None:
    print(text)  # break 1: a builtin


def six(x: Tensor) -> Tensor:
    y = x.sin() + 1
    note("sine")
    if y.sum() > 0:  # break 2: a branch on data
        y = y * 2
    torch._dynamo.graph_break()  # break 3: asked for
    y = y.cos()
    scale = y.max().item()  # break 4: a number of the data
    y = y / (abs(scale) + 1)
    y = torch.from_numpy(numpy.unique(y.numpy()))  # break 5: a size of the data
    with Noted():  # break 6: in a context manager, so the rest is left to eager
        y = y.exp()
    return y + 1


EXPECTED = {
    "print(text)": (['note("sine")'], 1, 1),
    "if y.sum() > 0:": (["if y.sum() > 0:"], 1, 1),
    "torch._dynamo.graph_break()": (["torch._dynamo.graph_break()"], 1, 1),
    "scale = y.max().item()": (["scale = y.max().item()"], 1, 1),
    "y = torch.from_numpy(numpy.unique(y.numpy()))": (
        ["y = torch.from_numpy(numpy.unique(y.numpy()))"],
        1,
        0,  # what is behind it breaks again, and is left to eager
    ),
}


def looped(x: Tensor) -> Tensor:
    for _ in range(3):
        x = part(x)
        torch._dynamo.graph_break()
    return x


def in_context(x: Tensor) -> Tensor:
    y = x.sin() + 1
    with Noted():
        y = y.exp()
    return part(y.cos())


def repeated(x: Tensor) -> Tensor:
    for _ in range(2):
        x = inner(x)
    return x


def part(x: Tensor) -> Tensor:
    return x.sin() + 1


def outer(x: Tensor) -> Tensor:
    return inner(x) + 1


def inner(x: Tensor) -> Tensor:
    x = x.sin()
    torch._dynamo.graph_break()
    return x.cos()


def retried(x: Tensor) -> Tensor:
    def pieces():  # type: ignore[no-untyped-def]
        for index in range(2):
            torch._dynamo.graph_break()
            yield x + index

    return sum(pieces()) * 2


def clocked(x: Tensor) -> Tensor:
    y = x.sin()
    torch._dynamo.graph_break()
    started = time.perf_counter()
    y = y + 1
    print(started)
    return y.cos()


def whole(x: Tensor) -> Tensor:
    return x.sin() + 1


def watched(fn: Callable[..., object]) -> list[DistinctBreak]:
    torch._dynamo.reset()
    with watching() as seen:
        torch.compile(fn, backend="eager")(torch.ones(4, 4))
    return distinct_breaks(seen.compilations("watched"))


def inspected(fn: Callable[..., object]) -> VariantReport:
    report = compilescope.inspect(fn, (torch.ones(4, 4),), variants="python", run=False)
    return report.variants[0]


@pytest.fixture(scope="module")
def results() -> list[DistinctBreak]:
    return inspected(six).breaks


def by_line(breaks: list[DistinctBreak]) -> dict[str, DistinctBreak]:
    lines = {}
    for graph_break in breaks:
        assert graph_break.cause.where is not None
        code = graph_break.cause.where.code.partition("#")[0].strip()
        assert code not in lines, "the same line twice"
        lines[code] = graph_break
    return lines


def test_each_break_is_found_once_with_what_surrounds_it(results: list[DistinctBreak]) -> None:
    lines = by_line(results)
    assert len(results) == 6
    for index, (code, (eager, before, after)) in enumerate(EXPECTED.items()):
        line = lines[code]
        assert line.count == 1
        assert [text.partition("  #")[0] for text in line.eager] == eager
        assert len(line.before) == before
        assert len(line.after) == after
        assert line.after[:1] in ([], [line.cause.resumed])
        assert line.cause.resumed
        assert line.before[0] == f"{index}/0"
        assert line.cause.reason
        assert line.cause.link.startswith("https://")
    last = lines["sys.getsizeof(self)"]
    assert last.before == last.after == []
    (left,) = last.eager
    assert left.startswith("six from line ")


def test_the_same_breaks_are_seen_by_watching(results: list[DistinctBreak]) -> None:
    assert set(by_line(watched(six))) == set(by_line(results))


def test_the_most_wasteful_comes_first_and_what_to_leave_alone_last() -> None:
    where = SourceLine("/lib/site-packages/torch/optim/optimizer.py", 79, "_use_grad", "")
    step = Break(reason="Call to `torch._dynamo.graph_break()`", where=where)
    causes = [step, *(Break(reason=reason) for reason in ("branch", "short", "long", "in a loop"))]
    intended, branch, short, long, loop = (
        DistinctBreak(cause=cause, after_us=0.0) for cause in causes
    )
    for graph_break, wasted_us in ((intended, 99.0), (short, 1.0), (long, 9.0), (loop, 3.0)):
        graph_break.wasted_us = wasted_us
    variant = VariantReport(
        name="python",
        requested=Variant(),
        compilations=[Compilation(id="0/0", breaks=causes)],
        breaks=[branch, intended, short, loop, long],
    )
    complete_breaks(variant)
    assert variant.breaks == [long, loop, short, branch, intended]
    assert [graph_break.intended for graph_break in variant.breaks] == [False] * 4 + [True]


def test_the_step_of_an_optimizer_is_a_graph_after_the_break_at_its_call() -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.AdamW(model.parameters())

    def train(x: Tensor) -> Tensor:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    torch._dynamo.reset()
    with watching() as seen:
        torch.compile(train, backend="eager")(torch.ones(3, 3))
    compilations = seen.compilations("watched")
    (step,) = (each.id for each in compilations if each.frame and each.frame.function == "step")
    *_, graph_break = distinct_breaks(compilations)
    assert graph_break.intended
    assert graph_break.after == [step]
    assert graph_break.eager == ["_use_grad"], "not the call of the step, which is compiled"


def test_at_a_step_that_a_scheduler_wraps_the_wrapper_runs_in_eager() -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)

    def train(x: Tensor) -> Tensor:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss

    report = compilescope.inspect(train, (torch.ones(3, 3),), variants="python", run=False)
    conclude(report)
    eager = [each.eager for each in report.variants[0].breaks]
    assert ["the wrapper of Adam.step"] in eager
    assert ["train"] not in eager
    titles = [item.what for item in report.overview.suggestions]
    assert any(title.endswith(": `optimizer.step()`") for title in titles), titles


def test_the_cost_is_that_of_lost_attempts_alone() -> None:
    lines = by_line(watched(six))
    branch = lines.pop("if y.sum() > 0:")
    assert branch.wasted_us is None, "what was traced before a branch is kept"
    assert branch.after_us
    assert all(graph_break.wasted_us for graph_break in lines.values())


def branching(x: Tensor, beta: float) -> Tensor:
    y = torch.nn.functional.softplus(x, beta=beta)
    if y.mean() > 100:
        y = y + 1
    return y


def test_a_restart_for_another_reason_is_no_cost_of_a_branch() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(branching, backend="aot_eager", dynamic=True)
    with watching() as seen:
        compiled(torch.ones(4, 4), 1.5)
    compilations = seen.compilations("watched")
    assert compilations[0].attempt == 1, "beta becomes a constant in a second attempt"
    (branch,) = distinct_breaks(compilations)
    assert branch.wasted_us is None


def test_the_time_of_an_attempt_counts_once_for_two_breaks() -> None:
    def record(name: str, time_s: float, attempt: int, reason: str = "") -> Record:
        payload = f"Graph Break Reason: {reason}\n" if reason else None
        metadata = {"artifact": {"name": name}}
        return Record(
            event="artifact", metadata=metadata, payload=payload, attempt=attempt, time_s=time_s
        )

    breaks = read_breaks(
        [
            record("dynamo_start", 1.0, 0),
            record("dynamo_graph_break_reason", 3.0, 0, "in the called function"),
            record("dynamo_graph_break_reason", 3.5, 0, "at its call"),
            record("dynamo_start", 4.0, 1),
        ],
        None,
    )
    assert [graph_break.duration_us for graph_break in breaks] == [2e6, 5e5]


def broken_twice() -> VariantReport:
    """A function that is compiled twice, with a break and what resumes it each time."""
    line = SourceLine(file="a.py", line=3, function="f")
    resumed = SourceLine(file="a.py", line=3, function="torch_dynamo_resume_in_f_at_3")
    frames = [("0/0", line), ("1/0", resumed), ("0/1", line), ("1/1", resumed)]
    return VariantReport(
        name="python",
        requested=Variant(),
        compilations=[
            Compilation(
                id=compile_id,
                frame=frame,
                duration_s=2.0,
                breaks=[Break(reason="print", where=line, duration_us=5e5)]
                if frame is line
                else [],
                recompile=Recompile(reasons=["size"]) if compile_id.endswith("1") else None,
            )
            for compile_id, frame in frames
        ],
    )


def test_recompiles_are_no_cost_of_a_break() -> None:
    variant = broken_twice()
    complete_breaks(variant)
    (graph_break,) = variant.breaks
    assert (graph_break.count, graph_break.wasted_us, graph_break.after_us) == (2, 5e5, 2e6)


def test_the_times_of_an_earlier_file_are_computed() -> None:
    variant = broken_twice()
    # It counted recompiles, and the code after the break, as the break's cost.
    variant.breaks = [DistinctBreak(cause=variant.compilations[0].breaks[0], wasted_us=1e6)]
    complete_breaks(variant)
    (graph_break,) = variant.breaks
    assert (graph_break.wasted_us, graph_break.after_us) == (5e5, 2e6)


def test_a_break_in_a_loop_leaves_the_frame_to_eager() -> None:
    (result,) = watched(looped)
    assert result.eager == ["all of looped"]
    assert result.before == result.after == []
    assert result.cause.reason.endswith("graph break in loop")
    assert result.cause.duration_us


class Looped(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x)

    def steps(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = x.sin()
            torch._dynamo.graph_break()
        return x


def test_a_method_left_to_eager_is_named_with_its_class() -> None:
    (result,) = watched(Looped().steps)
    assert result.eager == ["all of Looped.steps"]


def test_the_rest_of_a_function_that_torch_cannot_resume_is_left_to_eager() -> None:
    report = compilescope.inspect(in_context, (torch.ones(3),), variants="python", run=False)
    conclude(report)
    (variant,) = report.variants
    (result,) = variant.breaks
    assert result.eager == ["the rest of in_context"]
    assert not result.cause.reason.startswith("Encountered graph break")
    assert [item.frame.function for item in variant.compilations if item.frame] == [
        "in_context",
        "part",
    ]
    (why,) = [item.why for item in report.overview.suggestions if item.view == "breaks"]
    assert why.startswith("Because of the break, the rest of in_context runs in eager; only")
    assert not [item for item in report.overview.suggestions if "`the rest" in item.what]


def test_a_frame_left_to_eager_is_named_beside_the_function_that_breaks() -> None:
    (result,) = watched(repeated)
    assert result.eager == ["all of repeated", "torch._dynamo.graph_break()"]


def test_the_overview_says_that_a_break_in_a_loop_leaves_a_function_to_eager() -> None:
    report = compilescope.inspect(
        repeated, (torch.ones(3),), variants={"captured": compilescope.Variant(backend="eager")}
    )
    whys = [suggestion.why for suggestion in conclude(report).suggestions]
    skipped = "As the break is in a loop, all of repeated runs in eager; "
    assert any(why.startswith(skipped) for why in whys), whys


def test_a_break_met_in_two_frames_is_one() -> None:
    (result,) = watched(outer)
    assert result.count == 2
    assert result.cause.where is not None
    assert result.cause.where.function == "inner"
    assert result.eager == ["torch._dynamo.graph_break()"], (
        "the call of inner is compiled by itself"
    )
    assert len(result.after) == 2


def test_only_graphs_are_before_and_after() -> None:
    torch._dynamo.reset()
    with watching() as seen:
        torch.compile(clocked, backend="eager")(torch.ones(4, 4))
    compilations = seen.compilations("watched")
    breaks = distinct_breaks(compilations)
    with_graph = {compilation.id for compilation in compilations if "dynamo" in compilation.graphs}
    without = {graph_break.cause.resumed for graph_break in breaks} - with_graph - {""}
    assert without, "behind the first break, nothing is captured up to the second"
    for graph_break in breaks:
        assert with_graph.issuperset(graph_break.before + graph_break.after)
        assert graph_break.after_us is not None


def test_an_attempt_that_breaks_again_is_the_same_break() -> None:
    (result,) = watched(retried)
    assert result.count == 1
    assert result.eager == ["all of retried"]


def test_code_without_a_break_has_none() -> None:
    assert watched(whole) == []
    assert inspected(whole).breaks == []


def test_a_break_inside_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "library.py"
    file.parent.mkdir()
    text = "import torch\ndef helper(x):\n    torch._dynamo.graph_break()\n    return x + 1\n"
    file.write_text(text)
    library = types.ModuleType("library")
    exec(compile(text, str(file), "exec"), library.__dict__)
    monkeypatch.setitem(sys.modules, "library", library)

    def caller(x: Tensor) -> Tensor:
        return library.helper(x.sin())

    breaks = watched(caller)
    assert [graph_break.cause.where and graph_break.cause.where.file for graph_break in breaks] == [
        str(file)
    ]
    assert HERE in {Path(line.file).name for line in breaks[0].cause.stack}


def test_a_break_inside_pythons_library_is_named_by_the_users_line() -> None:
    def caller(x: Tensor) -> Tensor:
        return x * json.loads('{"scale": 2}')["scale"]

    report = compilescope.inspect(caller, (torch.ones(3),), variants="python", run=False)
    (item,) = [item for item in conclude(report).suggestions if item.view == "breaks"]
    assert "json.loads(" in item.what
    assert "decoder.py" not in item.what
    assert item.why.startswith("The break is in Python's standard library: move this call out")


def test_an_operator_without_a_fake_implementation_gets_one() -> None:
    with torch.library._scoped_library("unfaked", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")

        def doubled(x: Tensor) -> Tensor:
            return torch.ops.unfaked.twice(x) + 1

        (result,) = inspected(doubled).breaks
        advice = result.advice[0]
        assert '@torch.library.register_fake("unfaked::twice")' in advice
        assert "https://" not in advice
        torch.library.register_fake("unfaked::twice", torch.empty_like, lib=library)
        assert inspected(doubled).breaks == []


def test_a_call_that_is_not_compiled_says_what_applies() -> None:
    model = torch.nn.Linear(3, 3)
    model(torch.ones(3)).sum().backward()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step() -> None:
        optimizer.step()

    def chunks(x: torch.Tensor) -> None:
        for chunk in x.chunk(2):
            model(chunk).sum().backward()

    def problem_of(fn: Callable[..., None], *args: torch.Tensor) -> Problem:
        report = compilescope.inspect(fn, args, variants="python", run=False)
        [problem] = report.variant("python").problems
        assert problem.what == "torch.compile compiled nothing."
        return problem

    # The break that torch makes at every step is not what keeps it from compiling.
    fused = problem_of(step)
    assert "torch.compiler.disable" in fused.detail
    assert "move this call out" in fused.remedy
    chunked = problem_of(chunks, torch.ones(4, 3))
    assert chunked.remedy.startswith("Call backward() and the optimizer's step() outside")


def test_backward_with_fullgraph_gets_no_setting_that_loses_gradients() -> None:
    def step(x: torch.Tensor) -> None:
        x.sin().sum().backward()

    whole = compilescope.Variant(fullgraph=True)
    x = torch.ones(3, requires_grad=True)
    report = compilescope.inspect(step, (x,), variants={"whole": whole}, run=False)
    [problem] = report.variant("whole").problems
    assert problem.remedy.startswith("Call backward() and the optimizer's step() outside")
    assert "Set torch._dynamo" not in problem.remedy
