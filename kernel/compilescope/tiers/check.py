"""The call that compares a new tier with the first, on the user's inputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from ..measure.numerics import compare
from ..report import OutputError
from ..torch_api.inductor.both_wrappers import copied, is_capturing
from ..torch_api.inductor.graph_recording import Inner


class Check:
    """Stands in for a graph's wrapper until the new one has been compared with it.

    A call gives what the first tier gives. The new one runs before it, on copies of what it may
    change, with the same random numbers.

    Parameters
    ----------
    first, second
        The wrapper that serves, and the new one.
    changes
        The inputs that the graph changes in place, by number; None if it may write to any: a
        backward takes over the memory of what was saved for it.
    devices
        The GPUs whose random numbers it may draw.
    undefined
        The outputs, by number, that torch leaves uninitialised: they are not compared.
    settle
        Called once, in the thread of the call: with None if the results agree, otherwise with
        what is off, or with the exception of the new one.
    """

    def __init__(
        self,
        first: Inner,
        second: Inner,
        *,
        changes: Collection[int] | None,
        devices: Sequence[int],
        undefined: Collection[int],
        settle: Callable[[list[OutputError] | Exception | None], None],
    ) -> None:
        self.first = first
        self.second = second
        self._changes = changes
        self._devices = devices
        self._undefined = undefined
        self._settle = settle
        self._turn = threading.Lock()
        self._is_settled = False

    def __call__(self, inputs: list[Any]) -> Any:
        """A call of the graph: one thread compares, others meanwhile take the first tier."""
        if is_capturing() or not self._turn.acquire(blocking=False):
            return self.first(inputs)
        try:
            if self._is_settled:
                return self.first(inputs)
            return self._compare(inputs)
        finally:
            self._turn.release()

    def after_fork(self) -> None:
        """The thread that compared, if any, is not in this process."""
        self._turn = threading.Lock()

    def _compare(self, inputs: list[Any]) -> Any:
        changes = range(len(inputs)) if self._changes is None else self._changes
        # The wrappers empty their lists.
        inputs_of_check = list(inputs)
        copies = [
            copied(value) if place in changes else value
            for place, value in enumerate(inputs_of_check)
        ]
        actual: list[Any] = []
        wrong: list[OutputError] | Exception | None = None
        try:
            with torch.no_grad(), torch.random.fork_rng(self._devices):
                actual = [*self.second(list(copies))]
        except Exception as error:  # noqa: BLE001 - whatever it is, the first tier serves
            wrong = error
        expected = self.first(inputs)
        if wrong is None:
            changed_places = [] if self._changes is None else sorted(self._changes)
            with torch.no_grad():
                wrong = differences(
                    [*expected, *(inputs_of_check[place] for place in changed_places)],
                    [*actual, *(copies[place] for place in changed_places)],
                    self._undefined,
                )
        self._is_settled = True
        self._settle(wrong)
        return expected


def differences(
    expected: Sequence[Any], actual: Sequence[Any], undefined: Collection[int]
) -> list[OutputError] | None:
    """What is off in results that should be equal; None if nothing is.

    Those whose numbers are in ``undefined`` are not compared.
    """
    if len(expected) != len(actual):
        errors = compare(list(expected), list(actual))
        return [error for error in errors if not error.ok]
    wrong = [
        error
        for place, (left, other) in enumerate(zip(expected, actual, strict=True))
        if place not in undefined and not _is_same(left, other)
        for error in compare({f"output {place}": left}, {f"output {place}": other})
        if not error.ok
    ]
    return wrong or None


def _is_same(expected: Any, actual: Any) -> bool:
    """Whether they are equal bit by bit, which is the rule: both run the same kernels."""
    if isinstance(expected, torch.Tensor) and isinstance(actual, torch.Tensor):
        like = expected.dtype == actual.dtype and expected.stride() == actual.stride()
        return like and expected.device == actual.device and torch.equal(expected, actual)
    return expected is actual
