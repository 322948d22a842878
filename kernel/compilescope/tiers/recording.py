"""CUDA graphs as a tier: the calls that record them, and the calls that replay them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import torch

from ..report import OutputError
from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor.graph_recording import (
    Recordable,
    RecordingThread,
    is_capturing,
    latest_call,
)
from .stage import ComparingStage

LIMIT = 16
"""The number of calls within which one must be a replay: sizes or addresses that change in each
call cause a recording in each call."""


class Recorded(NamedTuple):
    """The outcome of the recording calls."""

    seconds: float
    """Their time until the first replay."""
    wrong: list[OutputError] | Exception | None = None
    is_replayed: bool = True


class Recording(ComparingStage):
    """Replaces a graph's C++ wrapper until a replay agrees with it.

    Each call runs the C++ wrapper first, on copies of the inputs that it may change, with the same
    random numbers. Then torch warms up, records or replays, and the call returns that result:
    recordings of other graphs depend on its addresses. After any failure, the call returns the C++
    wrapper's result with its in-place changes.

    Parameters
    ----------
    recordable
        The C++ wrapper with its recordings.
    home
        The thread that records, which a forward shares with its backward.
    leads
        Whether it may decide for a thread: a backward waits for its forward.
    changes, devices, undefined
        As for `ComparingStage`.
    settle
        Called once, in the thread of the call.
    """

    def __init__(
        self,
        recordable: Recordable,
        *,
        home: RecordingThread,
        leads: bool,
        changes: Collection[int] | None,
        devices: Sequence[int],
        undefined: Collection[int],
        settle: Callable[[Recorded], None],
    ) -> None:
        super().__init__(recordable.plain, changes=changes, devices=devices, undefined=undefined)
        self._recordable = recordable
        self._home = home
        self._leads = leads
        self._settle = settle
        self._calls = 0
        self._seconds = 0.0

    def _may_serve(self) -> bool:
        if self._leads and not self._home.is_entered:
            self._home.enter()
        return self._home.is_here()

    def _serve(self, inputs: list[Any]) -> Any:
        # The tensors saved for a backward must be freeable while it is recorded.
        changed = self._changed(inputs)
        try:
            copies = self._copies(inputs)
            expected_changed = self._changed(copies)
            with torch.no_grad(), torch.random.fork_rng(self._devices):
                expected = self._wrapper(copies)
        except torch.OutOfMemoryError as error:
            no_room = error.with_traceback(None)
            self._end(Recorded(self._seconds, no_room, is_replayed=False))
            return self._wrapper(inputs)
        del copies
        start = time.perf_counter()
        wrong: list[OutputError] | Exception | None = None
        try:
            actual = self._recordable.graphed(inputs)
        except Exception as error:  # noqa: BLE001 - whatever it is, the C++ wrapper serves
            wrong = error
        is_replay = wrong is None and latest_call(self._recordable) == "replay"
        if not is_replay:
            self._seconds += time.perf_counter() - start
        if wrong is None:
            wrong = self._differences([*expected, *expected_changed], [*actual, *changed])
        if wrong is not None:
            with torch.no_grad():
                for tensor, value in zip(changed, expected_changed, strict=True):
                    tensor.copy_(value)
            self._end(Recorded(self._seconds, wrong, is_replayed=False))
            return expected
        self._calls += 1
        if is_replay or self._calls >= LIMIT:
            self._end(Recorded(self._seconds, is_replayed=is_replay))
        return actual

    def _end(self, recorded: Recorded) -> None:
        self.is_settled = True
        self._settle(recorded)


class Replays:
    """Calls a graph by its recordings; calls in other threads use the C++ wrapper.

    Parameters
    ----------
    recordable, home
        As for the recording.
    fail
        Called with the exception of a call, which is then raised to the user.
    """

    def __init__(
        self, recordable: Recordable, *, home: RecordingThread, fail: Callable[[Exception], None]
    ) -> None:
        self._plain: Inner = recordable.plain
        self._graphed: Inner = recordable.graphed
        self._home = home
        self._fail = fail

    def __call__(self, inputs: list[Any]) -> Any:
        """A call of the graph."""
        if is_capturing() or not self._home.is_here():
            return self._plain(inputs)
        try:
            return self._graphed(inputs)
        except Exception as error:
            self._fail(error)
            raise
