"""Every launch of a variant, timed: on the CPU here, and as a GPU's profile would be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import compilescope as cs
import pytest
import torch
from compilescope.comms import report_parts
from compilescope.measure.kernel_times import Site, kernels_of_run, measure
from compilescope.report import Kernel, Launch, Report, VariantReport
from compilescope.torch_api.kernels import timers
from compilescope.torch_api.kernels.profiler_events import (
    CALL,
    GRAPH,
    Event,
    GraphRun,
    ProfiledCall,
    Span,
    read_calls,
)
from torch import nn
from torch.nn.attention.flex_attention import flex_attention

from ..studying import unbuilt

pytestmark = pytest.mark.slow


def mlp(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))


@pytest.fixture(scope="module")
def profiled() -> Iterator[list[ProfiledCall]]:
    """Fills with the calls that the profiler saw."""
    calls: list[ProfiledCall] = []

    def read(events: Sequence[Event], sources: Sequence[str]) -> list[ProfiledCall]:
        profiled_calls = read_calls(events, sources)
        calls.extend(profiled_calls)
        return profiled_calls

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timers, "read_calls", read)
        yield calls


@pytest.fixture(scope="module")
def inference(profiled: list[ProfiledCall]) -> Report:
    model = mlp(256).eval().requires_grad_(False)
    report = unbuilt(model, (torch.randn(512, 256),))
    return cs.study(report, "kernels")


def own(variant: VariantReport) -> list[tuple[Kernel, Launch]]:
    artifact = "cpp" if variant.requested.cpp_wrapper else "python"
    return [
        (kernel, launch)
        for compilation in variant.compilations
        for kernel in compilation.kernels
        for launch in kernel.launches
        if launch.artifact == artifact
    ]


@pytest.mark.parametrize("name", ["python", "cpp"])
def test_every_launch_has_a_time(inference: Report, name: str) -> None:
    variant = inference.variant(name)
    assert variant.studied == ["kernels"], variant.problems
    launches = own(variant)
    assert {kernel.language for kernel, _ in launches} == {"cpp", "extern"}
    for kernel, launch in launches:
        time = launch.time
        assert time is not None, (kernel.name, kernel.absent)
        assert time.us > 0
        assert time.interval_us is not None
        assert time.interval_us[0] <= time.us <= time.interval_us[1]
        assert time.calls >= 10
        assert time.device == "cpu"
        assert "cpp.enable_kernel_profile" in time.how
        assert launch.estimated_bytes is not None
        assert time.bytes_per_s == pytest.approx(launch.estimated_bytes / time.us * 1e6)
        assert time.bandwidth_share is not None
        assert "time" not in kernel.absent
    products = [launch for kernel, launch in launches if kernel.language == "extern"]
    assert len(products) == 2
    assert all(launch.time is not None and launch.time.compute_share for launch in products)


def test_launches_lie_within_their_calls(inference: Report, profiled: list[ProfiledCall]) -> None:
    assert all(call.runs for call in profiled)
    for call in profiled:
        inside(call, call.runs)
        for run in call.runs:
            inside(run, run.spans)
    longest_us = max(call.ns for call in profiled) / 1000
    for name in ("python", "cpp"):
        for _, launch in own(inference.variant(name)):
            assert launch.time is not None
            assert launch.time.us <= longest_us


def inside(outer: ProfiledCall | GraphRun, parts: Sequence[GraphRun | Span]) -> None:
    """One after the other, and none of them outside."""
    moment = outer.start_ns
    for part in parts:
        assert moment <= part.start_ns
        moment = part.end_ns
    assert moment <= outer.end_ns


def test_the_report_and_the_panel_have_them(inference: Report) -> None:
    (peaks,) = inference.peaks
    assert peaks.device == "cpu"
    assert peaks.how == "measured"
    sent = report_parts.compilation(inference, "python", "0/0", ["kernels"])
    times = [launch.time for kernel in sent.kernels for launch in kernel.launches]
    assert len(times) == 6  # those of the other wrapper are beside them
    assert None not in times
    code = inference.variant("python").compilations[0].code
    keys = {region.key for region in code.regions["python"] if region.kind == "launch"}
    assert keys == {launch.key for _, launch in own(inference.variant("python"))}


@pytest.mark.slow
def test_a_training_step_is_timed_and_its_state_kept() -> None:
    net = nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8))

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = net(x).square().mean()
        loss.backward()
        return loss.detach()

    before = {name: value.clone() for name, value in net.state_dict().items()}
    report = unbuilt(step, (torch.randn(64, 16),), ("cpp",))
    random = torch.get_rng_state()
    cs.study(report, "kernels")
    launches = own(report.variant("cpp"))
    assert {kernel.direction for kernel, _ in launches} >= {"forward", "backward"}
    for kernel, launch in launches:
        assert launch.time is not None, (kernel.name, kernel.absent)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all(parameter.grad is None for parameter in net.parameters())
    assert torch.equal(torch.get_rng_state(), random)


def test_a_branch_that_is_not_taken_has_a_reason() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin() * 3, lambda x: x.cos() + 1, (x,))

    report = unbuilt(fn, (torch.ones(8, 8),), ("python",))
    cs.study(report, "kernels")
    kernels = report.variant("python").compilations[0].kernels
    (missed,) = [kernel for kernel in kernels if "cos" in kernel.name]
    assert missed.launches[0].time is None
    assert "another branch" in missed.absent["time"]
    assert all(kernel.launches[0].time for kernel in kernels if kernel is not missed)


@pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() == "DEFAULT", reason="needs vector instructions"
)
def test_a_template_without_a_range_is_no_branch() -> None:
    report = unbuilt(flex_attention, tuple(torch.randn(3, 1, 2, 32, 32)), ("python",))
    cs.study(report, "kernels")
    ((kernel, launch),) = [
        (kernel, launch)
        for kernel, launch in own(report.variant("python"))
        if "flex_attention" in kernel.name
    ]
    assert launch.time is None
    assert "template" in kernel.absent["time"]
    assert "branch" not in kernel.absent["time"]


def test_other_calls_come_right_before_each_profiled_one() -> None:
    calls = 0

    @torch.library.custom_op("compilescope_test::counted", mutates_args=())
    def counted(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return x + 1

    @counted.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    report = unbuilt(lambda x: counted(x), (torch.ones(8),), ("python",))
    calls = 0
    cs.study(report, "kernels")
    ((_, launch),) = own(report.variant("python"))
    assert launch.time is not None
    assert calls >= 4 * launch.time.calls


def test_no_second_profiler() -> None:
    report = unbuilt(torch.sin, (torch.ones(64),), ("python",))
    with torch.profiler.profile():
        cs.study(report, "kernels")
    assert "profiler is already running" in report.variant("python").absent["kernel_times"]


SITES = [Site("triton_a", "triton"), Site("extern_kernels.mm", "extern")]
SITES += [Site("extern_kernels.bias_addmm", "extern"), Site("triton_b", "triton")]


def host(name: str, start: int, ns: int, link: int = 0) -> Event:
    return Event(name, start, ns, 1, "host", link)


def launched(name: str, start: int, device: int, ns: int, link: int) -> list[Event]:
    """A call of the driver, and the kernel that it starts."""
    return [
        Event("cuLaunchKernel", start, 2, 1, "launch", link),
        Event(name, device, ns, 7, "device", link),
    ]


def only_run(events: Sequence[Event]) -> GraphRun:
    around = [host(CALL, 0, 1000), host(f"{GRAPH}0", 10, 900)]
    (call,) = read_calls([*around, *events], ["code"])
    (run,) = call.runs
    assert run.source == "code"
    return run


def python_wrapper() -> GraphRun:
    return only_run(
        [
            host("## Call CompiledFxGraph f00 ##", 12, 880),
            host("triton_a", 20, 10),
            *launched("triton_a", 22, 100, 50, 1),
            host("aten::empty_strided", 35, 2),
            host("aten::mm", 40, 20),
            host("aten::inner", 42, 10),
            *launched("gemm", 44, 160, 70, 2),
            *launched("split_k_reduce", 50, 240, 20, 3),
            host("aten::addmm", 70, 20),
            *launched("gemm", 72, 270, 80, 4),
            host("triton_b", 95, 10),
            *launched("triton_b", 96, 360, 30, 5),
        ]
    )


def test_a_launch_on_a_gpu_takes_what_its_kernels_take() -> None:
    times, reasons = measure(SITES, [[python_wrapper()]], empty_ns=5)
    assert {place: timing.samples_us for place, timing in times.items()} == {
        0: [0.05],
        1: [0.09],
        2: [0.08],
        3: [0.03],
    }
    assert times[1].kernels == 2
    assert all(time.on_device for time in times.values())
    assert not reasons


def test_a_cpp_wrapper_launches_kernels_without_ranges() -> None:
    run = only_run(
        [
            *launched("triton_a", 22, 100, 50, 1),
            host("aten::mm", 40, 20),
            *launched("gemm", 44, 160, 70, 2),
            host("aten::addmm", 70, 20),
            *launched("gemm", 72, 270, 80, 3),
            *launched("triton_b", 96, 360, 30, 4),
        ]
    )
    times, reasons = measure(SITES, [[run], [run]])
    assert [times[place].samples_us for place in range(4)] == [
        [0.05] * 2,
        [0.07] * 2,
        [0.08] * 2,
        [0.03] * 2,
    ]
    assert not reasons


def replay() -> GraphRun:
    names = ["triton_a", "gemm", "split_k_reduce", "gemm", "triton_b"]
    return only_run(
        [
            host("aten::copy_", 15, 4),
            *launched("copy of an input", 16, 90, 5, 1),
            Event("cudaGraphLaunch", 30, 5, 1, "launch", 2),
            *(
                Event(name, 100 + 50 * turn, 10 + turn, 7, "device", 2)
                for turn, name in enumerate(names)
            ),
        ]
    )


def test_library_calls_in_a_cuda_graph_are_known_by_what_was_seen_without_one() -> None:
    times, reasons = measure(SITES, [[replay()]], pattern=kernels_of_run(SITES, python_wrapper()))
    assert [times[place].samples_us for place in range(4)] == [[0.01], [0.023], [0.013], [0.014]]
    assert all(time.replayed for time in times.values())
    assert not reasons


def test_without_that_they_are_not_guessed() -> None:
    times, reasons = measure(SITES, [[replay()]])
    assert sorted(times) == [0, 3]
    assert "cannot be distinguished" in reasons[1]
    assert reasons[1] == reasons[2]
    # Of a single one between two kernels there is no doubt.
    one_call = [SITES[0], SITES[1], SITES[3]]
    times, reasons = measure(one_call, [[replay()]])
    assert times[1].samples_us == [0.036]
    assert not reasons


def test_the_time_of_a_launch_is_not_that_of_its_kernel() -> None:
    run = only_run([host("triton_a", 20, 10), host("aten::mm", 40, 20), host("aten::addmm", 70, 9)])
    times, reasons = measure(SITES, [[run]], on_device=True)
    assert not times
    assert sorted(reasons) == [0, 1, 2, 3]


def test_a_graph_that_runs_several_times_a_call() -> None:
    run = python_wrapper()
    times, _ = measure(SITES, [[run, run, run], [run]])
    assert times[0].runs == [3, 1]
    assert times[0].samples_us == [0.05, 0.05]


@pytest.mark.usefixtures("precision")
def test_a_precision_that_only_the_newer_interface_can_express() -> None:
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    report = cs.inspect(torch.sin, (torch.randn(64),), variants="python")
    cs.study(report, "kernels")
    variant = report.variant("python")
    assert variant.problems == []
    assert [launch.time is not None for _, launch in own(variant)] == [True]
