"""What a build adds to a report, and that the sources before it are what was built."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.builds import warm_rebuild
from compilescope.builds.warm_rebuild import Rebuilt
from compilescope.inspection.results import Results
from compilescope.report import Report, conclude
from compilescope.session.session import Session
from compilescope.torch_api.process import caches

from ..generated_arrays import with_arrays_in_place
from ..subjects import Call, product

pytestmark = pytest.mark.slow


def inspect(call: Call, **options: Any) -> Report:
    return Session().inspect(call.fn, call.args, call.kwargs, **options)


def normalized(text: str) -> str:
    """A wrapper's text without what differs from one compilation to the next.

    torch numbers a backward's launches anew when it compiles it later than the forward.
    """
    if torch.__version__.startswith("2.11."):
        text = with_arrays_in_place(text)
    text = re.sub(r"(\[Provenance debug handles\] [\w.]+):\d+", r"\1", text)
    text = re.sub(r"# AOT ID: .*", "# AOT ID", text)
    text = re.sub(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)", "/", text)
    return re.sub(r"\b[a-z2-7]{40,}\b", "HASH", text)


@pytest.fixture(scope="module")
def training() -> tuple[Report, Report]:
    """One subject with a backward pass: its sources, then everything from a real build."""
    call = product()
    return inspect(call, run=False), inspect(call)


def test_sources_are_those_of_the_real_build(training: tuple[Report, Report]) -> None:
    early, built = training
    for name in ("python", "cpp"):
        codes = [report.compilation("0/0", name).code for report in (early, built)]
        backwards = [code.backward for code in codes]
        assert all(backwards)
        for before, after in (codes, backwards):
            for artifact in ("python", "cpp", "shell"):
                texts = [getattr(code, artifact) for code in (before, after)]
                assert (texts[0] is None) == (texts[1] is None)
                if texts[0] is not None:
                    assert normalized(texts[0]) == normalized(texts[1])


def test_a_build_is_checked_against_eager_with_its_gradients(
    training: tuple[Report, Report],
) -> None:
    _, built = training
    for name in ("python", "cpp"):
        variant = built.variant(name)
        assert (variant.stage, variant.problems) == ("built", [])
        accuracy = {error.path: error for error in variant.accuracy}
        assert set(accuracy) == {"output", "args[0].grad", "weight.grad"}
        assert all(error.ok and error.dtype == "float32" for error in accuracy.values())
        assert all(0 < error.tolerance_abs < 1e-3 for error in accuracy.values())


@pytest.mark.parametrize("is_cached", [True, False])
def test_a_backward_that_overwrites_what_retain_graph_keeps_is_a_problem(is_cached: bool) -> None:
    weight = torch.randn(8, 8, requires_grad=True)

    def inner(x: torch.Tensor) -> torch.Tensor:
        return (x @ weight).tanh().sum()

    def step(x: torch.Tensor) -> torch.Tensor:
        first = inner(x)
        torch._dynamo.graph_break()
        first.backward()
        second = inner(x)
        torch._dynamo.graph_break()
        second.backward(retain_graph=True)
        second.backward()
        return second.detach()

    with (
        torch._inductor.config.patch(fx_graph_cache=is_cached),
        torch._functorch.config.patch(enable_autograd_cache=is_cached),
    ):
        variants = ("python", "cpp") if is_cached else ("python",)
        report = cs.inspect(step, (torch.randn(4, 8),), variants=variants)
    for name in variants:
        assert report.variant(name).stage == "built"
        problems = [problem.what for problem in report.variant(name).problems]
        results = [what for what in problems if "overwrites what retain_graph keeps" in what]
        is_wrong = any(not error.ok for error in report.variant(name).accuracy)
        # Both or neither: a torch that keeps such code apart has no problem.
        assert bool(results) == is_wrong
        assert is_cached or not is_wrong
        if results:
            assert results == [problems[0]]
            assert "The backward of 2/0" in results[0]


def test_every_variant_is_timed_and_eager_too(training: tuple[Report, Report]) -> None:
    _, built = training
    assert [variant.name for variant in built.variants] == ["python", "cpp", "eager"]
    for variant in built.variants:
        timing = variant.timing
        assert timing is not None
        assert 0 < timing.interval_us[0] <= timing.median_us <= timing.interval_us[1]
        assert timing.baseline == "eager"
        assert timing.device == "cpu"
        assert timing.samples_us
        if variant.name != "eager":
            assert timing.ratio is not None
            assert timing.ratio > 0


def test_a_call_s_runs_of_its_graphs_are_counted(training: tuple[Report, Report]) -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        return x.sin() + 1

    def work(x: torch.Tensor, times: int) -> torch.Tensor:
        for _ in range(times):
            x = step(x)
            torch._dynamo.graph_break()  # in a loop: Dynamo compiles the functions that it calls
        return x

    report = cs.inspect(work, (torch.randn(8), 5), variants=["python", "cpp"])
    for variant in report.variants[:2]:
        assert [compilation.runs for compilation in variant.compilations if compilation.runs] == [5]
    launches = next(count for count in conclude(report).counts if count.view == "kernels")
    assert (
        launches.text == "1 launch of 1 kernel (1 C++) in the code; a call runs the graph 5 times"
    )
    _, built = training
    assert [compilation.runs for compilation in built.variant("cpp").compilations] == [1]
    assert built.variant("cpp").has_backward


def test_compile_time_and_its_parts(training: tuple[Report, Report]) -> None:
    _, built = training
    for name in ("python", "cpp"):
        spent = built.variant(name).compile_time
        assert spent is not None
        assert spent.cold
        assert {"dynamo", "aot_autograd", "inductor", "code_generation", "cpp_build"} <= set(
            spent.parts
        )
        assert all(seconds > 0 for seconds in spent.parts.values())
        assert sum(spent.parts.values()) <= spent.total_s * 1.02
    early, _ = training
    assert early.variant("python").compile_time is None


def test_phases_caches_and_settings_of_a_build(training: tuple[Report, Report]) -> None:
    early, built = training
    compilation = built.compilation("0/0", "cpp")
    assert compilation.phases
    assert all(phase.duration_us >= 0 for phase in compilation.phases)
    assert {event.outcome for event in compilation.cache} <= {"miss", "bypass"}
    assert compilation.cache
    assert built.variant("cpp").config["cpp_wrapper"] == "True"
    before = early.compilation("0/0", "cpp")
    assert (before.phases, before.cache) == ([], [])
    assert before.absent["phases"] == before.absent["cache"]


def test_latencies_precede_the_second_compilations(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    put_timings, rebuild = Results.put_timings, warm_rebuild.rebuild

    def timings_put(results: Results, *args: Any, **options: Any) -> None:
        events.append("timings")
        put_timings(results, *args, **options)

    def rebuilt(*args: Any, **options: Any) -> Rebuilt:
        if options["variant"].cpp_wrapper:
            raise OSError(errno.ENOSPC, "No space left on device")
        events.append("rebuild")
        return rebuild(*args, **options)

    monkeypatch.setattr(Results, "put_timings", timings_put)
    monkeypatch.setattr(warm_rebuild, "rebuild", rebuilt)
    before = set(caches.own_folder().glob("*"))
    report = inspect(product())
    python, cpp = report.variant("python"), report.variant("cpp")
    assert events == ["timings", "rebuild"]
    assert python.warm_compile_time is not None
    assert "warm_compile_time" not in python.absent
    assert cpp.stage == "built"
    assert cpp.timing is not None
    assert cpp.warm_compile_time is None
    assert "No space left" in cpp.absent["warm_compile_time"]
    assert set(caches.own_folder().glob("*")) <= before


def test_environment_and_subject(training: tuple[Report, Report]) -> None:
    _, built = training
    assert built.environment.torch == torch.__version__
    assert built.environment.compiler
    assert built.environment.threads == torch.get_num_threads()
    assert built.subject.device == "cpu"
    assert built.subject.arguments == ["x: float32[4, 8] cpu requires_grad"]
    assert built.schema_version == cs.report.SCHEMA_VERSION


def test_a_built_report_survives_json(training: tuple[Report, Report], tmp_path: Path) -> None:
    _, built = training
    assert cs.load(built.save(tmp_path / "report.json")) == built


def test_a_report_shows_itself(training: tuple[Report, Report]) -> None:
    _, built = training
    assert "step" in str(built)
    assert "<" in built._repr_html_()


def test_a_backward_s_sources_are_what_is_built() -> None:
    torch.manual_seed(0)
    first, second = (torch.randn(8, 8, requires_grad=True) for _ in range(2))

    def broken(x: torch.Tensor) -> torch.Tensor:
        hidden = (x @ first).sin()
        torch._dynamo.graph_break()
        return (hidden @ second).sin()

    # Both graphs are that of `subjects.product`, whose C++ is compiled once.
    call = Call(broken, (torch.randn(4, 8, requires_grad=True),))
    early, built = (inspect(call, variants=["python"], run=run) for run in (False, True))
    trained = [
        compilation.id
        for compilation in early.compilations
        if compilation.code.backward is not None
    ]
    assert len(trained) == 2
    for compile_id in trained:
        before, after = early.compilation(compile_id), built.compilation(compile_id)
        for stage in ("forward", "backward", "backward_post_grad"):
            assert [(node.name, node.target) for node in before.graphs[stage].nodes] == [
                (node.name, node.target) for node in after.graphs[stage].nodes
            ]
        # torch maps no kernel of a backward that it leaves until it is needed; the sources do.
        assert [
            (kernel.name, kernel.nodes, kernel.ops, kernel.fusion) for kernel in before.kernels
        ] == [(kernel.name, kernel.nodes, kernel.ops, kernel.fusion) for kernel in after.kernels]
        assert all(kernel.nodes for kernel in after.kernels)
