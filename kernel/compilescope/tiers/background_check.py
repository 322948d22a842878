"""The comparison of a new tier with the first in a background thread, during the user's calls."""

from __future__ import annotations

import functools
import logging
import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

import torch

from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor.background import background_runs
from ..torch_api.inductor.background.background_runs import HeldValue, bytes_of, copied_bytes, hold
from ..torch_api.inductor.background.planned_calls import PlannedCall
from . import background
from .stage import ComparingStage

_log = logging.getLogger(__name__)

Outcome = Literal["equal", "changed", "unknown"]


class _Copies:
    """The bytes of the values that all checks of this process have copied and still hold."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes = 0

    def add(self, size: int, limit: int) -> bool:
        """Counts some more, unless they are more than there is room for; returns whether it did."""
        with self._lock:
            if size and self._bytes + size > limit:
                return False
            self._bytes += size
            return True

    def remove(self, size: int) -> None:
        """No longer counts some."""
        with self._lock:
            self._bytes -= size


_copies = _Copies()


def after_fork() -> None:
    """In a child process: the checks of other threads do not exist here."""
    global _copies
    _copies = _Copies()


class _Sample(NamedTuple):
    """A call."""

    inputs: list[HeldValue]
    results: list[HeldValue]
    """Its outputs, and the inputs that it changed, as they were after it."""
    event: Any
    copied: int
    """The bytes that it takes."""


class BackgroundCheck(ComparingStage):
    """Replaces a graph's wrapper until a background thread has compared the new one with it.

    A call returns the first tier's result, as without this. Its inputs and results are kept for the
    thread, as copies or by reference. Only equal results settle the check. Otherwise a call
    compares both: values may have been written in a way that torch does not count.

    Only for graphs that draw no random numbers.

    Parameters
    ----------
    first, second
        The current wrapper, and the new one.
    static
        The indices of the inputs whose addresses do not change between calls.
    copies_all
        Whether all values are copied, as in training, which soon writes to them. Otherwise the
        static inputs and the results are kept by reference, until some were written to.
    device
        The GPU that the graph runs on.
    max_copied_bytes
        How many bytes all checks together may hold copies of.
    changes, undefined, kernels
        As for `ComparingStage`.
    planned
        The calls for which a library plans a kernel in each thread. They run before the new
        wrapper, with pauses between them: a call of the user's waits for one of them at most.
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
        copies_all: bool,
        device: int | None,
        max_copied_bytes: int,
        changes: Collection[int] | None,
        undefined: Collection[int],
        kernels: int,
        planned: Sequence[PlannedCall] = (),
        settle: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        super().__init__(first, changes=changes, devices=(), undefined=undefined, kernels=kernels)
        self.second = second
        self._shared = frozenset(place for place in static if self._is_unchanged(place))
        self._copies_all = copies_all
        self._device = device
        self._max_copied_bytes = max_copied_bytes
        self._planned = planned
        self._settle = settle
        self._give_up = give_up
        self._is_comparing = False

    def after_fork(self) -> None:
        """Forget the thread, which does not exist in this process."""
        super().after_fork()
        self._is_comparing = False

    def _may_serve(self) -> bool:
        return not self._is_comparing

    def _serve(self, inputs: list[Any]) -> Any:
        kept = self._kept_inputs(inputs)
        changed = self._changed(inputs)
        references = [
            weakref.ref(value) if isinstance(value, torch.Tensor) else None for value in inputs
        ]
        try:
            result = self._wrapper(inputs)
        except BaseException:
            self._forget(kept)
            raise
        sample = None
        if kept is not None:
            # A forward saves some of its inputs for its backward.
            returned = {
                id(value): held
                for place, (reference, held) in enumerate(zip(references, kept, strict=True))
                if self._is_unchanged(place) and reference is not None
                if (value := reference()) is not None
            }
            sample = self._sample(kept, returned, [*result, *changed])
        if sample is None:
            self._forget(kept)
            self._end(self._give_up)
        elif not self._begin(sample):
            _copies.remove(sample.copied)
            self._end(self._give_up)
        return result

    def _begin(self, sample: _Sample) -> bool:
        self._is_comparing = True
        # Only the thread holds it: it is freed when the thread is done.
        samples = [sample]
        try:
            return background.run(lambda: self._compare(samples))
        except BaseException:  # an interrupt: the next call tries again
            self._is_comparing = False
            _copies.remove(sample.copied)
            raise

    def _kept_inputs(self, inputs: Sequence[Any]) -> list[HeldValue] | None:
        return self._kept(
            [(value, place not in self._shared) for place, value in enumerate(inputs)]
        )

    def _sample(
        self, inputs: list[HeldValue], returned: dict[int, HeldValue], results: Sequence[Any]
    ) -> _Sample | None:
        new = [value for value in results if id(value) not in returned]
        kept = self._kept([(value, False) for value in new])
        if kept is None:
            return None
        held_by_id = dict(zip(map(id, new), kept, strict=True)) | returned
        try:
            event = background_runs.mark(self._device)
        except Exception as error:  # noqa: BLE001 - as below
            _log.info("the GPU's progress cannot be marked: %s", error)
            self._forget(kept)
            return None
        copied = _bytes_of(inputs) + _bytes_of(kept)
        return _Sample(inputs, [held_by_id[id(value)] for value in results], event, copied)

    def _kept(self, values: Sequence[tuple[Any, bool]]) -> list[HeldValue] | None:
        """Values, each with whether it is copied in any case; None if that is impossible."""
        decided = [(value, copies or self._copies_all) for value, copies in values]
        size = sum(copied_bytes(value, copies=copies) for value, copies in decided)
        if not _copies.add(size, self._max_copied_bytes):
            return None
        try:
            with torch.no_grad():
                return [hold(value, copies=copies) for value, copies in decided]
        except BaseException as error:
            _copies.remove(size)
            if not isinstance(error, Exception):
                raise
            # Memory, or a kind of tensor; the call continues.
            _log.info("the values of a call cannot be kept: %s", error)
            return None

    def _forget(self, kept: list[HeldValue] | None) -> None:
        if kept is not None:
            _copies.remove(_bytes_of(kept))

    def _compare(self, samples: list[_Sample]) -> None:
        # The call that the values are of comes to its end.
        background_runs.yield_to_user()
        with background.giving_way():
            sample = samples.pop()
            copied = sample.copied
            try:
                outcome = self._outcome(sample)
            finally:
                del sample
                _copies.remove(copied)
            if outcome == "equal":
                self._end(self._settle)
            elif outcome == "changed" and not self._copies_all:
                self._copies_all = True
                self._is_comparing = False
            else:
                self._end(self._give_up)

    def _outcome(self, sample: _Sample) -> Outcome:
        shared = sum(bytes_of(held.value) for held in sample.inputs if held.version is not None)
        try:
            with (
                torch.no_grad(),
                background_runs.running_in_background(self._device, sample.event),
            ):
                if not background_runs.has_room(self._device, shared):
                    return "unknown"
                for call in self._planned:
                    _plan(call)
                values = [held.value for held in sample.inputs]
                changed = self._changed(values)
                background_runs.yield_to_user()
                actual = [*self.second(values), *changed]
                background_runs.yield_to_user()
                wrong = self._differences([held.value for held in sample.results], actual)
        except Exception as error:  # noqa: BLE001 - a call finds out whether it is the new tier's
            _log.info("two wrappers could not be compared in the background: %s", error)
            return "unknown"
        if not all(held.is_unchanged for held in (*sample.inputs, *sample.results)):
            return "changed"
        return "equal" if wrong is None else "unknown"

    def _end(self, then: Callable[[], None]) -> None:
        self.is_settled = True
        then()


def _bytes_of(values: Sequence[HeldValue]) -> int:
    """The bytes of the copies among values that are kept."""
    return sum(bytes_of(held.value) for held in values if held.version is None)


def prepare_libraries(code: str, devices: Collection[int]) -> None:
    """Loads the libraries that a wrapper calls, in a background thread and before the check."""
    for device in devices:
        for library in background_runs.libraries_of(code):
            background.run(functools.partial(_prepare_library, device, library))


def _plan(call: PlannedCall) -> None:
    try:
        call.run()
    except Exception as error:  # noqa: BLE001 - the wrapper then plans it, or fails likewise
        _log.info("%s could not be planned: %s", call.operator, error)
    background_runs.yield_to_user()


def _prepare_library(device: int, library: background_runs.Library) -> None:
    try:
        background_runs.prepare_library(device, library)
    except Exception as error:  # noqa: BLE001 - memory, or determinism: the check finds out
        _log.info("%s could not be prepared: %s", library, error)
