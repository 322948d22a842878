"""The comparison of a new tier with the first in a thread of its own."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
import torch
from compilescope.tiers import background
from compilescope.tiers.background_check import BackgroundCheck
from compilescope.torch_api.inductor.background import background_runs
from compilescope.torch_api.inductor.background.repeatable_graphs import is_repeatable

from .stand_in_wrappers import InterruptedOnce, doubled


@pytest.fixture(autouse=True)
def all_done() -> Iterator[None]:
    yield
    assert background.wait(600)


class Ends(list[str]):
    """What a check came to."""


def check_of(
    first: Any,
    second: Any,
    *,
    static: Any = (),
    copies_all: bool = False,
    changes: Collection[int] | None = (),
    max_copied_bytes: int = 2**20,
) -> tuple[BackgroundCheck, Ends]:
    ends = Ends()
    check = BackgroundCheck(
        first,
        second,
        static=static,
        copies_all=copies_all,
        device=None,
        max_copied_bytes=max_copied_bytes,
        changes=changes,
        undefined=(),
        kernels=1,
        settle=lambda: ends.append("settled"),
        give_up=lambda: ends.append("given up"),
    )
    return check, ends


class Held:
    """A wrapper whose call in the other thread waits until it is let go."""

    def __init__(self, wrapper: Callable[[list[Any]], Any] = doubled) -> None:
        self.wrapper = wrapper
        self.began, self.goes_on = threading.Event(), threading.Event()
        self.threads: list[int] = []

    def __call__(self, inputs: list[Any]) -> Any:
        self.threads.append(threading.get_ident())
        self.began.set()
        assert self.goes_on.wait(600)
        return self.wrapper(inputs)

    def finish(self) -> None:
        self.goes_on.set()
        assert background.wait(600)
        self.began.clear()
        self.goes_on.clear()


def test_equal_results_settle_it_beside_the_calls() -> None:
    second = Held()
    check, ends = check_of(doubled, second)
    x = torch.randn(4)
    for _ in range(3):
        assert torch.equal(check([x])[0], x * 2)
        assert second.began.wait(600)
    assert ends == []
    second.finish()
    assert ends == ["settled"]
    assert len(second.threads) == 1
    assert second.threads[0] != threading.get_ident()
    assert torch.equal(check([x])[0], x * 2)
    assert ends == ["settled"]


def test_a_wrong_result_is_not_given_and_a_call_is_to_look_again() -> None:
    check, ends = check_of(doubled, lambda inputs: [inputs.pop() * 2 + 0.5])
    x = torch.randn(4)
    assert torch.equal(check([x])[0], x * 2)
    assert background.wait(600)
    assert ends == ["given up"]
    assert torch.equal(check([x])[0], x * 2)


def test_an_exception_of_the_new_tier_stays_in_its_thread() -> None:
    def broken(inputs: list[Any]) -> Any:
        raise RuntimeError("no kernel image")

    check, ends = check_of(doubled, broken)
    x = torch.randn(4)
    assert torch.equal(check([x])[0], x * 2)
    assert background.wait(600)
    assert ends == ["given up"]


def test_inputs_may_be_written_to_meanwhile() -> None:
    second = Held()
    check, ends = check_of(doubled, second)
    x = torch.randn(4)
    check([x])
    assert second.began.wait(600)
    x.zero_()
    x.data = torch.ones(7)
    second.finish()
    assert ends == ["settled"]


def scaled(inputs: list[Any]) -> Any:
    weight, x = inputs
    inputs.clear()
    return (weight * x,)


class ScaledCheck:
    """The check of `scaled`, whose first input is a parameter, with its inputs."""

    def __init__(self) -> None:
        self.weight, self.x = torch.randn(4), torch.randn(4)
        self.second = Held(scaled)
        self.check, self.ends = check_of(scaled, self.second, static={0})

    def call(self) -> None:
        """Calls until the other thread has begun to compare."""
        self.check([self.weight, self.x])
        assert self.second.began.wait(600)


def test_parameters_that_are_written_to_meanwhile_are_compared_at_another_call() -> None:
    checked = ScaledCheck()
    checked.call()
    checked.weight.add_(1)
    checked.second.finish()
    assert checked.ends == []
    checked.call()
    checked.second.finish()
    assert checked.ends == ["settled"]


def test_such_parameters_are_copied_at_that_call() -> None:
    checked = ScaledCheck()
    for _ in range(2):
        assert checked.ends == []
        checked.call()
        checked.weight.add_(1)
        checked.second.finish()
    assert checked.ends == ["settled"]
    assert len(checked.second.threads) == 2


def test_in_training_all_values_may_be_written_to_at_once() -> None:
    def forward(inputs: list[Any]) -> Any:
        weight, count, x = inputs
        inputs.clear()
        count.add_(1)
        return (weight * x + count, weight)

    second = Held(forward)
    check, ends = check_of(forward, second, static={0, 1}, copies_all=True, changes={1})
    weight, count, x = torch.randn(4), torch.zeros(4), torch.randn(4)
    expected = weight * x + 1
    result, saved = check([weight, count, x])
    assert torch.equal(result, expected)
    assert saved is weight
    assert torch.equal(count, torch.ones(4))
    for value in (weight, count, x, result):
        value.zero_()
    second.finish()
    assert ends == ["settled"]


def test_a_changed_input_is_compared() -> None:
    def forgets(inputs: list[Any]) -> Any:
        inputs.clear()
        return ()

    def counts(inputs: list[Any]) -> Any:
        inputs.pop().add_(1)
        return ()

    check, ends = check_of(counts, forgets, static={0}, changes={0})
    count = torch.zeros(2)
    check([count])
    assert background.wait(600)
    assert ends == ["given up"]
    assert torch.equal(count, torch.ones(2))


def test_a_backward_takes_over_the_memory_of_what_was_saved() -> None:
    def backward(inputs: list[Any]) -> Any:
        (saved,) = inputs
        inputs.clear()
        return (saved.mul_(2),)

    second = Held(backward)
    check, ends = check_of(backward, second, static={0}, copies_all=True, changes=None)
    saved = torch.ones(4)
    (gradient,) = check([saved])
    assert gradient is saved
    gradient.zero_()
    second.finish()
    assert ends == ["settled"]


def test_what_torch_does_not_count_rejects_nothing() -> None:
    checked = ScaledCheck()
    checked.call()
    checked.weight.data.add_(1)
    checked.second.finish()
    assert checked.ends == ["given up"]


def test_parameters_may_be_given_other_memory_meanwhile() -> None:
    second = Held(scaled)
    check, ends = check_of(scaled, second, static={0})
    weight = torch.nn.Parameter(torch.randn(4))
    with torch.no_grad():
        check([weight, torch.randn(4)])
    assert second.began.wait(600)
    weight.data = torch.zeros(4)
    second.finish()
    assert ends == ["settled"]


def test_results_may_be_written_to_by_whoever_called() -> None:
    second = Held()
    check, ends = check_of(doubled, second)
    x = torch.randn(4)
    check([x])[0].zero_()
    second.finish()
    assert ends == []
    # The results of the next call are copied.
    check([x])[0].zero_()
    second.finish()
    assert ends == ["settled"]


def test_tensors_of_the_inference_mode_are_compared_too() -> None:
    second = Held(scaled)
    check, ends = check_of(scaled, second, static={0})
    with torch.inference_mode():
        weight, x = torch.randn(4), torch.randn(4)
        result = check([weight, x])[0]
        assert second.began.wait(600)
        for tensor in (weight, x, result):
            tensor.zero_()
    second.finish()
    assert ends == ["settled"]


@pytest.mark.parametrize("wrong", [0.0, 0.5])
def test_nothing_of_a_call_is_kept_afterwards(wrong: float) -> None:
    seen: list[weakref.ref[Any]] = []

    def second(inputs: list[Any]) -> Any:
        seen.append(weakref.ref(inputs[0].untyped_storage()))
        return [inputs.pop() * 2 + wrong]

    check, ends = check_of(doubled, second)
    x = torch.randn(4)
    result = check([x])[0]
    storage = weakref.ref(x)
    assert background.wait(600)
    assert len(ends) == 1
    assert [reference() for reference in seen] == [None]
    output = weakref.ref(result)
    del x, result
    assert storage() is None
    assert output() is None


def test_large_values_are_not_copied() -> None:
    check, ends = check_of(doubled, doubled, max_copied_bytes=12)
    x = torch.randn(4)
    assert torch.equal(check([x])[0], x * 2)
    assert ends == ["given up"]
    # Parameters are not copied, unless all values are.
    check, ends = check_of(scaled, scaled, static={0, 1}, max_copied_bytes=12)
    check([x, x])
    assert background.wait(600)
    assert ends == ["settled"]
    check, ends = check_of(scaled, scaled, static={0, 1}, copies_all=True, max_copied_bytes=12)
    check([x, x])
    assert ends == ["given up"]
    # Those of the inference mode are, and results too.
    check, ends = check_of(scaled, scaled, static={0, 1}, max_copied_bytes=12)
    with torch.inference_mode():
        check([torch.ones(4), torch.ones(4)])
    assert ends == ["given up"]
    check, ends = check_of(lambda inputs: [inputs.pop().repeat(4)], doubled, max_copied_bytes=12)
    with torch.inference_mode():
        check([torch.ones(1)])
    assert ends == ["given up"]


def test_an_input_that_cannot_be_copied_is_compared_in_a_call() -> None:
    check, ends = check_of(
        lambda inputs: (inputs.pop().to_dense() * 2,), lambda inputs: (inputs.pop(),)
    )
    x = torch.eye(3).to_sparse()
    assert torch.equal(check([x])[0], torch.eye(3) * 2)
    assert ends == ["given up"]


def test_without_a_thread_a_call_is_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    check, ends = check_of(doubled, doubled)
    with monkeypatch.context() as patch:
        patch.setattr(background, "_worker", background.Worker())
        patch.setattr(threading.Thread, "start", refused)
        check([torch.ones(2)])
    assert ends == ["given up"]
    assert background.wait(0)


def test_an_interrupt_leaves_it_to_another_call() -> None:
    check, ends = check_of(InterruptedOnce(), doubled)
    with pytest.raises(KeyboardInterrupt):
        check([torch.ones(2)])
    assert background.wait(0)
    assert ends == []
    check([torch.ones(2)])
    assert background.wait(600)
    assert ends == ["settled"]


def test_a_fork_compares_at_a_call_of_its_own() -> None:
    second = Held()
    check, ends = check_of(doubled, second)
    check([torch.ones(2)])
    assert second.began.wait(600)
    # What a child process finds: the thread is not there.
    check.after_fork()
    check([torch.ones(2)])
    second.finish()
    assert len(second.threads) == 2
    assert "settled" in ends


def whole(target: Any, *args: object) -> torch.fx.GraphModule:
    """A graph that calls one operator."""
    graph = torch.fx.Graph()
    graph.output(graph.call_function(target, (graph.placeholder("x"), *args)))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def attention(dropout: float) -> torch.fx.GraphModule:
    operator = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    return whole(operator, None, None, dropout)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (whole(torch.ops.aten.sin.default), True),
        (whole(torch.ops.aten.rand_like.default), False),
        (attention(0.0), True),
        (attention(0.5), False),
    ],
)
def test_a_graph_that_draws_random_numbers_is_compared_in_a_call(
    graph: torch.fx.GraphModule, expected: bool
) -> None:
    assert is_repeatable(graph) is expected


def test_so_is_one_that_calls_more_than_torchs_own_operators() -> None:
    assert not is_repeatable(whole(torch.ops.profiler._record_function_exit.default))
    assert not is_repeatable(whole(torch.ops.higher_order.cond))
    # Also where it is inside.
    outer = whole(torch.ops.aten.sin.default)
    outer.add_module("inner", whole(torch.ops.aten.rand_like.default))
    assert not is_repeatable(outer)


def test_all_checks_together_hold_no_more_copies_than_there_is_room() -> None:
    second = Held()
    first_check, first_ends = check_of(doubled, second, max_copied_bytes=40)
    other_check, other_ends = check_of(doubled, doubled, max_copied_bytes=40)
    x = torch.randn(8)
    first_check([x])
    assert second.began.wait(600)
    other_check([x])
    assert other_ends == ["given up"]
    second.finish()
    assert first_ends == ["settled"]
    other_check, other_ends = check_of(doubled, doubled, max_copied_bytes=40)
    other_check([x])
    assert background.wait(600)
    assert other_ends == ["settled"]


def test_a_copy_has_the_gaps_of_its_original() -> None:
    part = torch.zeros(8, 16)[:, :2]
    assert background_runs.bytes_of(part) == 4 * (7 * 16 + 2)
    assert background_runs.bytes_of(torch.zeros(0, 3)) == 0


def test_work_that_fails_does_not_end_the_thread() -> None:
    def failing() -> None:
        raise SystemExit

    done = threading.Event()
    worker = background.Worker()
    assert worker.run(failing)
    assert worker.run(done.set)
    assert worker.wait(600)
    assert done.is_set()
    worker.stop()
    assert not worker.run(done.set)


def test_at_the_end_only_the_current_work_is_finished() -> None:
    worker = background.Worker()
    began, goes_on, dropped = threading.Event(), threading.Event(), threading.Event()

    def current() -> None:
        began.set()
        assert goes_on.wait(600)

    assert worker.run(current)
    assert worker.run(dropped.set)
    assert began.wait(600)
    stopping = threading.Thread(target=worker.stop)
    stopping.start()
    while not worker._is_stopped:
        time.sleep(0.001)
    goes_on.set()
    stopping.join()
    assert not dropped.is_set()
