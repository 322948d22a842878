"""Where one call's time goes: each layer of real variants called by itself."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Sequence
from inspect import getclosurevars
from typing import Any

import pytest
import torch
from compilescope.builds.build import Built
from compilescope.measure.layers import Samples
from compilescope.progress.progress import Cancelled, Monitor, Progress
from compilescope.report import LAYER_KINDS, Layers, Timing, VariantReport
from compilescope.report.variant import Variant
from compilescope.studies.builds import build_for
from compilescope.torch_api.dynamo.compiled_graphs import KeptGraph, keeping_layers
from compilescope.torch_api.dynamo.process_state import isolated
from torch import nn

from ..compiled_entries import compiled_entries
from ..studying import study
from ..subjects import product

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def studied(
    fn: Callable[..., Any],
    args: Sequence[Any],
    variant: Variant,
    monitor: Monitor | None = None,
) -> VariantReport:
    report = VariantReport(name="v", requested=variant, stage="built")
    study("layers", fn, args, report, monitor)
    return report


def layers_of(fn: Callable[..., Any], args: Sequence[Any], variant: Variant) -> list[Layers]:
    """The layers of a variant. Whether their sum is the whole: `benchmarks/layers.py`."""
    report = studied(fn, args, variant)
    assert report.layers
    return report.layers


def kinds(layers: Layers, compilation: str) -> list[str]:
    return [layer.kind for layer in layers.layers if layer.compilation == compilation]


def check(layers: Layers) -> None:
    """What holds of all layers, however long they take."""
    assert layers.device == "cpu"
    # A backward's is the difference of two times: on a busy machine it can be anything.
    assert layers.whole_us > 0 or layers.direction == "backward"
    assert layers.whole_interval_us is not None
    assert layers.sum_us == pytest.approx(sum(layer.us for layer in layers.layers))
    assert layers.agrees == (abs(layers.sum_us - layers.whole_us) <= 0.1 * layers.whole_us)
    assert layers.agrees or layers.why
    for layer in layers.layers:
        assert layer.kind in LAYER_KINDS
        assert layer.us >= 0
        assert layer.how
        assert layer.interval_us is None or layer.interval_us[0] <= layer.us <= layer.interval_us[1]


def perceptron() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))


def test_calls_that_end_in_eager_are_not_broken_down() -> None:
    timing = Timing(median_us=1.0, interval_us=(1.0, 1.0), recompiles="self.calls")
    report = VariantReport(name="v", requested=Variant(), stage="built", timing=timing)
    study("layers", perceptron(), (torch.randn(8, 64),), report)
    assert not report.layers
    assert report.absent["layers"].startswith("Every call recompiles")


@pytest.mark.slow
def test_inference_through_the_python_wrapper() -> None:
    model = perceptron().eval().requires_grad_(False)
    (layers,) = layers_of(model, (torch.randn(8, 64),), Variant())
    check(layers)
    assert layers.direction == "inference"
    parts = ["guards", "bytecode", "aot", "inductor", "wrapper", "launches", "kernels"]
    assert kinds(layers, "0/0") == parts
    times = {layer.kind: layer.us for layer in layers.layers}
    assert times["kernels"] > 0
    # Why it takes longer than the guards' cost in their view.
    assert "includes Dynamo's entry" in layers.layers[0].how


@pytest.mark.slow
def test_gradients_that_exist_are_kept() -> None:
    model, x = perceptron(), torch.randn(8, 64)
    model(x).sum().backward()
    before = [parameter.grad for parameter in model.parameters()]
    values = [gradient.clone() for gradient in before if gradient is not None]
    _, backward = layers_of(model, (x,), Variant())
    check(backward)
    for parameter, gradient, value in zip(model.parameters(), before, values, strict=True):
        assert parameter.grad is gradient
        assert torch.equal(value, parameter.grad)


@pytest.mark.slow
def test_training_through_the_cpp_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    builds = []

    def noted(*args: Any, **kwargs: Any) -> Built:
        built = build_for(*args, **kwargs)
        sources = [str(kept_graph.graph.source_code) for kept_graph in built.layers.graphs]
        builds.append("\n".join(sources))
        return built

    monkeypatch.setattr("compilescope.studies.layers.layers.build_for", noted)
    call = product()
    tensors = [*call.args, getclosurevars(call.fn).nonlocals["weight"]]
    before = [tensor.detach().clone() for tensor in tensors]
    random = torch.get_rng_state()
    forward, backward = layers_of(call.fn, call.args, Variant(cpp_wrapper=True))
    check(forward)
    check(backward)
    assert (forward.direction, backward.direction) == ("forward", "backward")
    # The profiler can slow kernels this short down to more than the wrapper's call takes.
    inside = (["wrapper", "kernels"], ["compiled"])
    outside = ["guards", "bytecode", "aot", "inductor"]
    assert kinds(forward, "0/0") in [[*outside, *parts] for parts in inside]
    assert kinds(backward, "0/0") in [["aot", "inductor", *parts] for parts in inside]
    assert kinds(backward, "") == ["eager"]
    # In a C++ wrapper timers take as long as short kernels: what is timed has none.
    profiled, timed = builds
    assert "RecordFunction" in profiled
    assert "RecordFunction" not in timed
    assert len(tensors) == 2
    assert all(map(torch.equal, tensors, before))
    assert [tensor.grad for tensor in tensors] == [None, None]
    assert torch.equal(torch.get_rng_state(), random)
    assert compiled_entries(call.fn) == 0


def test_a_graph_break_makes_layers_for_each_compilation() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x) + 1
        torch._dynamo.graph_break()
        return y.sin()

    x = torch.randn(64)
    (layers,) = layers_of(fn, (x,), Variant())
    check(layers)
    graph = ["aot", "inductor", "wrapper", "launches", "kernels"]
    assert kinds(layers, "0/0") == ["guards", "eager", *graph]
    assert kinds(layers, "1/0") == ["guards", "bytecode", *graph]
    assert compiled_entries(fn) == 0


def test_a_backward_that_autograd_compiles_in_its_own_thread_is_kept() -> None:
    net = nn.Linear(4, 4, bias=False)
    graphs: list[KeptGraph] = []
    with isolated(), keeping_layers(graphs, []):
        loss = torch.compile(net)(torch.randn(2, 4)).sum()
        done = threading.Event()

        def autograd() -> None:
            loss.backward()
            done.set()

        # As autograd's for a GPU: Python did not make it, and it has none of this context.
        _thread.start_new_thread(autograd, ())
        assert done.wait(600)
    assert [graph.direction for graph in graphs] == ["forward", "backward"]


def test_what_has_no_layers_says_why() -> None:
    report = studied(torch.sin, (torch.randn(3),), Variant(backend="eager"))
    assert not report.layers
    assert "'eager'" in report.absent["layers"]


def test_a_study_that_is_cancelled_leaves_the_graphs_as_they_were() -> None:
    model, x = nn.Linear(64, 64, bias=False), torch.randn(8, 64)
    monitor = Monitor()

    def cancel(progress: Progress) -> None:
        if progress.step == "timing layers":
            monitor.cancel()

    monitor._report = cancel
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(Cancelled):
        studied(model, (x,), Variant(), monitor)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.is_grad_enabled()


def test_neither_a_slow_minute_nor_a_slow_moment_shows_in_a_difference() -> None:
    # The machine is three times as slow in the middle, and every third sample is spoilt.
    slow = [1.0] * 24 + [3.0] * 24 + [1.0] * 48
    whole = [5 * sample + (100 if number % 3 == 0 else 0) for number, sample in enumerate(slow)]
    inner = [3 * sample + (100 if number % 3 == 1 else 0) for number, sample in enumerate(slow)]
    samples = Samples({"whole": whole, "inner": inner})
    figure = samples.figure({"whole": 1.0, "inner": -1.0})
    assert figure.us == 2.0
    assert figure.interval[0] == 2.0
    assert samples.figure({"whole": 2.0}).us == 10.0
