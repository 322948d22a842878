"""CUDA graphs as the third tier: who serves, and what is said. What records is a stand-in here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.comms import messages
from compilescope.comms import tiers as tiers_of_panel
from compilescope.report.tiers import GraphTiers, Tiers
from compilescope.tiers import backend, recording, tier_warning, tiered_graph
from compilescope.tiers.alternating_calls import CALLS
from compilescope.tiers.backend import ALL_TIERS
from compilescope.tiers.builder import builder
from compilescope.tiers.tier_warning import TierWarning
from compilescope.torch_api.inductor import graph_recording
from compilescope.torch_api.inductor.both_wrappers import loading
from compilescope.torch_api.inductor.graph_recording import Call, Inner, Loaded, Recordable
from compilescope.torch_api.process import caches

from .faults.faulty_tiers import X, subject, trained

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]

TURNS = 2 * (CALLS + 1)


class Device:
    """Stands in for torch's recordings: the first call warms up, the second records."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.broken: Callable[[list[Any]], Any] | None = None
        """What a call does instead, if it is to go wrong."""
        self.reason = ""

    def load(self, *args: Any, records: str = "", **options: Any) -> Loaded:
        wrapper = loading.load(*args, **options).wrapper
        if not records:
            return Loaded(wrapper)
        if self.reason:
            return Loaded(wrapper, reason=self.reason)
        return Loaded(wrapper, Recordable(wrapper, self._recorded(wrapper), 0))

    def _recorded(self, wrapper: Inner) -> Inner:
        calls = 0

        def call(inputs: list[Any]) -> Any:
            nonlocal calls
            calls += 1
            self.calls.append("warm-up" if calls == 1 else "recording" if calls == 2 else "replay")
            return (self.broken or wrapper)(inputs)

        return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one test built is there for the next."""
    return tmp_path_factory.mktemp("inductor")


@pytest.fixture
def device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    stand_in = Device()
    monkeypatch.setattr(tier_warning, "_warned", {})
    monkeypatch.setattr(tiered_graph, "load", stand_in.load)
    monkeypatch.setattr(graph_recording, "is_on_gpu", lambda compiled: True)
    monkeypatch.setattr(recording, "latest_call", lambda recordable: stand_in.calls[-1])
    with caches.only(folder):
        yield stand_in
        builder().wait()


def compiled_until_cpp(function: Any, call: Callable[[Any], Any]) -> Any:
    """Compiled in three tiers and called until the C++ wrapper serves alone."""
    compiled = cs.tiered(function, tiers=ALL_TIERS)
    call(compiled)
    builder().wait()
    if cs.tiers(compiled)[0].tiers[1].state == "checks":
        for _ in range(1 + TURNS):
            assert cs.tiers(compiled)[0].tiers[2].state == "waits"
            call(compiled)
    return compiled


def states(tiers: Tiers) -> list[tuple[str, str]]:
    return [(graph.serving, graph.tiers[2].state) for graph in tiers]


def only(compiled: Any) -> GraphTiers:
    (graph,) = cs.tiers(compiled)
    return graph


def test_a_graph_is_recorded_once_the_wrapper_serves(device: Device) -> None:
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    assert states(cs.tiers(compiled)) == [("cpp", "records")]
    for number in range(3):
        assert device.calls == ["warm-up", "recording"][:number]
        assert torch.equal(compiled(X), subject(X))
    assert states(cs.tiers(compiled)) == [("cuda_graphs", "serves")]
    assert only(compiled).tiers[1].state == "replaced"
    # Both take turns until what the swap gained is known.
    for _ in range(TURNS):
        assert only(compiled).tiers[2].gain is None
        assert torch.equal(compiled(X), subject(X))
    graph = only(compiled)
    tier = graph.tiers[2]
    assert tier.gain is not None
    assert (tier.gain.calls, tier.gain.is_host_time) == (CALLS, True)
    assert tier.swapped_s is not None
    header, row = str(graph).splitlines()
    assert header.endswith("CUDA graphs")
    assert "recorded in" in row
    assert f"{tier.gain}" in row
    count = len(device.calls)
    compiled(X)
    assert len(device.calls) == count + 1

    # Other threads have no recordings.
    results: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: results.append(compiled(X)))
    thread.start()
    thread.join()
    assert torch.equal(results[0], subject(X))
    assert len(device.calls) == count + 1

    # The next process records at once, and knows the gain.
    torch._dynamo.reset()
    second = compiled_until_cpp(subject, lambda compiled: compiled(X))
    assert len(device.calls) == count + 2
    for _ in range(2):
        second(X)
    assert states(cs.tiers(second)) == [("cuda_graphs", "serves")]
    assert only(second).tiers[1].cached
    assert only(second).tiers[2].gain == tier.gain


def test_pinning_to_the_cpp_wrapper_does_without(device: Device) -> None:
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    pinned = cs.pin_tier(compiled, "cpp")[0]
    assert (pinned.serving, pinned.pinned, pinned.pinned_to) == ("cpp", True, "cpp")
    assert pinned.tiers[2].state == "waits"
    assert "pinned" in str(pinned)
    count = len(device.calls)
    compiled(X)
    assert len(device.calls) == count
    cs.pin_tier(compiled, None)
    for _ in range(3):
        compiled(X)
    assert states(cs.tiers(compiled)) == [("cuda_graphs", "serves")]
    number = only(compiled).number
    for tier, state in (("cpp", "replaced"), ("python", "serves")):
        request = messages.PinTier(number=number, pinned=True, tier=tier)  # type: ignore[arg-type]
        (graph,) = tiers_of_panel.pin(None, request).graphs
        assert (graph.serving, graph.tiers[2].state) == (tier, "checked")
        assert graph.tiers[0].state == state
        assert torch.equal(compiled(X), subject(X))
    unpinned = tiers_of_panel.pin(None, messages.PinTier(number=number, pinned=False)).graphs
    assert states(Tiers(graphs=unpinned)) == [("cuda_graphs", "serves")]


def raising(inputs: list[Any]) -> Any:
    raise RuntimeError("no memory for the pool")


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (raising, "no memory for the pool"),
        (lambda inputs: [inputs.pop().exp() + 1.5], "off by 0.5 .* from the C\\+\\+ wrapper's"),
    ],
)
def test_a_failure_leaves_the_wrapper(device: Device, broken: Any, why: str) -> None:
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    device.broken = broken
    with pytest.warns(TierWarning, match=f"CUDA graphs of graph 0/0 inference failed.*{why}"):
        assert torch.equal(compiled(X), subject(X))
    assert states(cs.tiers(compiled)) == [("cpp", "failed")]
    count = len(device.calls)
    assert torch.equal(compiled(X), subject(X))
    assert len(device.calls) == count


def test_a_failed_replay_is_the_callers_and_the_last(device: Device) -> None:
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    for _ in range(3 + TURNS):
        compiled(X)
    device.broken = raising
    with pytest.warns(TierWarning, match="pool"), pytest.raises(RuntimeError, match="pool"):
        compiled(X)
    assert states(cs.tiers(compiled)) == [("cpp", "failed")]
    assert torch.equal(compiled(X), subject(X))


def test_what_torch_would_not_record_says_why(device: Device) -> None:
    device.reason = (
        "skipping cudagraphs due to cpu device (arg0_1). Found from : \n"
        '   File "/home/u/model.py", line 7, in forward\n    return x * y\n'
    )
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    graph = only(compiled)
    assert (graph.serving, graph.tiers[2].state) == ("cpp", "unwanted")
    assert graph.tiers[2].why == (
        "torch does not record it: cpu device (arg0_1) (model.py:7). A CUDA graph records only GPU "
        "work, and some of this runs on the CPU."
    )
    assert "not recorded" in str(graph)
    assert graph.tiers[2].why in str(graph)


def test_inductor_looks_whether_it_can_be_recorded(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiered_graph, "load", loading.load)
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    graph = only(compiled)
    assert (graph.serving, graph.tiers[2].state) == ("cpp", "unwanted")
    assert graph.tiers[2].why.startswith("torch does not record it: cpu device (arg0_1)")


def test_what_is_never_replayed_is_given_up(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "latest_call", lambda recordable: "recording")
    compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    while states(cs.tiers(compiled)) == [("cpp", "records")]:
        assert torch.equal(compiled(X), subject(X))
    assert states(cs.tiers(compiled)) == [("cpp", "unwanted")]
    assert f"None of {recording.LIMIT} calls was a replay" in only(compiled).tiers[2].why


def step(model: Any, compiled: Any) -> list[torch.Tensor]:
    model.zero_grad()
    compiled(torch.ones(4, 8)).square().sum().backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def test_a_backward_is_recorded_with_its_forward(device: Device) -> None:
    model = trained()
    compiled = compiled_until_cpp(model, lambda compiled: step(model, compiled))
    expected = step(model, model)
    assert states(cs.tiers(compiled)) == [("cpp", "records")] * 2
    # A backward whose forward was not recorded is not either.
    device.calls.clear()
    for _ in range(3):
        assert len(set(states(cs.tiers(compiled)))) == 1
        torch.testing.assert_close(step(model, compiled), expected)
    assert device.calls == ["warm-up"] * 2 + ["recording"] * 2 + ["replay"] * 2
    assert states(cs.tiers(compiled)) == [("cuda_graphs", "serves")] * 2
    for _ in range(TURNS):
        before = len(device.calls)
        torch.testing.assert_close(step(model, compiled), expected)
        # Both or neither.
        assert len(device.calls) - before in (0, 2)
    assert all(graph.tiers[2].gain is not None for graph in cs.tiers(compiled))
    # One that is pinned keeps its partner from being replayed.
    _forward, backward = cs.tiers(compiled)
    tiers_of_panel.pin(None, messages.PinTier(number=backward.number, pinned=True))
    assert [graph.serving for graph in cs.tiers(compiled)] == ["cpp", "python"]
    tiers_of_panel.pin(None, messages.PinTier(number=backward.number, pinned=False))

    torch._dynamo.reset()
    failing = compiled_until_cpp(model, lambda compiled: step(model, compiled))
    # The forward came from the cache with its backward, and was called once.
    device.broken = raising
    with pytest.warns(TierWarning, match="no memory for the pool"):
        torch.testing.assert_close(step(model, failing), expected)
    _forward, backward = cs.tiers(failing)
    assert states(cs.tiers(failing)) == [("cpp", "failed"), ("cpp", "unwanted")]
    assert backward.tiers[2].why == "The forward has none."


def test_a_graph_on_the_cpu_and_a_torch_that_cannot(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(graph_recording, "is_on_gpu", lambda compiled: False)
        compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    graph = only(compiled)
    assert (graph.serving, graph.tiers[2].state) == ("cpp", "unwanted")
    assert "no CUDA device" in graph.tiers[2].why

    torch._dynamo.reset()
    monkeypatch.setattr(graph_recording, "missing", lambda: "torch._inductor.cudagraph_trees")
    with pytest.warns(TierWarning, match="lacks torch._inductor.cudagraph_trees"):
        compiled = compiled_until_cpp(subject, lambda compiled: compiled(X))
    assert states(cs.tiers(compiled)) == [("cpp", "failed")]


def test_what_the_users_code_keeps_from_being_recorded(device: Device) -> None:
    class Annotation:
        fwd = False
        bwd = None

    graph = torch.fx.symbolic_trace(subject)
    assert graph_recording.overridden(graph) == ""
    graph.meta["cudagraph_annotation"] = Annotation()
    assert "override_cudagraphs" in graph_recording.overridden(graph)
    with pytest.raises(cs.CompilescopeError, match="the third its CUDA graphs"):
        backend.parse(("python", "cuda_graphs"))


def test_without_a_third_tier_nothing_is_said_of_it(device: Device) -> None:
    compiled = cs.tiered(subject)
    compiled(X)
    assert len(only(compiled).tiers) == 2
    assert "CUDA graphs" not in str(cs.tiers(compiled))
