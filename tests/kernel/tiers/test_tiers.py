"""``torch.compile`` with the backend compilescope: the Python wrapper, then the C++ wrapper."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.comms import messages
from compilescope.comms import tiers as tiers_of_panel
from compilescope.processes import runner
from compilescope.report import Report
from compilescope.report.tiers import Tiers
from compilescope.tiers import background, graphs, observers, tier_warning
from compilescope.tiers.alternating_calls import CALLS
from compilescope.tiers.background_check import BackgroundCheck
from compilescope.tiers.builder import builder
from compilescope.tiers.cached_files import CachedFiles
from compilescope.torch_api.inductor.both_wrappers.compiling import Traits
from compilescope.torch_api.process import caches
from torch._dynamo.convert_frame import compile_lock

from .faults.faulty_tiers import X, subject, trained

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]


@pytest.fixture(scope="module", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What earlier runs built is not there."""
    folder = tmp_path_factory.mktemp("inductor")
    with caches.only(folder):
        yield folder
        builder().wait()
        background.wait()


@pytest.fixture
def nothing_built(tmp_path: Path) -> Iterator[None]:
    """What other tests built is not there."""
    with caches.only(tmp_path / "inductor"):
        yield
        builder().wait()
        background.wait()


@pytest.fixture(autouse=True)
def all_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was said in another test is said again."""
    monkeypatch.setattr(tier_warning, "_warned", {})


def serving(tiers: Tiers) -> dict[str, str]:
    return {graph.kind: graph.serving for graph in tiers}


def settled(compiled: Any) -> Tiers:
    """How the tiers stand once nothing is left to build."""
    builder().wait()
    background.wait()
    return cs.tiers(compiled)


def counted(x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    count.add_(1)
    return torch.nn.functional.dropout(x.sin() + count, 0.5)


def parts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return subject(x).chunk(2)


@pytest.mark.parametrize("backend", ["inductor", "eager"])
def test_what_another_backend_compiles_has_no_tiers_and_says_so(backend: str) -> None:
    compiled = torch.compile(subject, backend=backend)
    tiers = cs.tiers(compiled)
    assert len(tiers) == 0
    assert str(tiers) == (
        f"no graph has tiers: torch.compile was called with the backend {backend!r}. Tiers need "
        'torch.compile(…, backend="compilescope") or compilescope.tiered.'
    )
    with pytest.raises(cs.CompilescopeError, match=f"nothing to pin: no graph .* {backend!r}"):
        cs.pin_tier(compiled, "python")
    uncalled = torch.compile(torch.nn.ReLU(), backend="compilescope")
    assert cs.tiers(uncalled).why == ""
    with pytest.raises(cs.CompilescopeError, match="no graph with tiers is compiled") as refused:
        cs.pin_tier(uncalled, "python")
    assert refused.value.problem.remedy.startswith("Call it first")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"tiers": ("python",)}, "the Python wrapper is the only one"),
        ({"options": {"cpp_wrapper": True}}, "with cpp_wrapper=True"),
    ],
)
def test_what_has_one_wrapper_only_says_why(settings: dict[str, Any], why: str) -> None:
    compiled = cs.tiered(subject, **settings)
    assert str(cs.tiers(compiled)).startswith(f"no graph has tiers: {why}")
    with pytest.raises(cs.CompilescopeError, match=f"nothing to pin: .* {why}"):
        cs.pin_tier(compiled, None)


@pytest.fixture
def may_build(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Nothing is built until it is set, however long a call takes before."""
    event, start = threading.Event(), runner.run

    def run_later(*args: Any, **kwargs: Any) -> Any:
        assert event.wait(600)
        return start(*args, **kwargs)

    monkeypatch.setattr(runner, "run", run_later)
    return event


def test_a_graph_swaps_after_a_check_and_serves_at_once_in_the_next_process(
    may_build: threading.Event,
) -> None:
    compiled = cs.tiered(counted)
    x, count = torch.randn(32, 8), torch.zeros(())
    assert str(cs.tiers(compiled)) == "no graph has tiers yet"
    torch.manual_seed(0)
    first = compiled(x, count)
    now = cs.tiers(compiled)
    assert serving(now) == {"inference": "python"}
    assert now[0].tiers[1].state in ("waits", "builds")
    may_build.set()

    ready = settled(compiled)
    assert ready[0].tiers[1].state == "checks", ready
    assert ready[0].serving == "python"
    # The check draws no random number of the user's, and counts no more than the call does.
    torch.manual_seed(0)
    assert torch.equal(compiled(x, count.zero_()), first)
    assert count == 1
    done = cs.tiers(compiled)
    assert serving(done) == {"inference": "cpp"}
    assert done[0].swapped_s is not None
    assert done[0].tiers[1].seconds is not None
    assert "built in" in str(done)
    # Both take turns, and draw the same random numbers, until what the swap gained is known.
    for _ in range(2 * (CALLS + 1)):
        assert cs.tiers(compiled)[0].gain is None
        torch.manual_seed(0)
        assert torch.equal(compiled(x, count.zero_()), first)
        assert count == 1
    gain = cs.tiers(compiled)[0].gain
    assert gain is not None
    assert (gain.calls, gain.is_host_time) == (CALLS, False)
    assert 0 < gain.after_quartiles_us[0] <= gain.after_us <= gain.after_quartiles_us[1]
    assert str(gain) in str(cs.tiers(compiled))
    torch.manual_seed(0)
    assert torch.equal(compiled(x, count.zero_()), first)

    # torch's caches are all that a new process has.
    settled(compiled)
    torch._dynamo.reset()
    compiled = cs.tiered(counted)
    torch.manual_seed(0)
    assert torch.equal(compiled(x, count.zero_()), first)
    again = cs.tiers(compiled)
    assert serving(again) == {"inference": "cpp"}
    assert again[0].tiers[1].cached
    assert again[0].gain == gain


def test_a_graph_that_returns_the_parts_of_a_chunk_swaps() -> None:
    compiled = cs.tiered(parts)
    expected = compiled(X)
    settled(compiled)
    compiled(X)
    assert serving(settled(compiled)) == {"inference": "cpp"}
    torch.testing.assert_close(compiled(X), expected)


def test_forward_and_backward_have_tiers_and_recompiles_too() -> None:
    model = trained()
    compiled = cs.tiered(model)
    expected: list[torch.Tensor] = []

    def step(rows: int, callable_: Any) -> list[torch.Tensor]:
        model.zero_grad()
        torch.manual_seed(rows)
        callable_(torch.randn(rows, 8)).square().sum().backward()
        return [parameter.grad.clone() for parameter in model.parameters()]

    for rows in (4, 6):
        expected += step(rows, compiled)
    # The second size made the sizes dynamic: graphs of their own.
    tiers = settled(compiled)
    assert [graph.compilation for graph in tiers] == ["0/0", "0/0", "0/1", "0/1"]
    assert [graph.kind for graph in tiers] == ["forward", "backward"] * 2
    assert {graph.tiers[1].state for graph in tiers} == {"checks"}, tiers
    stages = [graph.compiled.current_callable for graph in graphs.every()]
    assert [type(stage) for stage in stages[-4:]] == [BackgroundCheck] * 4
    # Both may compare at the same time, in threads; those that do not compare do not wait.
    by_name: dict[int, list[torch.Tensor]] = {}
    inputs = torch.randn(4, 8)
    threads = [
        threading.Thread(target=lambda place=place: by_name.update({place: compiled(inputs)}))
        for place in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(by_name) == 4
    assert all(torch.equal(by_name[0], by_name[place]) for place in by_name)
    checked = step(4, compiled) + step(6, compiled)
    # Dynamo takes the newest that fits: the sizes are dynamic in that.
    tiers = settled(compiled)
    assert [graph.serving for graph in tiers] == ["python", "python", "cpp", "cpp"], tiers
    swapped = step(4, compiled) + step(6, compiled)
    for results in (checked, swapped):
        torch.testing.assert_close(results, expected)
    torch.testing.assert_close(step(9, compiled), step(9, model))


def test_files_that_no_other_process_looks_for_go_with_their_graph(own_caches: Path) -> None:
    files, other = CachedFiles(""), CachedFiles("")
    for kept in (files, other):
        kept.write_job(b"packed", Traits())
    folder = files.folder
    assert folder.parent.is_relative_to(own_caches)
    del files, kept
    gc.collect()
    assert not folder.exists()
    # Not in a fork, whose parent builds from them.
    child = os.fork()
    if not child:
        folder = other.folder
        del other
        gc.collect()
        os._exit(0 if folder.exists() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert other.folder.exists()
    other.settle()
    assert not other.folder.exists()


def test_graphs_of_results_that_are_gone_are_not_kept() -> None:
    compiled = cs.tiered(subject)
    compiled(X)
    (number,) = (graph.number for graph in settled(compiled))
    gone = weakref.ref(next(graph for graph in graphs.every() if graph.number == number))
    del compiled
    torch.compiler.reset()
    gc.collect()
    # Nobody asks for the tiers of this process.
    compiled = cs.tiered(subject)
    compiled(X)
    gc.collect()
    assert gone() is None
    settled(compiled)


@pytest.mark.usefixtures("nothing_built")
def test_a_pinned_graph_stays_with_the_python_wrapper_until_it_is_unpinned() -> None:
    changed: list[str] = []
    stop = observers.observe(lambda graph: changed.append(graph.tiers[1].state))
    compiled, x = cs.tiered(subject), X
    expected = compiled(x)
    cs.pin_tier(compiled, "python")
    settled(compiled)
    compiled(x)
    pinned = cs.tiers(compiled)[0]
    assert (pinned.serving, pinned.pinned, pinned.tiers[1].state) == ("python", True, "checks")
    cs.pin_tier(compiled, None)
    assert torch.equal(compiled(x), expected)
    assert serving(settled(compiled)) == {"inference": "cpp"}
    after = cs.pin_tier(compiled, "python")[0]
    assert (after.serving, after.tiers[1].state) == ("python", "checked")
    assert "pinned" in str(after)
    assert torch.equal(compiled(x), expected)
    (number,) = (graph.number for graph in cs.tiers(compiled))
    unpinned = tiers_of_panel.pin(None, messages.PinTier(number=number, pinned=False)).graphs
    assert [graph.serving for graph in unpinned if graph.number == number] == ["cpp"]
    assert torch.equal(compiled(x), expected)
    stop()
    assert changed[0] in ("waits", "builds")
    assert changed[-3:] == ["serves", "checked", "serves"]
    with pytest.raises(cs.CompilescopeError, match="cannot be pinned"):
        cs.pin_tier(compiled, "cuda_graphs")
    with pytest.raises(cs.CompilescopeError, match="no longer in the kernel"):
        tiers_of_panel.pin(None, messages.PinTier(number=0, pinned=True))


class Chosen(torch.nn.Module):
    """A model of which instances share compiled code if they have the same function."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.name = name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return getattr(torch, self.name)(self.linear(x))


@pytest.mark.usefixtures("nothing_built")
def test_instances_of_a_class_share_graphs_and_say_so() -> None:
    first, second, other = (cs.tiered(Chosen(name).eval()) for name in ("sin", "sin", "cos"))
    with torch.no_grad():
        for compiled in (first, second, other):
            compiled(torch.ones(2, 4))
    (own,), (shared,), (another,) = cs.tiers(first), cs.tiers(second), cs.tiers(other)
    assert (own.shared, shared.shared, another.shared) == (False, True, False)
    assert own.number == shared.number != another.number
    assert "was compiled for another result of torch.compile" in str(cs.tiers(second))
    assert [graph.pinned for graph in cs.pin_tier(second, "python")] == [True]
    assert [cs.tiers(each)[0].pinned for each in (first, other)] == [True, False]
    del first, compiled
    gc.collect()
    (left,) = cs.tiers(second)
    assert (left.number, left.shared) == (shared.number, True)


def test_a_watch_keeps_the_tiers_of_what_it_saw_compiled() -> None:
    before, inside, after = cs.tiered(parts), cs.tiered(subject), cs.tiered(counted)
    before(X)
    with cs.watch() as report:
        inside(X)
    after(torch.randn(32, 8), torch.zeros(()))
    (graph,) = report.tiers
    assert graph == cs.tiers(inside)[0]
    settled(inside)
    inside(X)
    settled(inside)
    # It follows them after the block, and keeps what it knew of a graph that is gone.
    assert [graph.serving for graph in report.tiers] == ["cpp"]
    stored = msgspec.json.decode(report.to_json(), type=Report)
    assert stored.tiers == report.tiers
    del inside
    torch._dynamo.reset()
    gc.collect()
    assert [graph.serving for graph in report.tiers] == ["cpp"]


def test_a_graph_that_communicates_is_not_called_twice() -> None:
    from torch.distributed import _functional_collectives as collectives
    from torch.testing._internal.distributed.fake_pg import FakeStore

    def reduced(x: torch.Tensor) -> torch.Tensor:
        return collectives.all_reduce(x.exp() + 1, "sum", torch.distributed.group.WORLD)

    torch.distributed.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    try:
        compiled = cs.tiered(reduced)
        compiled(X)
        (graph,) = cs.tiers(compiled)
    finally:
        torch.distributed.destroy_process_group()
    assert (graph.serving, graph.tiers[1].state) == ("python", "unwanted")
    assert "communicates with other ranks" in str(graph)


@pytest.mark.usefixtures("nothing_built")
def test_a_fork_keeps_the_tier_that_it_has(may_build: threading.Event) -> None:
    compiled, x = cs.tiered(subject), X
    expected = compiled(x)
    # Before it is built, in a child: nothing is built for that one.
    assert in_child(lambda: (torch.equal(compiled(x), expected), state(compiled))) == [
        True,
        ("python", "unwanted"),
    ]
    may_build.set()
    settled(compiled)
    compiled(x)
    settled(compiled)
    assert state(compiled) == ("cpp", "serves")
    assert in_child(lambda: (torch.equal(compiled(x), expected), state(compiled))) == [
        True,
        ("cpp", "serves"),
    ]


@pytest.mark.usefixtures("nothing_built")
def test_a_fork_compiles_although_another_thread_held_torchs_lock() -> None:
    is_held, may_end = threading.Event(), threading.Event()

    def load() -> None:
        with compile_lock:
            is_held.set()
            assert may_end.wait(600)

    thread = threading.Thread(target=load)
    thread.start()
    assert is_held.wait(600)
    # Waiting for it would be for ever.
    assert in_child(lambda: [compile_lock.acquire(blocking=False)]) == [True]
    may_end.set()
    thread.join()
    with compile_lock:
        assert in_child(lambda: [compile_lock._is_owned()]) == [True]


def test_a_fork_deletes_nothing_of_a_graph_that_is_built(may_build: threading.Event) -> None:
    told: list[int] = []
    stop = observers.observe(lambda graph: told.append(graph.number))
    x = X
    # What torch does not cache is in a folder that is removed as soon as nobody needs it.
    with torch._inductor.config.patch(fx_graph_cache=False):
        compiled = cs.tiered(subject)
        expected = compiled(x)
    before = len(told)
    assert in_child(lambda: (state(compiled), len(told))) == [("python", "unwanted"), before]
    may_build.set()
    settled(compiled)
    assert torch.equal(compiled(x), expected)
    settled(compiled)
    stop()
    assert state(compiled) == ("cpp", "serves")
    assert len(told) > before


def state(compiled: Any) -> tuple[str, str]:
    (graph,) = cs.tiers(compiled)
    return graph.serving, graph.tiers[1].state


def in_child(work: Any) -> list[Any]:
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(writer, repr(list(work())).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(pid, 0)
    result: list[Any] = eval(text)
    return result


def test_settings_are_inductors_and_nothing_else_is_taken() -> None:
    for wrong in (("cpp", "python"), (), "python", 2):
        with pytest.raises(cs.CompilescopeError, match="tiers is") as refused:
            cs.tiered(torch.sin, tiers=wrong)  # type: ignore[arg-type]
        assert "or ('python',) for no second tier" in refused.value.problem.remedy
    for tiers in (("python", "cpp"), ("python",)):
        with pytest.raises(RuntimeError, match="Unexpected optimization option"):
            cs.tiered(torch.sin, tiers=tiers, options={"no_such_option": 1})
        with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
            cs.tiered(torch.sin, tiers=tiers, mode="fast")
        guarded = {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}
        cs.tiered(torch.sin, tiers=tiers, options=guarded)
        assert len(guarded) == 1
    with pytest.raises(cs.CompilescopeError, match="not compiled"):
        cs.tiers(torch.sin)
    alone = cs.tiered(subject, tiers=("python",), mode="max-autotune-no-cudagraphs")
    assert torch.equal(alone(X), subject(X))
    assert len(cs.tiers(alone)) == 0


@pytest.mark.usefixtures("precision")
def test_a_precision_that_only_the_newer_interface_can_express() -> None:
    torch.backends.fp32_precision = "tf32"
    compiled = cs.tiered(subject)
    compiled(X)
    assert settled(compiled)[0].tiers[1].state == "checks"
