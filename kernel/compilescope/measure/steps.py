"""Computes the time of each step of a wrapper from the times that its marks recorded."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from ..analysis.figures.intervals import median_interval
from ..report import too_few
from .layers import Figure

_FEWEST, _MOST = 30, 3000
"""The number of rounds."""
_WARM = 5


class Round(NamedTuple):
    """One call with recorded steps, and one without, in nanoseconds."""

    begin: int
    end: int
    slots: Sequence[int]
    plain: int


class StepTimes(msgspec.Struct, kw_only=True):
    """The times of a wrapper's steps."""

    steps: dict[int, Figure]
    """Index of a step → its time, for steps that the calls reached."""
    whole: Figure
    mark_ns: float
    """The overhead of a mark, which is subtracted."""
    rounds: int


def take_rounds(
    noting: Callable[[], object],
    plain: Callable[[], object],
    read: Callable[[], Sequence[int]],
    *,
    before: Callable[[], None],
    budget_s: float,
    check: Callable[[], None],
) -> list[Round]:
    """Calls a wrapper alternately with and without recording.

    Parameters
    ----------
    before
        Called before each call; not timed. On a GPU it waits for the device.
    budget_s
        The approximate time limit; thirty rounds are taken even if they take longer.
    check
        Called between rounds; may raise to stop.
    """
    rounds: list[Round] = []
    now = time.perf_counter_ns
    for _ in range(_WARM):
        noting()
        plain()
    last = time.perf_counter() + budget_s
    while len(rounds) < _FEWEST or (len(rounds) < _MOST and time.perf_counter() < last):
        check()
        before()
        begin = now()
        noting()
        end = now()
        slots = read()
        before()
        start = now()
        plain()
        rounds.append(Round(begin, end, slots, now() - start))
    return rounds


def step_times(rounds: Sequence[Round], places: Sequence[int | None]) -> StepTimes:
    """The median time of each step, minus the overhead of the marks.

    Parameters
    ----------
    places
        Slot → the step that begins there; None if no step begins before the next slot.

    Raises
    ------
    ValueError
        No call recorded any time.
    """
    # A call that was disturbed may record none.
    every = [(timed_round, _reached_slots(timed_round)) for timed_round in rounds]
    rounds = [timed_round for timed_round, events in every if events]
    noted = [events for _, events in every if events]
    if not noted:
        raise ValueError("The calls noted no step.")
    clock = _clock_ns()
    mark = statistics.median(
        later[0] - earlier[0]
        for events in noted
        for earlier, later in itertools.pairwise(events)
        if places[earlier[1]] is None
    )
    edge = (mark + clock) / 2
    samples: dict[int, list[float]] = {}
    for timed_round, events in zip(rounds, noted, strict=True):
        spent_ns: dict[int, float] = {}
        ends = [*(at for at, _ in events[1:]), timed_round.end]
        for (at, slot), end in zip(events, ends, strict=True):
            place = places[slot]
            if place is not None:
                spent_ns[place] = (
                    spent_ns.get(place, 0.0) + end - at - (edge if end == timed_round.end else mark)
                )
        first = next((places[slot] for _, slot in events if places[slot] is not None), None)
        if first is not None:
            # From the caller to the first mark.
            spent_ns[first] = spent_ns.get(first, 0.0) + events[0][0] - timed_round.begin - edge
        for place, ns in spent_ns.items():
            samples.setdefault(place, []).append(ns / 1000)
    return StepTimes(
        steps={place: _figure(step_samples) for place, step_samples in samples.items()},
        whole=_figure([max(timed_round.plain - clock, 0.0) / 1000 for timed_round in rounds]),
        mark_ns=mark,
        rounds=len(rounds),
    )


def _reached_slots(timed_round: Round) -> list[tuple[int, int]]:
    """When each slot was reached in the call, in order."""
    return sorted(
        (at, slot)
        for slot, at in enumerate(timed_round.slots)
        if timed_round.begin <= at <= timed_round.end
    )


def _figure(samples: Sequence[float]) -> Figure:
    median = max(statistics.median(samples), 0.0)
    if too_few(samples):
        return Figure(median, None)  # of a step that few calls reach
    low, high = median_interval(samples)
    return Figure(median, (max(low, 0.0), max(high, 0.0)))


def _clock_ns() -> float:
    """The overhead of reading the clock."""
    now = time.perf_counter_ns
    intervals = []
    for _ in range(200):
        start = now()
        intervals.append(now() - start)
    return statistics.median(intervals)
