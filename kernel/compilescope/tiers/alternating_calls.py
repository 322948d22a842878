"""The calls after a swap, which alternate between both tiers and are timed, for the gain."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from ..report.tiers import SwapGain
from ..torch_api.dynamo.wrapper_type import Inner
from .stage import Stage

CALLS = 15
"""Calls of each tier, after a first one that does not count because it is slower."""
_MIN_CALLS = 5
"""Calls of a follower, which may have fewer."""


class AlternatingCalls(Stage):
    """Alternates calls between both tiers and times them, until there are enough.

    Each call runs once, as it would anyway: both return the same results. Alternating exposes both
    to the same load.

    Parameters
    ----------
    first, second
        The replaced tier, and its replacement.
    is_host_time
        Whether the graph runs on a device that a call does not wait for.
    settle
        Called once, in the thread of the last call, with the measurement; None if there were too
        few calls.
    leader
        The turns of the forward, for a backward: it is served as its forward was.
    """

    def __init__(
        self,
        first: Inner,
        second: Inner,
        *,
        is_host_time: bool,
        settle: Callable[[SwapGain | None], None],
        leader: AlternatingCalls | None = None,
    ) -> None:
        super().__init__(second)
        self.second = second
        self.latest = 0
        """The tier that served the latest call."""
        self._wrappers = (first, second)
        self._is_host_time = is_host_time
        self._settle = settle
        self._leader = leader
        self._times_us: tuple[list[float], list[float]] = ([], [])

    def _serve(self, inputs: list[Any]) -> Any:
        first_us, second_us = self._times_us
        leader = self._leader
        if leader is None:
            which = int(len(first_us) > len(second_us))
        else:
            which = 1 if leader.is_settled else leader.latest
        self.latest = which
        start = time.perf_counter()
        result = self._wrappers[which](inputs)
        self._times_us[which].append((time.perf_counter() - start) * 1e6)
        is_enough = len(second_us) > CALLS if leader is None else leader.is_settled
        if is_enough:
            self.is_settled = True
            self._settle(self._gain())
        return result

    def _gain(self) -> SwapGain | None:
        first_us, second_us = (times[1:] for times in self._times_us)
        if min(len(first_us), len(second_us)) < _MIN_CALLS:
            return None
        return SwapGain(
            before_us=statistics.median(first_us),
            after_us=statistics.median(second_us),
            before_quartiles_us=_quartiles(first_us),
            after_quartiles_us=_quartiles(second_us),
            calls=len(second_us),
            is_host_time=self._is_host_time,
        )


def _quartiles(times: list[float]) -> tuple[float, float]:
    low, _, high = statistics.quantiles(times, n=4)
    return low, high
