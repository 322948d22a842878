"""CUDA graphs as a tier: the calls that record them, and those that replay them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import torch

from ..report import OutputError
from ..torch_api.inductor.both_wrappers import copied, is_capturing
from ..torch_api.inductor.graph_recording import Home, Inner, Recordable, latest_call
from .check import differences

LIMIT = 16
"""Calls after which one has to be a replay: sizes or addresses that change at each are recorded
again at each."""


class Recorded(NamedTuple):
    """What the calls came to that recorded."""

    seconds: float
    """What they took until the first replay."""
    wrong: list[OutputError] | Exception | None = None
    is_replayed: bool = True


class Recording:
    """Stands in for a graph's C++ wrapper until a replay gave what that gives.

    Each call runs the C++ wrapper first, on copies of what it may change, with the same random
    numbers. Then torch warms up, records or replays, and the call gives that: recordings of other
    graphs build on where these results lie. Whatever fails, the call gives what the C++ wrapper
    gave, and changes in place what that changed.

    Parameters
    ----------
    recordable
        The C++ wrapper with its recordings.
    home
        The thread that records, which a forward shares with its backward.
    leads
        Whether it may decide for a thread: a backward waits for its forward.
    changes
        The inputs that the graph changes in place, by number; None if it may write to any: a
        backward takes over the memory of what was saved for it.
    devices
        The GPUs whose random numbers it may draw.
    undefined
        The outputs, by number, that torch leaves uninitialised: they are not compared.
    settle
        Called once, in the thread of the call.
    """

    def __init__(
        self,
        recordable: Recordable,
        *,
        home: Home,
        leads: bool,
        changes: Collection[int] | None,
        devices: Sequence[int],
        undefined: Collection[int],
        settle: Callable[[Recorded], None],
    ) -> None:
        self._recordable = recordable
        self._home = home
        self._leads = leads
        self._changes = changes
        self._devices = devices
        self._undefined = undefined
        self._settle = settle
        self._turn = threading.Lock()
        self._is_settled = False
        self._calls = 0
        self._seconds = 0.0

    def __call__(self, inputs: list[Any]) -> Any:
        """A call of the graph; other threads take the C++ wrapper."""
        if is_capturing() or not self._turn.acquire(blocking=False):
            return self._recordable.plain(inputs)
        try:
            if self._is_settled or not self._may_record():
                return self._recordable.plain(inputs)
            return self._compare(inputs)
        finally:
            self._turn.release()

    def after_fork(self) -> None:
        """The thread that recorded, if any, is not in this process."""
        self._turn = threading.Lock()

    def _may_record(self) -> bool:
        if self._leads and not self._home.is_entered:
            self._home.enter()
        return self._home.is_here()

    def _compare(self, inputs: list[Any]) -> Any:
        changes = range(len(inputs)) if self._changes is None else self._changes
        copies = [
            copied(value) if place in changes else value for place, value in enumerate(inputs)
        ]
        # What was saved for a backward must be free to go while it is recorded.
        places = [] if self._changes is None else sorted(self._changes)
        changed = [inputs[place] for place in places]
        expected_changed = [copies[place] for place in places]
        with torch.no_grad(), torch.random.fork_rng(self._devices):
            expected = self._recordable.plain(copies)
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
            with torch.no_grad():
                wrong = differences(
                    [*expected, *expected_changed], [*actual, *changed], self._undefined
                )
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
        self._is_settled = True
        self._settle(recorded)


class Replays:
    """Serves a graph by its recordings; other threads are served by the C++ wrapper.

    Parameters
    ----------
    recordable, home
        As of the recording.
    fail
        Called with the exception of a call, which then is the user's.
    """

    def __init__(
        self, recordable: Recordable, *, home: Home, fail: Callable[[Exception], None]
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
