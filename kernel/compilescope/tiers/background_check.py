"""The comparison of a new tier with the first in a background thread, during the user's calls."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

import torch

from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor import background_runs
from ..torch_api.inductor.background_runs import Held, bytes_of, copied_bytes, hold
from . import background
from .stage import ComparingStage

LIMIT = 3
"""Calls whose values are compared, if they were written to before the comparison ended."""
COPIED_BYTES = 64 * 2**20
"""The most that is copied in a call."""

_log = logging.getLogger(__name__)

Outcome = Literal["equal", "changed", "unknown"]


class _Sample(NamedTuple):
    """A call."""

    inputs: list[Held]
    outputs: list[Held]
    event: Any


class BackgroundCheck(ComparingStage):
    """Replaces a graph's wrapper until a background thread has compared the new one with it.

    A call returns the first tier's result, as without this. Its inputs and results are kept for the
    thread: parameters and buffers by reference, other inputs as copies. Only equal results settle
    the check. Otherwise a call compares both: values may have been written in a way that torch does
    not count.

    Only for graphs that change nothing in place and draw no random numbers.

    Parameters
    ----------
    first, second
        The current wrapper, and the new one.
    static
        The indices of the inputs whose addresses do not change between calls.
    device
        The GPU that the graph runs on.
    undefined, kernels
        As for `ComparingStage`.
    settle
        Called once, in the thread that compares, if the results agree.
    give_up
        Called once, in any thread, if a call must compare.
    """

    def __init__(
        self,
        first: Inner,
        second: Inner,
        *,
        static: Collection[int],
        device: int | None,
        undefined: Collection[int],
        kernels: int,
        settle: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        super().__init__(first, changes=(), devices=(), undefined=undefined, kernels=kernels)
        self.second = second
        self._static = frozenset(static)
        self._device = device
        self._settle = settle
        self._give_up = give_up
        self._attempts = 0
        self._is_comparing = False

    def after_fork(self) -> None:
        """Forget the thread, which does not exist in this process."""
        super().after_fork()
        self._is_comparing = False

    def _may_serve(self) -> bool:
        return not self._is_comparing

    def _serve(self, inputs: list[Any]) -> Any:
        kept = self._kept_inputs(inputs)
        result = self._wrapper(inputs)
        sample = None if kept is None else self._sample(kept, result)
        if sample is None or not self._begin(sample):
            self._end(self._give_up)
        return result

    def _begin(self, sample: _Sample) -> bool:
        self._attempts += 1
        self._is_comparing = True
        # Only the thread holds it: it is freed when the thread ends.
        samples = [sample]
        try:
            return background.run(lambda: self._compare(samples))
        except BaseException:  # an interrupt: the next call tries again
            self._is_comparing = False
            raise

    def _kept_inputs(self, inputs: Sequence[Any]) -> list[Held] | None:
        size = sum(
            copied_bytes(value, copies=place not in self._static)
            for place, value in enumerate(inputs)
        )
        if size > COPIED_BYTES:
            return None
        try:
            return [
                hold(value, copies=place not in self._static) for place, value in enumerate(inputs)
            ]
        except Exception as error:  # noqa: BLE001 - memory, or a kind of tensor; the call goes on
            _log.info("the inputs of a call cannot be kept: %s", error)
            return None

    def _sample(self, inputs: list[Held], result: Sequence[Any]) -> _Sample | None:
        # What was written to at the first attempt will be at the next.
        copies = self._attempts > 0
        if sum(copied_bytes(value, copies=copies) for value in result) > COPIED_BYTES:
            return None
        try:
            outputs = [hold(value, copies=copies) for value in result]
            return _Sample(inputs, outputs, background_runs.mark(self._device))
        except Exception as error:  # noqa: BLE001 - as above
            _log.info("the results of a call cannot be kept: %s", error)
            return None

    def _compare(self, samples: list[_Sample]) -> None:
        with background.giving_way():
            outcome = self._outcome(samples.pop())
        if outcome == "equal":
            self._end(self._settle)
        elif outcome == "changed" and self._attempts < LIMIT:
            self._is_comparing = False
        else:
            self._end(self._give_up)

    def _outcome(self, sample: _Sample) -> Outcome:
        static = sum(bytes_of(sample.inputs[place].value) for place in self._static)
        try:
            with torch.no_grad(), background_runs.beside(self._device, sample.event):
                if not background_runs.has_room(self._device, static):
                    return "unknown"
                actual = self.second([held.value for held in sample.inputs])
                wrong = self._differences([held.value for held in sample.outputs], [*actual])
        except Exception as error:  # noqa: BLE001 - a call finds out whether it is the new tier's
            _log.info("two wrappers could not be compared beside the calls: %s", error)
            return "unknown"
        if not all(held.is_unchanged for held in (*sample.inputs, *sample.outputs)):
            return "changed"
        return "equal" if wrong is None else "unknown"

    def _end(self, then: Callable[[], None]) -> None:
        self.is_settled = True
        then()
