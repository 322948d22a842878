"""The call that compares a new tier with the first, on the user's inputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import torch

from ..report import OutputError
from ..report.problem import message_of
from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor.background import background_runs
from .stage import ComparingStage

DISTURBED_CALLS = 20
"""How many differences are ignored because other threads called the graph meanwhile."""
Result = TypeVar("Result")


class Check(ComparingStage):
    """Replaces a graph's wrapper until the new one has been compared with it.

    A call returns the first tier's result. The new one runs first, on copies of the inputs that it
    may change, with the same random numbers. The first difference settles nothing, nor does one if
    other threads called the graph meanwhile: the next call compares again.

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
        self._count_lock = threading.Lock()
        self._running_beside = 0
        self._calls_beside = 0
        self._disturbed = 0
        self._has_differed = False

    def after_fork(self) -> None:
        """Forget the calls of threads that do not exist in this process."""
        super().after_fork()
        self._count_lock = threading.Lock()
        self._running_beside = 0

    def _serve_beside(self, inputs: list[Any]) -> Any:
        with self._count_lock:
            self._running_beside += 1
            self._calls_beside += 1
        try:
            return super()._serve_beside(inputs)
        finally:
            with self._count_lock:
                self._running_beside -= 1

    def _serve(self, inputs: list[Any]) -> Any:
        calls, is_alone = self._calls_beside, not self._running_beside
        # The wrappers empty their lists, and so free what they have used.
        changed = self._changed(inputs)
        actual, error = _attempt(lambda: self._run_second(inputs))
        expected = self._wrapper(inputs)
        if actual is None:
            self._end(error)
            return expected
        wrong, error = _attempt(lambda: self._differences([*expected, *changed], actual))
        if error is None and wrong:
            # Other threads may write to what this call reads.
            if self._running_beside or not is_alone or calls != self._calls_beside:
                self._disturbed += 1
                if self._disturbed < DISTURBED_CALLS:
                    return expected
                error = UncheckedError(_DISTURBED, _ONE_THREAD)
            elif not self._has_differed:
                # They may also have done so without a call. A deviation of the wrapper's recurs.
                self._has_differed = True
                return expected
        self._end(error or wrong)
        return expected

    def _end(self, wrong: list[OutputError] | Exception | None) -> None:
        self.is_settled = True
        self._settle(wrong)

    def _run_second(self, inputs: Sequence[Any]) -> list[Any]:
        before = background_runs.allocated_bytes(self._devices)
        copies = self._copies(inputs)
        changed = self._changed(copies)
        with torch.no_grad(), torch.random.fork_rng(self._devices):
            actual = [*self.second(copies), *changed]
        if not background_runs.has_room_again(before):
            raise torch.OutOfMemoryError
        return actual


class UncheckedError(Exception):
    """Both wrappers could not be compared, which says nothing of the new one.

    Parameters
    ----------
    why
        In a sentence.
    remedy
        What to do about it.
    """

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


def _attempt(step: Callable[[], Result]) -> tuple[Result | None, Exception | None]:
    """The result of a step, or its exception: whatever it is, the call returns its own result."""
    try:
        return step(), None
    except torch.OutOfMemoryError:
        return None, UncheckedError(_NO_ROOM, _FREE_MEMORY)
    except Exception as error:  # noqa: BLE001 - see above
        # Its traceback would keep the copies.
        return None, error.with_traceback(None)


_NO_ROOM = "Both wrappers run in one call to be compared, and the GPU has no memory for that."
_FREE_MEMORY = "Free memory of the GPU, or use a smaller batch; then start the process again."
_DISTURBED = (
    f"The results of both wrappers differed in {DISTURBED_CALLS} calls, but other threads called "
    "the graph at the same time and may have written to its inputs."
)
_ONE_THREAD = "Start the process again with one thread that calls it until the C++ wrapper serves."


def deviation_text(wrong: list[OutputError], other: str) -> str:
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
