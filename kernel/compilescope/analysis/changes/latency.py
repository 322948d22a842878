"""Whether a call is slower than in an earlier report, perhaps of another machine."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Environment, Struct, Timing
from ...report.units import duration

_LOAD = 0.5
"""Processors that others used: a smaller difference in load is not mentioned."""


class LatencyChange(Struct):
    """A call's median latency before and after, each with its 95 % interval (µs)."""

    before_us: float
    after_us: float
    before_interval_us: tuple[float, float]
    after_interval_us: tuple[float, float]
    text: str = ""
    few: bool = False
    """One of the two has too few samples for an interval: its interval is their range."""
    before_ratio: tuple[float, float] | None = None
    """The 99 % interval of eager's time divided by the call's; None if it was not measured."""
    after_ratio: tuple[float, float] | None = None
    conditions: list[str] = []
    """How the measurements differ in torch's version, the machine, threads and load."""

    @property
    def is_slower(self) -> bool:
        """Whether the call is certainly slower, also compared with eager in the same session.

        A slower machine alone makes eager slower too: both the latencies and the ratios to eager
        must differ by more than their intervals.
        """
        return self._is_higher and self._ratio_change < 0

    @property
    def is_faster(self) -> bool:
        """Whether the call is certainly faster, also compared with eager in the same session."""
        return self._is_lower and self._ratio_change > 0

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        if self.few:
            return "too few samples to tell"
        if self.is_slower or self.is_faster:
            return "slower" if self.is_slower else "faster"
        if not (self._is_higher or self._is_lower):
            return "no clear difference"
        direction = "higher" if self._is_higher else "lower"
        if self.before_ratio is None or self.after_ratio is None:
            return f"{direction}; without a ratio to eager, the machine may be the cause"
        changed = "slower" if self._is_higher else "faster"
        return f"{direction}, but not clearly {changed} compared with eager"

    @property
    def _is_higher(self) -> bool:
        return not self.few and self.after_interval_us[0] > self.before_interval_us[1]

    @property
    def _is_lower(self) -> bool:
        return not self.few and self.after_interval_us[1] < self.before_interval_us[0]

    @property
    def _ratio_change(self) -> int:
        """1 if the call is certainly faster compared with eager, -1 if slower, otherwise 0."""
        if self.before_ratio is None or self.after_ratio is None:
            return 0
        if self.after_ratio[0] > self.before_ratio[1]:
            return 1
        return -1 if self.after_ratio[1] < self.before_ratio[0] else 0


def latency_change(
    before: Timing, after: Timing, before_on: Environment, after_on: Environment
) -> LatencyChange:
    """Compare two measurements of a call.

    Parameters
    ----------
    before, after
        Measurements of two sessions.
    before_on, after_on
        Where they were made.
    """
    change = LatencyChange(
        before_us=before.median_us,
        after_us=after.median_us,
        before_interval_us=before.interval_us,
        after_interval_us=after.interval_us,
        few=before.few or after.few,
        before_ratio=_ratio(before),
        after_ratio=_ratio(after),
        conditions=list(_conditions(before, after, before_on, after_on)),
    )
    # Two sessions, perhaps on two machines: their ratio would look more exact than it is.
    change.text = f"{duration(change.before_us)} → {duration(change.after_us)}: {change.verdict}"
    return change


def _ratio(timing: Timing) -> tuple[float, float] | None:
    # Baselines of other names are not the same code in both sessions.
    return timing.ratio_interval if timing.baseline == "eager" else None


def _conditions(
    before: Timing, after: Timing, before_on: Environment, after_on: Environment
) -> Iterator[str]:
    for name, one, other in (
        ("torch", before_on.torch, after_on.torch),
        ("processor", before_on.cpu, after_on.cpu),
        ("device", _device(before, before_on), _device(after, after_on)),
        ("threads", before.threads, after.threads),
    ):
        if one and other and one != other:
            yield f"{name} {one} → {other}"
    loads = before.other_processors, after.other_processors
    if loads[0] is not None and loads[1] is not None and abs(loads[0] - loads[1]) > _LOAD:
        yield f"processors that other processes used {loads[0]:.1f} → {loads[1]:.1f}"


def _device(timing: Timing, environment: Environment) -> str:
    """The device, with the names of GPUs."""
    if not timing.device.startswith("cuda"):
        return timing.device
    gpus = ", ".join(dict.fromkeys(environment.gpus))
    return f"{timing.device} ({gpus})" if gpus else timing.device
