"""The call that compares a new tier with the first."""

from __future__ import annotations

import operator
import threading
import weakref
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.wrapper.launches import codes_of, launches_of
from compilescope.tiers.check import DISTURBED_CALLS, Check, UncheckedError
from compilescope.torch_api.inductor.background import background_runs
from compilescope.torch_api.inductor.background.undefined_outputs import undefined_outputs
from compilescope.torch_api.inductor.both_wrappers.packing import light_context
from compilescope.torch_api.inductor.wrappers.wrapper_launches import count_launches
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from .stand_in_wrappers import InterruptedOnce, doubled

REPORTS = Path(__file__).parents[2] / "data" / "reports"


class Settled(list[Any]):
    """What the check came to."""


def check_of(
    first: Any, second: Any, *, changes: Any = (), undefined: Any = (), kernels: int = 1
) -> tuple[Check, Settled]:
    settled = Settled()
    check = Check(
        first,
        second,
        changes=changes,
        devices=[],
        undefined=undefined,
        kernels=kernels,
        settle=settled.append,
    )
    return check, settled


def test_equal_results_settle_it_once() -> None:
    check, settled = check_of(doubled, lambda inputs: [inputs.pop() * 2])
    x = torch.randn(4)
    for _ in range(2):
        assert torch.equal(check([x])[0], x * 2)
    assert settled == [None]


def test_where_both_do_not_fit_in_memory_the_call_has_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = torch.randn(4)
    alive: list[weakref.ref[Any]] = []

    def second(inputs: list[Any]) -> list[Any]:
        result = inputs.pop() * 2
        alive.append(weakref.ref(result))
        return [result]

    def first(inputs: list[Any]) -> list[Any]:
        assert alive[0]() is None, "the other's result takes the memory that this one needs"
        return doubled(inputs)

    monkeypatch.setattr(background_runs, "has_room_again", lambda before: False)
    check, settled = check_of(first, second)
    assert torch.equal(check([x])[0], x * 2)
    assert isinstance(settled[0], UncheckedError)

    def no_memory(*_: Any) -> Any:
        raise torch.OutOfMemoryError

    monkeypatch.undo()
    monkeypatch.setattr(Check, "_differences", no_memory)
    check, settled = check_of(doubled, doubled)
    assert torch.equal(check([x])[0], x * 2)
    assert isinstance(settled[0], UncheckedError)
    monkeypatch.setattr(Check, "_copies", no_memory)
    check, settled = check_of(doubled, doubled)
    assert torch.equal(check([x])[0], x * 2)
    assert isinstance(settled[0], UncheckedError)


def test_a_wrong_result_is_told_and_not_given() -> None:
    check, settled = check_of(doubled, lambda inputs: [inputs.pop() * 2 + 0.5])
    x = torch.randn(4)
    # Another thread may have caused the first difference, without calling the graph.
    assert torch.equal(check([x])[0], x * 2)
    assert settled == []
    assert torch.equal(check([x])[0], x * 2)
    ((wrong,),) = settled
    assert not wrong.ok
    assert wrong.max_abs == pytest.approx(0.5)
    assert wrong.path == "output 0"


@pytest.mark.parametrize(("kernels", "is_equal"), [(1, False), (100, True)])
def test_roundings_of_many_kernels_are_allowed(kernels: int, is_equal: bool) -> None:
    # The results of a ViT in float16, whose kernels torch 2.11 fuses otherwise for the C++ wrapper.
    x = torch.tensor([1.77, -0.003], dtype=torch.float16)
    check, settled = check_of(
        lambda inputs: [inputs.pop()], lambda inputs: [inputs.pop() + 0.0022], kernels=kernels
    )
    for _ in range(2):
        check([x])
    assert (settled == [None]) is is_equal


@pytest.mark.parametrize("name", ["breaks", "mlp", "recompiles", "targets", "training"])
def test_launches_are_counted_in_the_text_of_a_wrapper(name: str) -> None:
    report = cs.load(REPORTS / f"{name}.compilescope.json")
    counts = []
    for variant in report.variants:
        for compilation in variant.compilations:
            wrappers = [code.python for code in codes_of(compilation) if code.python is not None]
            if wrappers:
                launches = sum(1 for _ in launches_of(compilation))
                counts.append((sum(count_launches(wrapper) for wrapper in wrappers), launches))
    assert counts
    assert all(count == launches for count, launches in counts)


def test_what_torch_leaves_uninitialized_is_not_compared() -> None:
    seeds = iter((torch.tensor(3), torch.tensor(4)))

    def attention(inputs: list[Any]) -> Any:
        return (inputs.pop() * 2, next(seeds))

    check, settled = check_of(attention, attention, undefined={1})
    check([torch.randn(4)])
    assert settled == [None]


@pytest.mark.parametrize(("dropout", "expected"), [(0.0, {1, 2}), (0.5, set())])
def test_the_random_state_of_an_attention_without_dropout_is_undefined(
    dropout: float, expected: set[int]
) -> None:
    graph = torch.fx.Graph()
    query = graph.placeholder("query")
    attention = graph.call_function(
        torch.ops.aten._scaled_dot_product_efficient_attention.default,
        (query, query, query, None, True, dropout),
    )
    results = [graph.call_function(operator.getitem, (attention, place)) for place in (0, 2, 3)]
    graph.output((*results, query, None))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    assert undefined_outputs(module) == expected


def test_the_parts_of_a_list_are_defined() -> None:
    graph = make_fx(lambda x: x.sin().chunk(2))(torch.randn(4))
    assert undefined_outputs(graph) == set()


def test_packing_leaves_the_context_of_a_compilation_as_it_is() -> None:
    shapes = ShapeEnv()
    context = TracingContext(FakeTensorMode(shape_env=shapes))
    context.params_flat = [torch.ones(2)]
    shapes.create_unbacked_symint()
    (stack,) = shapes.var_to_stack.values()
    with tracing(context):
        with light_context():
            assert context.params_flat is None
        assert len(context.params_flat) == 1
        assert stack.summary()


@pytest.mark.parametrize(
    "other",
    [
        lambda inputs: [inputs.pop()[:2] * 2],
        lambda inputs: [inputs.pop().double() * 2],
        lambda inputs: [inputs.pop() * 2, torch.zeros(1)],
        lambda inputs: [inputs.pop().to("meta") * 2],
        lambda inputs: [None],
    ],
)
def test_a_result_of_another_kind_is_wrong(other: Any) -> None:
    check, settled = check_of(doubled, other)
    for _ in range(2):
        check([torch.randn(4)])
    assert settled[0]
    assert not any(error.ok for error in settled[0])


def test_an_exception_of_the_new_tier_stays_with_it() -> None:
    def broken(inputs: list[Any]) -> Any:
        inputs[0].zero_()
        raise RuntimeError("no kernel image")

    check, settled = check_of(doubled, broken, changes={0})
    x = torch.ones(4)
    assert torch.equal(check([x])[0], torch.full((4,), 2.0))
    assert str(settled[0]) == "no kernel image"


def test_what_the_graph_changes_in_place_is_changed_once_and_compared() -> None:
    def counted(inputs: list[Any]) -> Any:
        inputs.pop().add_(1)
        return ()

    x = torch.zeros(6).view(2, 3).t()
    check, settled = check_of(counted, counted, changes={0})
    check([x])
    assert torch.equal(x, torch.ones(3, 2))
    assert settled == [None]

    check, settled = check_of(counted, lambda inputs: (), changes={0})
    for _ in range(2):
        check([x])
    assert torch.equal(x, torch.full((3, 2), 3.0))
    assert settled[0][0].max_abs == 1.0


def test_a_backward_may_write_to_all_that_was_saved() -> None:
    def reusing(inputs: list[Any]) -> Any:
        (saved,) = inputs
        inputs.clear()
        return (saved.mul_(3),)

    check, settled = check_of(reusing, reusing, changes=None)
    assert torch.equal(check([torch.ones(2)])[0], torch.full((2,), 3.0))
    assert settled == [None]


def test_random_numbers_are_drawn_once() -> None:
    def noisy(inputs: list[Any]) -> Any:
        return (inputs.pop() + torch.rand(3),)

    check, settled = check_of(noisy, noisy)
    torch.manual_seed(7)
    drawn = [check([torch.zeros(3)])[0], torch.rand(3)]
    torch.manual_seed(7)
    expected = [torch.rand(3), torch.rand(3)]
    assert all(map(torch.equal, drawn, expected))
    assert settled == [None]


def test_other_threads_do_not_wait_for_the_one_that_compares() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(inputs: list[Any]) -> Any:
        inside.set()
        assert go_on.wait(600)
        return [inputs.pop() * 2]

    check, settled = check_of(doubled, slow)
    thread = threading.Thread(target=check, args=([torch.ones(2)],))
    thread.start()
    assert inside.wait(600)
    assert torch.equal(check([torch.ones(2)])[0], torch.full((2,), 2.0))
    assert not settled
    go_on.set()
    thread.join()
    assert settled == [None]


def test_a_difference_during_the_calls_of_other_threads_settles_nothing() -> None:
    x = torch.ones(2)
    is_alone = False

    def second(inputs: list[Any]) -> list[Any]:
        value = inputs.pop()
        if not is_alone:
            # Another thread's call, which also writes to the input.
            thread = threading.Thread(target=lambda: (check([x]), x.add_(1)))
            thread.start()
            thread.join()
        return [value * 2 - (0 if is_alone else 2)]

    check, settled = check_of(doubled, second)
    for _ in range(DISTURBED_CALLS - 1):
        assert torch.equal(check([x])[0], x * 2)
    assert settled == []
    is_alone = True
    check([x])
    assert settled == [None]

    is_alone = False
    check, settled = check_of(doubled, second)
    for _ in range(DISTURBED_CALLS + 1):
        check([x])
    (error,) = settled
    assert isinstance(error, UncheckedError)
    assert "other threads" in str(error)


def test_an_interrupt_leaves_it_to_another_call() -> None:
    check, settled = check_of(doubled, InterruptedOnce())
    with pytest.raises(KeyboardInterrupt):
        check([torch.ones(2)])
    assert not settled
    assert torch.equal(check([torch.ones(2)])[0], torch.full((2,), 2.0))
    assert settled == [None]
