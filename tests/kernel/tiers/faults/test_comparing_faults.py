"""What goes wrong while the second tier is compared with the first."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report.tiers import GraphTiers, SwapGain
from compilescope.tiers import background, tier_warning, tiered_graph
from compilescope.tiers.alternating_calls import CALLS, AlternatingCalls
from compilescope.tiers.builder import builder
from compilescope.tiers.tier_warning import TierWarning
from compilescope.torch_api.inductor.both_wrappers import compiling, loading
from compilescope.torch_api.inductor.graph_recording import Loaded

from ... import less_work
from .faulty_tiers import X, output_of, problem_of, subject, swapped

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]


def test_what_torch_leaves_uninitialized_is_not_compared_in_the_next_process_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as first:
        first.setattr(compiling, "undefined_outputs", lambda graph: frozenset({0}))
        cs.tiered(subject)(X)
        builder().wait()
    load = loading.load

    def uninitialized(*args: Any, **options: Any) -> Any:
        wrapper = load(*args, **options).wrapper
        return Loaded(lambda inputs: [wrapper(inputs)[0] + 0.25])

    def not_seen(graph: Any) -> frozenset[int]:
        raise AssertionError("torch has it in its caches")

    # Built, and not checked: the next process checks it, and does not see the graph.
    monkeypatch.setattr(tiered_graph, "load", uninitialized)
    monkeypatch.setattr(compiling, "undefined_outputs", not_seen)
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    builder().wait()
    second(X)
    background.wait()
    (graph,) = cs.tiers(second)
    assert (graph.serving, graph.tiers[1].problem) == ("cpp", None)


def test_a_wrong_result(own_caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = loading.load

    def planted(*args: Any, **options: Any) -> Any:
        wrapper = load(*args, **options).wrapper
        return Loaded(lambda inputs: [wrapper(inputs)[0] + 0.25])

    monkeypatch.setattr(tiered_graph, "load", planted)
    compiled = cs.tiered(subject)
    compiled(X)
    builder().wait()
    # The background finds it, and a call makes sure; both give what the first tier gives.
    assert torch.equal(compiled(X), subject(X))
    background.wait()
    assert cs.tiers(compiled)[0].tiers[1].state == "checks"
    # So does another one: other threads may have caused the first difference.
    assert torch.equal(compiled(X), subject(X))
    with pytest.warns(TierWarning, match="gives another result.* off by 0.25"):
        assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)
    assert torch.equal(compiled(X), subject(X))

    # It is no result for the next process either, which says so and does not build it.
    monkeypatch.undo()
    monkeypatch.setattr(tier_warning, "_warned", {})
    torch._dynamo.reset()
    second = cs.tiered(subject)
    with pytest.warns(TierWarning, match="gives another result.*compiled before.*off by 0.25"):
        assert torch.equal(second(X), subject(X))
    problem = problem_of(second)
    # Whoever wants it built again deletes what the warning names.
    (file,) = own_caches.rglob("rejected.json")
    assert str(file) in problem.remedy
    file.unlink()
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second)


def test_what_fails_while_it_is_compared_is_tried_again_by_the_next_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(inputs: list[Any]) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(tiered_graph, "load", lambda *args, **options: Loaded(exhausted))
    compiled = cs.tiered(subject)
    compiled(X)
    builder().wait()
    compiled(X)
    background.wait()
    with pytest.warns(TierWarning, match="raised an exception .*out of memory"):
        assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)
    monkeypatch.undo()
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second)


def called_until_decided(compiled: Any) -> GraphTiers:
    """The graph after a call that is compared, and those that alternate twice."""
    compiled(X)
    builder().wait()
    compiled(X)
    background.wait()
    for _ in range(4 * (CALLS + 1)):
        assert torch.equal(compiled(X), subject(X))
    background.wait()
    (graph,) = cs.tiers(compiled)
    return graph


def slower(by: float) -> SwapGain:
    return SwapGain(
        before_us=10,
        after_us=10 * by,
        before_quartiles_us=(9, 11),
        after_quartiles_us=(9 * by, 11 * by),
        calls=CALLS,
    )


def test_a_slower_wrapper_is_not_used_by_the_next_process_either(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SwapGain, "is_slower", less_work.MEASURED_SLOWER)
    factors = [2.0, 2.0]
    monkeypatch.setattr(AlternatingCalls, "_gain", lambda self: slower(factors.pop()))
    graph = called_until_decided(cs.tiered(subject))
    assert not factors, "it is measured twice"
    assert (graph.serving, graph.tiers[0].state, graph.tiers[1].state) == (
        "python",
        "serves",
        "unwanted",
    )
    assert graph.tiers[1].why == "Its calls are slower: 10.0 µs → 20.0 µs per call."
    assert "20.0 µs per call, not used" in str(graph)
    assert graph.tiers[1].why in " ".join(str(graph).split())

    torch._dynamo.reset()
    second = cs.tiered(subject)
    assert torch.equal(second(X), subject(X))
    (graph,) = cs.tiers(second)
    assert (graph.serving, graph.tiers[1].state, graph.tiers[1].cached) == (
        "python",
        "unwanted",
        True,
    )
    (file,) = own_caches.rglob("rejected.json")
    assert graph.tiers[1].why == (
        "Found when the graph was compiled before: Its calls are slower: 10.0 µs → 20.0 µs per "
        f"call. It is not used until you delete {file}."
    )
    file.unlink()
    # It is checked and measured again; a difference that does not recur is noise.
    factors += [1.0, 2.0]
    torch._dynamo.reset()
    graph = called_until_decided(cs.tiered(subject))
    assert not factors
    assert (graph.serving, graph.tiers[1].state) == ("cpp", "serves")


def test_a_graph_that_goes_away_while_it_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    load = loading.load
    began, goes_on = threading.Event(), threading.Event()

    def held(*args: Any, **options: Any) -> Any:
        wrapper = load(*args, **options).wrapper

        def call(inputs: list[Any]) -> Any:
            began.set()
            assert goes_on.wait(600)
            return wrapper(inputs)

        return Loaded(call)

    monkeypatch.setattr(tiered_graph, "load", held)
    compiled = cs.tiered(subject)
    compiled(X)
    builder().wait()
    compiled(X)
    assert began.wait(600)
    # It may be pinned meanwhile, too.
    cs.pin_tier(compiled, "python")
    del compiled
    torch._dynamo.reset()
    gc.collect()
    goes_on.set()
    assert background.wait(600)


_CHECKING = """
import ctypes, threading, torch
import compilescope as cs
from compilescope.tiers import tiered_graph
from compilescope.tiers.builder import builder
from compilescope.torch_api.inductor.graph_recording import Loaded
from tests.kernel.forks import run_beside_fork

began = threading.Event()
load = tiered_graph.load

def slow(*args, **options):
    wrapper = load(*args, **options).wrapper

    def call(inputs):
        began.set()
        threading.main_thread().join()  # until the interpreter is about to end
        return wrapper(inputs)

    return Loaded(call)

tiered_graph.load = slow


def main():
    compiled = cs.tiered(lambda x: x.exp() + 1)
    compiled(torch.zeros(12))
    builder().wait()
    print(compiled(torch.zeros(12)).sum().item(), flush=True)
    assert began.wait(600)
    assert cs.tiers(compiled)[0].tiers[1].state == "checks"
    ctypes.pythonapi.Py_Exit(0)


run_beside_fork(main)
"""


def test_the_interpreter_ends_while_it_is_compared(tmp_path: Path) -> None:
    caches_folder = tmp_path / "own"
    output, errors = output_of(_CHECKING, variables={"TORCHINDUCTOR_CACHE_DIR": str(caches_folder)})
    assert float(output) == 24.0
    assert errors == ""
    # Whatever it came to was noted, and the next process starts with it.
    assert len(list(caches_folder.rglob("checked"))) == 1
