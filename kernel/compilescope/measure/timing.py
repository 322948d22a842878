"""Calls timed side by side, so that what disturbs the machine disturbs them all."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping

import torch

from ..report import Timing
from .collection import resting
from .intervals import median_interval, ratio_interval

BASELINE = "eager"

_SHORTEST_NS = 50_000
_CLOCK_STEPS = 1_000
"""A sample is at least so many steps of the clock long: an error of a thousandth."""
_SAMPLES = 400
"""How many samples a call should get: batches of a fast one grow to fill its share of the time.
Many short ones, because a batch that the machine disturbs is spoilt as a whole."""
_FEWEST = 11
"""Rounds that are run even when the time is up, within `_OVERTIME` times it."""
_OVERTIME = 4
_WARM_SHARE = 0.25
_WARM_AGREE = 0.05
_WARM_GROUP = 3

Call = Callable[[], object]


def time_calls(
    calls: Mapping[str, Call],
    *,
    budget_s: float = 1.0,
    before_each: Callable[[str], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Timing]:
    """Times calls in turns: A B C, then C A B, then B C A.

    A sample is a batch of calls, long enough for the clock. Each call is first warmed up: batches
    grow until they are long enough, then run until two groups of them agree. The garbage collector
    rests meanwhile. On CUDA a batch ends when the device has finished.

    Parameters
    ----------
    calls
        Name → call without arguments. The one named ``"eager"`` is what the others are compared to.
    budget_s
        Seconds of sampling for all calls together, after warm-ups of a quarter of that at most.
        On a disturbed machine up to four times that, for eleven rounds. Each call is run at least
        twice, however long it takes.
    before_each
        Called with the name before every batch; not timed.
    cancelled
        Asked before every batch; once true, nothing more is run.
    progress
        Called with the fraction done.

    Returns
    -------
    dict[str, Timing]
        A call that was cancelled before its first sample is absent. Medians and intervals are
        microseconds a call and hold about 30 ns of the loop.
    """
    share_ns = int(budget_s * 1e9 / max(len(calls), 1))
    step_ns = time.get_clock_info("perf_counter").resolution * 1e9
    target_ns = max(_SHORTEST_NS, int(step_ns * _CLOCK_STEPS), share_ns // _SAMPLES)
    prepare = before_each or (lambda name: None)
    synchronize = _synchronizer()

    def sample(name: str, batch: int) -> int:
        prepare(name)
        call = calls[name]
        if before_each is not None:
            call()  # what was prepared may leave the interpreter's caches cold
        synchronize()
        start = time.perf_counter_ns()
        for _ in itertools.repeat(None, batch):
            call()
        synchronize()
        return max(time.perf_counter_ns() - start, 1)

    batches: dict[str, int] = {}
    warm_ups: dict[str, int] = {}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    with resting():
        for name in calls:
            if cancelled():
                return {}
            batches[name], warm_ups[name] = _warm_up(
                lambda batch, name=name: sample(name, batch),  # type: ignore[misc]
                target_ns,
                int(share_ns * _WARM_SHARE),
                cancelled,
            )
        for name in _turns(list(calls), progress, budget_s):
            if cancelled():
                break
            samples[name].append(sample(name, batches[name]) / batches[name] / 1000)

    device = "cuda" if synchronize is not _nothing else "cpu"
    return {
        name: _timing(name, samples, batches[name], warm_ups[name], device)
        for name in calls
        if samples[name]
    }


def _warm_up(
    sample: Callable[[int], int], target_ns: int, limit_ns: int, cancelled: Callable[[], bool]
) -> tuple[int, int]:
    """Runs a call until its time settles; returns the batch that fills a sample, and the calls."""
    end = time.perf_counter_ns() + limit_ns
    batch = calls = 1
    took = sample(batch)
    while took < target_ns and time.perf_counter_ns() < end and not cancelled():
        # A first call is slow: grow by the measured time, but never by more than ten.
        batch = min(batch * 10, max(batch * 2, math.ceil(batch * target_ns / took)))
        took = sample(batch)
        calls += batch
    before = math.inf
    best, now = float(took), float(took)
    while time.perf_counter_ns() < end and not cancelled():
        group = [sample(batch) for _ in range(_WARM_GROUP)]
        calls += batch * _WARM_GROUP
        before, now = now, statistics.median(group)
        best = min(best, *group)
        if abs(now - before) <= _WARM_AGREE * before:
            break
    # By the quickest: a disturbed batch would make the following ones too short or too long.
    return max(1, round(batch * target_ns / best)), calls


def _turns(
    names: list[str], progress: Callable[[float], None] | None, budget_s: float
) -> Iterator[str]:
    """Names in whole rounds, each round begun with the last of the one before."""
    start_ns = time.perf_counter_ns()
    for turn in itertools.count():
        first = -turn % len(names) if names else 0
        yield from names[first:] + names[:first]
        spent = (time.perf_counter_ns() - start_ns) / (budget_s * 1e9) if budget_s > 0 else math.inf
        if progress is not None:
            progress(min(1.0, spent))
        if spent >= (1 if turn + 1 >= _FEWEST else _OVERTIME):
            return


def _timing(
    name: str, samples: Mapping[str, list[float]], batch: int, warm_up: int, device: str
) -> Timing:
    own, baseline = samples[name], samples.get(BASELINE, [])
    timing = Timing(
        median_us=statistics.median(own),
        interval_us=median_interval(own),
        samples_us=own,
        calls_per_sample=batch,
        warmup_calls=warm_up,
        device=device,
        baseline=BASELINE,
    )
    if baseline and name != BASELINE:
        timing.ratio = statistics.median(baseline) / timing.median_us
        timing.ratio_interval = ratio_interval(baseline, own)
    return timing


def _nothing() -> None:
    """A CPU call is done when it returns."""


def _synchronizer() -> Callable[[], None]:
    # Never the first to touch CUDA: that takes a second and memory.
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return torch.cuda.synchronize
    return _nothing
