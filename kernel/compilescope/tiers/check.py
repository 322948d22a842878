"""The call that compares a new tier with the first, on the user's inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from ..report import OutputError
from ..report.problem import message_of
from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor import background_runs
from .stage import ComparingStage


class Check(ComparingStage):
    """Replaces a graph's wrapper until the new one has been compared with it.

    A call returns the first tier's result. The new one runs first, on copies of the inputs that it
    may change, with the same random numbers.

    Parameters
    ----------
    first, second
        The current wrapper, and the new one.
    changes, devices, undefined, kernels
        As for `ComparingStage`.
    settle
        Called once, in the thread of the call: with None if the results agree, otherwise with the
        deviation, or with the new wrapper's exception.
    """

    def __init__(
        self,
        first: Inner,
        second: Inner,
        *,
        changes: Collection[int] | None,
        devices: Sequence[int],
        undefined: Collection[int],
        kernels: int,
        settle: Callable[[list[OutputError] | Exception | None], None],
    ) -> None:
        super().__init__(
            first, changes=changes, devices=devices, undefined=undefined, kernels=kernels
        )
        self.second = second
        self._settle = settle

    def _serve(self, inputs: list[Any]) -> Any:
        # The wrappers empty their lists, and so free what they have used.
        changed = self._changed(inputs)
        actual: list[Any] = []
        wrong: list[OutputError] | Exception | None = None
        try:
            actual = self._run_second(inputs)
        except Exception as error:  # noqa: BLE001 - whatever it is, the first tier serves
            # Its traceback would keep the copies.
            wrong = error.with_traceback(None)
        expected = self._wrapper(inputs)
        if wrong is None:
            try:
                wrong = self._differences([*expected, *changed], actual)
            except Exception as error:  # noqa: BLE001 - memory: the call has its result
                wrong = error.with_traceback(None)
        self.is_settled = True
        self._settle(wrong)
        return expected

    def _run_second(self, inputs: Sequence[Any]) -> list[Any]:
        before = background_runs.allocated_bytes(self._devices)
        copies = self._copies(inputs)
        changed = self._changed(copies)
        with torch.no_grad(), torch.random.fork_rng(self._devices):
            actual = [*self.second(copies), *changed]
        if not background_runs.has_room_again(before):
            raise NoRoomError(
                "Both wrappers run in one call to be compared, and the GPU has no memory for that."
            )
        return actual


class NoRoomError(Exception):
    """A GPU has no memory for two runs of a graph whose results are compared."""


def off(wrong: list[OutputError], other: str) -> str:
    """The deviation of results from another tier's, in words."""
    worst = max(wrong, key=lambda error: error.max_abs)
    return (
        f"{worst.path} is off by {worst.max_abs:.3g} (relative {worst.max_rel:.3g}) from "
        f"the {other}'s; allowed are {worst.tolerance_abs:.3g} + "
        f"{worst.tolerance_rel:.3g} times the value."
    )


def first_line(error: Exception) -> str:
    """An error in a line."""
    first = message_of(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"
