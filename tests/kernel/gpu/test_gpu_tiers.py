"""CUDA graphs as the third tier, on a real GPU. Skipped where there is none."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report.tiers import GraphTiers, Tier
from compilescope.tiers import background, tier_warning
from compilescope.tiers.alternating_calls import CALLS
from compilescope.tiers.builder import builder
from compilescope.tiers.recording import LIMIT
from compilescope.tiers.tier_warning import TierWarning
from compilescope.torch_api.process import caches
from torch import Tensor, nn

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.usefixtures("built"),
]

TIERS = ("python", "cpp", "cuda_graphs")
ENOUGH = 1 + 2 * (CALLS + 1) + LIMIT + 2 * (CALLS + 1)
"""Calls after which nothing changes any more: the check, turns, the recording, turns."""

torch.manual_seed(0)


class Block(nn.Module):
    """A block of a small GPT."""

    def __init__(self, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        split = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(*split, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


def dropped(x: Tensor) -> Tensor:
    return nn.functional.dropout(x.sin() * 3, 0.5)


def scaled(x: Tensor, scale: Tensor) -> Tensor:
    return (x * scale).cos()


def in_place(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def of_any_size(x: Tensor) -> Tensor:
    return (x.sin() * 2 + x).sum(-1)


class Built:
    """Everything that is compiled here, once: the builder builds it all at one go."""

    def __init__(self) -> None:
        self.block = Block().cuda().eval().requires_grad_(False)
        self.trained = nn.Sequential(
            nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4)
        ).cuda()
        self.attention = Block().cuda()
        self.fast: dict[str, Any] = {
            name: cs.tiered(subject, **{"tiers": TIERS, **options})
            for name, subject, options in (
                ("block", self.block, {}),
                ("trained", self.trained, {}),
                ("dropped", dropped, {}),
                ("scaled", scaled, {}),
                ("in_place", in_place, {}),
                ("of_any_size", of_any_size, {"dynamic": True}),
                ("attention", self.attention, {"tiers": TIERS[:2]}),
            )
        }
        self.fast["block"](tokens())
        self.fast["trained"](rows()).sum().backward()
        torch.manual_seed(7)
        self.dropped = self.fast["dropped"](ones()).clone()
        self.fast["scaled"](ones(), torch.tensor(2.0))
        self.fast["in_place"](ones())
        self.fast["of_any_size"](torch.randn(4, 8, device="cuda"))
        self.fast["attention"](tokens()).sum().backward()
        builder().wait()


def tokens() -> Tensor:
    return torch.randn(2, 16, 64, device="cuda")


def rows() -> Tensor:
    return torch.randn(8, 16, device="cuda")


def ones() -> Tensor:
    return torch.ones(64, 8, device="cuda")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with caches.only(Path(tmp_path_factory.mktemp("inductor"))):
        torch._dynamo.reset()
        yield Built()
        builder().wait()


@pytest.fixture(autouse=True)
def all_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier_warning, "_warned", {})


def third(compiled: Any) -> tuple[GraphTiers, Tier]:
    (graph,) = cs.tiers(compiled)
    return graph, graph.tiers[2]


def settle(call: Callable[[], Any], compiled: Any) -> None:
    for _ in range(ENOUGH):
        call()
        if all(graph.tiers[2].gain is not None for graph in cs.tiers(compiled)):
            return


def close(result: Any, expected: Any) -> None:
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


def test_results_are_those_of_eager_in_every_tier(built: Built) -> None:
    compiled = built.fast["block"]
    served: list[str] = []
    states: list[str] = []
    for _ in range(ENOUGH):
        x = tokens()
        served.append(cs.tiers(compiled)[0].serving)
        close(compiled(x), built.block(x))
        states.append(third(compiled)[1].state)
    # Between calls it goes from one tier to the next, and never back.
    assert list(dict.fromkeys(served)) == list(TIERS), (served, third(compiled))
    assert served == sorted(served, key=TIERS.index)
    assert list(dict.fromkeys(states)) == ["waits", "records", "serves"]
    # A warm-up, a recording, and the replay that decides.
    assert states.count("records") == 3
    graph, tier = third(compiled)
    assert graph.gain is not None
    assert tier.gain is not None
    assert tier.gain.is_host_time
    assert tier.seconds is not None
    assert tier.swapped_s is not None
    assert graph.swapped_s is not None
    assert tier.swapped_s > graph.swapped_s
    assert tier.pool_bytes is not None
    assert tier.pool_bytes > 0


def test_a_call_overwrites_the_results_of_the_one_before(built: Built) -> None:
    compiled = built.fast["block"]
    settle(lambda: compiled(tokens()), compiled)
    x = tokens()
    first = compiled(x)
    kept = first.clone()
    second = compiled(tokens())
    assert first.data_ptr() == second.data_ptr()
    assert torch.equal(first, second)
    close(kept, built.block(x))


def test_training_with_attention_gets_the_cpp_wrapper(built: Built) -> None:
    """Its forward gives the backward a random state that is undefined without dropout."""
    compiled = built.fast["attention"]
    for _ in range(2):
        compiled(tokens()).sum().backward()
        assert background.wait(600)
    second = [graph.tiers[1] for graph in cs.tiers(compiled)]
    assert [tier.state for tier in second] == ["serves", "serves"], second


def test_training_is_recorded_forward_and_backward(built: Built) -> None:
    model, compiled = built.trained, built.fast["trained"]
    reference = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    served: list[str] = []
    for _ in range(ENOUGH):
        reference.load_state_dict(model.state_dict())
        x = rows()
        for trained, call in ((reference, reference), (model, compiled)):
            trained.zero_grad()
            call(x).square().sum().backward()
        close(
            [parameter.grad for parameter in model.parameters()],
            [parameter.grad for parameter in reference.parameters()],
        )
        close(list(model.buffers()), list(reference.buffers()))
        optimizer.step()
        # Both or neither, once a step is over.
        (serving,) = {graph.serving for graph in cs.tiers(compiled)}
        served.append(serving)
    # The first step compares the C++ wrappers.
    assert list(dict.fromkeys(served)) == list(TIERS[1:]), cs.tiers(compiled)
    assert all(graph.tiers[2].gain is not None for graph in cs.tiers(compiled))


def train(built: Built) -> None:
    built.trained.zero_grad()
    built.fast["trained"](rows()).sum().backward()


def test_gradients_add_up_in_memory_of_their_own(built: Built) -> None:
    model, compiled = built.trained, built.fast["trained"]
    settle(lambda: train(built), compiled)
    reference = copy.deepcopy(model)
    for parameter in (*model.parameters(), *reference.parameters()):
        parameter.grad = torch.zeros_like(parameter)
    for _ in range(5):
        x = rows()
        for call in (reference, compiled):
            call(x).square().sum().backward()
    assert {graph.serving for graph in cs.tiers(compiled)} == {"cuda_graphs"}
    close(
        [parameter.grad for parameter in model.parameters()],
        [parameter.grad for parameter in reference.parameters()],
    )


def test_random_numbers_are_those_of_the_wrappers(built: Built) -> None:
    compiled, x = built.fast["dropped"], ones()
    settle(lambda: compiled(x), compiled)
    assert third(compiled)[0].serving == "cuda_graphs", third(compiled)
    torch.manual_seed(7)
    assert torch.equal(compiled(x), built.dropped)
    assert not torch.equal(compiled(x), built.dropped)


def test_what_cannot_be_recorded_stays_with_the_wrapper(built: Built) -> None:
    x, scale = ones(), torch.tensor(2.0)
    for name, arguments, why in (
        ("scaled", (x, scale), "cpu device"),
        ("in_place", (x,), "mutated inputs"),
    ):
        compiled = built.fast[name]
        for _ in range(3):
            compiled(*arguments)
        graph, tier = third(compiled)
        assert (graph.serving, tier.state) == ("cpp", "unwanted"), graph
        assert why in tier.why
    assert torch.equal(built.fast["scaled"](x, scale), scaled(x, scale))


def test_each_size_is_recorded_by_itself(built: Built) -> None:
    compiled = built.fast["of_any_size"]
    settle(lambda: compiled(torch.randn(4, 8, device="cuda")), compiled)
    assert third(compiled)[0].serving == "cuda_graphs", third(compiled)
    for size in (3, 4, 9, 3, 4, 9, 3, 4, 9, 3, 4):
        x = torch.randn(size, 8, device="cuda")
        close(compiled(x), of_any_size(x))


def test_pinning_does_without_them(built: Built) -> None:
    for name, call in (
        ("block", lambda: built.fast["block"](tokens())),
        ("trained", lambda: train(built)),
    ):
        compiled = built.fast[name]
        settle(call, compiled)
        for tier, serving in (("cpp", "cpp"), ("python", "python"), (None, "cuda_graphs")):
            tiers = cs.pin_tier(compiled, tier)  # type: ignore[arg-type]
            assert {graph.serving for graph in tiers} == {serving}
            assert {graph.tiers[2].state for graph in tiers} == {
                "serves" if tier is None else "checked"
            }
            for _ in range(3):
                call()
    x = tokens()
    close(built.fast["block"](x), built.block(x))


def test_other_threads_are_served_by_the_wrapper(built: Built) -> None:
    compiled = built.fast["block"]
    settle(lambda: compiled(tokens()), compiled)
    x = tokens()
    kept = compiled(x)
    results: list[Tensor] = []

    def call() -> None:
        for _ in range(4):
            results.append(compiled(x))  # noqa: PERF401 - each is a call of its own

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        assert result.data_ptr() != kept.data_ptr()
        close(result, kept)


def test_a_capture_of_the_users_takes_the_wrapper(built: Built) -> None:
    compiled, x = built.fast["block"], tokens()
    settle(lambda: compiled(x), compiled)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        result = compiled(x)
    x.copy_(tokens())
    graph.replay()
    close(result, built.block(x))


def test_the_next_process_records_at_once_and_a_failure_leaves_the_wrapper(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor.cudagraph_trees import CUDAGraphNode

    settle(lambda: built.fast["block"](tokens()), built.fast["block"])
    gain = third(built.fast["block"])[1].gain
    # torch's caches are all that a new process has.
    torch._dynamo.reset()
    second = cs.tiered(built.block, tiers=TIERS)
    for _ in range(3):
        x = tokens()
        close(second(x), built.block(x))
    graph, tier = third(second)
    assert (graph.serving, graph.tiers[1].cached) == ("cuda_graphs", True), graph
    assert tier.gain == gain

    record = CUDAGraphNode._record

    def planted(self: Any, model: Any, inputs: Any) -> Any:
        def broken(inputs: Any) -> Any:
            raise RuntimeError("planted")

        return record(self, broken, inputs)

    torch._dynamo.reset()
    failing = cs.tiered(built.block, tiers=TIERS)

    def calls() -> None:
        for _ in range(4):
            x = tokens()
            close(failing(x), built.block(x))

    with monkeypatch.context() as patch:
        patch.setattr(CUDAGraphNode, "_record", planted)
        with pytest.warns(TierWarning, match=r"CUDA graphs of graph .* failed.*planted"):
            calls()
    graph, tier = third(failing)
    assert (graph.serving, tier.state) == ("cpp", "failed")
    assert tier.problem is not None
    calls()
