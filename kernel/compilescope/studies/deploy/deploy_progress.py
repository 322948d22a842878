"""How far the study of the ways to deploy is, and how long the rest may take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence

from ...report import VariantReport, units
from ...report.measurements.deployment import DeployWay
from .candidates import last_s, least_s
from .way_process import Phase
from .ways import EAGER, SLOW

_PHASES: dict[Phase, str] = {
    "cold": "nothing cached",
    "shipped": "as shipped",
    "cached": "cached, then later calls",
}
"""The processes of a way, in their order: in words."""


class DeployProgress:
    """The progress of a study that measures ways to deploy one after the other.

    Parameters
    ----------
    measured
        The ways to measure, in their order.
    report
        The variant's, with its earlier results.
    """

    def __init__(self, measured: Sequence[DeployWay], report: VariantReport) -> None:
        self._names = [way.name for way in measured]
        self._last = {way.name: last_s(way, report) for way in measured}
        self._least = {way.name: least_s(way, report) for way in measured}
        self._took: dict[str, float] = {}
        self._began: dict[str, float] = {}
        self._ended: set[str] = set()

    def step(self, way: DeployWay, phase: Phase) -> tuple[str, float]:
        """The words for a process that begins, and the part of the study that is done by then."""
        place, total = self._names.index(way.name), len(self._names)
        number = 0 if way.name == EAGER else list(_PHASES).index(phase)
        within = number / len(_PHASES)
        what = _within(way.name, phase)
        now = time.monotonic()
        began = self._began.setdefault(way.name, now)
        rest = self._rest(place, since_s=now - began, all_s=now - min(self._began.values()))
        return (
            f"way {place + 1} of {total}, {way.name}: {what}{rest and f'; {rest}'}",
            (place + within) / total,
        )

    def several(self, phases: Mapping[str, Phase]) -> tuple[str, float]:
        """The words while an executor measures several ways, and the part that is done.

        Parameters
        ----------
        phases
            The ways whose phase is known, each with it.
        """
        total = len(self._names)
        ended = f"{len(self._ended)} of {total} ways measured"
        running = ", ".join(f"{name} ({_within(name, phase)})" for name, phase in phases.items())
        return "; ".join(filter(None, [ended, running])), len(self._ended) / total

    def end(self, way: DeployWay) -> None:
        """Records that a way was measured, which says how long others take."""
        self._ended.add(way.name)
        if way.took_s is not None and way.problem is None:
            self._took[way.name] = way.took_s

    def _rest(self, place: int, *, since_s: float, all_s: float) -> str:
        """An estimate for the way at a place and those after it; empty where nothing is known.

        Parameters
        ----------
        since_s
            How long ago the way at the place began.
        all_s
            How long ago the first way began.
        """
        names = self._names[place:]
        known = [self._last[name] for name in names]
        if all(seconds is not None for seconds in known):
            return _left(sum(filter(None, known)) - since_s, "if as fast as last time")
        # Eager compiles nothing.
        took = [seconds for name, seconds in self._took.items() if name != EAGER]
        if took:
            mean_s = statistics.mean(took)
            seconds = sum(self._last[name] or mean_s for name in names)
            longer = [name for name in names if name in SLOW and not self._last[name]]
            more = f" ({', '.join(longer)} may take longer)" if longer else ""
            return _left(seconds - since_s, f"if each takes {mean_s:.0f} s, as so far{more}")
        seconds = sum(filter(None, self._least.values()))
        least_s = seconds // _STEP_S * _STEP_S
        if all_s >= least_s:
            return ""  # it has passed
        return f"estimated for all: at least {units.elapsed(least_s)}"


def _within(name: str, phase: Phase) -> str:
    """Which process of a way runs, in words."""
    if name == EAGER:
        return "first call, then later calls"
    return f"process {list(_PHASES).index(phase) + 1} of {len(_PHASES)}, {_PHASES[phase]}"


def _left(seconds: float, condition: str) -> str:
    return f"{units.rough_duration(seconds)} left {condition}" if seconds > 0 else ""


_STEP_S = 10.0
"""A lower bound is rounded down to so many seconds: it stays one."""
