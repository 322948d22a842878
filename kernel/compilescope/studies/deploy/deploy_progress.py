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
    """The progress of a study that measures ways to deploy, one after the other or several at once.

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
        self._ended: dict[str, float] = {}
        """How long each way took that has ended, whether it failed or not."""
        self._several_began: float | None = None
        self._seen: object = None
        """What `several` last saw."""
        self._expected_end: float | None = None
        """When all ways will be measured, at the pace of those that `several` last saw."""

    def step(self, way: DeployWay, phase: Phase) -> tuple[str, float]:
        """The words for a process that begins, and the part of the study that is done by then."""
        place, total = self._names.index(way.name), len(self._names)
        within = _part_before(way.name, phase)
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
        now = time.monotonic()
        if self._several_began is None:
            self._several_began = now
        seen = (len(self._ended), dict(phases))
        if seen != self._seen:
            # Between two changes the estimate counts down.
            self._seen = seen
            rest = self._rest_at_pace(phases, now - self._several_began)
            self._expected_end = None if rest is None else now + rest
        ended = f"{len(self._ended)} of {total} ways measured"
        running = ", ".join(f"{name} ({_within(name, phase)})" for name, phase in phases.items())
        left = ""
        if self._expected_end is not None:
            left = _left(
                self._expected_end - now, f"at the pace so far{self._longer(self._left())}"
            )
        return "; ".join(filter(None, [ended, running, left])), len(self._ended) / total

    def end(self, way: DeployWay) -> None:
        """Records that a way was measured, which says how long others take."""
        self._ended[way.name] = way.took_s or 0.0
        if way.took_s is not None and way.problem is None:
            self._took[way.name] = way.took_s

    def _left(self) -> list[str]:
        """The ways that are not measured yet."""
        return [name for name in self._names if name not in self._ended]

    def _rest_at_pace(self, phases: Mapping[str, Phase], all_s: float) -> float | None:
        """How long the ways that are left will take (s); None if no compiled way has ended.

        How many ways run at a time is unknown, and ways on one machine take turns. What all ways
        together have done until now, in seconds of measuring, shows how fast they go.

        Parameters
        ----------
        phases
            The ways that run, each with its phase.
        all_s
            How long ago the executor got them.
        """
        took = self._took_compiling()
        if not took:
            return None
        usual = statistics.mean(took)
        needs = {
            name: self._last[name] or (0.0 if name == EAGER else usual) for name in self._left()
        }
        begun = sum(needs[name] * _part_before(name, phase) for name, phase in phases.items())
        done = sum(self._ended.values()) + begun
        return (sum(needs.values()) - begun) * all_s / done if done else None

    def _took_compiling(self) -> list[float]:
        """How long the measured ways took that compile."""
        return [seconds for name, seconds in self._took.items() if name != EAGER]

    def _longer(self, names: Sequence[str]) -> str:
        """Which of these ways may take longer than those before, in parentheses."""
        longer = [name for name in names if name in SLOW and not self._last[name]]
        return f" ({', '.join(longer)} may take longer)" if longer else ""

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
        if took := self._took_compiling():
            mean_s = statistics.mean(took)
            seconds = sum(self._last[name] or mean_s for name in names)
            condition = f"if each takes {mean_s:.0f} s, as so far{self._longer(names)}"
            return _left(seconds - since_s, condition)
        seconds = sum(filter(None, self._least.values()))
        least_s = seconds // _STEP_S * _STEP_S
        if all_s >= least_s:
            return ""  # it has passed
        return f"estimated for all: at least {units.elapsed(least_s)}"


def _part_before(name: str, phase: Phase) -> float:
    """The part of a way that is done when a process begins."""
    return 0.0 if name == EAGER else list(_PHASES).index(phase) / len(_PHASES)


def _within(name: str, phase: Phase) -> str:
    """Which process of a way runs, in words."""
    if name == EAGER:
        return "first call, then later calls"
    return f"process {list(_PHASES).index(phase) + 1} of {len(_PHASES)}, {_PHASES[phase]}"


def _left(seconds: float, condition: str) -> str:
    return f"{units.rough_duration(seconds)} left {condition}" if seconds > 0 else ""


_STEP_S = 10.0
"""A lower bound is rounded down to so many seconds: it stays one."""
