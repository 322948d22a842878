"""Times several calls interleaved within a given time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

from ..report import Timing
from .sampler import Sampler
from .stopwatch import Call, stopwatch_for

_SAMPLES = 1_000
"""The target number of samples per call: batches of a fast call grow to fill its share of the
time."""
_MIN_ROUNDS = 11
"""The minimum number of rounds even if the time is up, within `OVERTIME` times it."""
OVERTIME = 4
MAX_SLOW_CALLS_S = 20.0
"""How long eleven rounds of slow calls may take where the builds took longer, as a rule: fewer than
eight rounds decide nothing."""
_WARM_SHARE = 0.25
_MAX_WARM_SHARE = 0.2
"""The same of ``longest_s``: two calls do not warm a slow one up."""


def time_calls(
    calls: Mapping[str, Call],
    *,
    budget_s: float = 1.0,
    before_each: Callable[[str], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] | None = None,
    device: str | None = None,
    longest_s: float | None = None,
) -> dict[str, Timing]:
    """Times calls interleaved after a warm-up, with a `Sampler`.

    Parameters
    ----------
    calls
        Name → call without arguments. The others are compared with the one named ``"eager"``.
    budget_s
        Seconds of sampling for all calls together, after warm-ups of a quarter of that at most.
        On a disturbed machine up to four times that, for eleven rounds. Each call is run at least
        twice, however long it takes.
    before_each
        Called with the name before every batch; not timed.
    cancelled
        Checked before every batch; if true, nothing more runs.
    progress
        Called with the fraction done.
    device
        Where the calls run, as for `Sampler`.
    longest_s
        How long eleven rounds may take, if that is more than four times ``budget_s``; a fifth of
        it, on top, is for warm-ups that have not settled before.

    Returns
    -------
    dict[str, Timing]
        Empty if it was canceled in the first round; if later, from the rounds before. Medians and
        intervals are in microseconds per call and include about 30 ns of the loop.
    """
    if not calls:
        return {}
    share_s = budget_s / len(calls)
    sampler = Sampler(
        calls,
        before_each=before_each,
        sample_s=share_s / _SAMPLES,
        stopwatch=stopwatch_for(device, time.perf_counter_ns),
    )
    warm_s = max(share_s * _WARM_SHARE, (longest_s or 0.0) * _MAX_WARM_SHARE / len(calls))
    for name in calls:
        sampler.warm_up(name, warm_s, cancelled)
    start_ns = time.perf_counter_ns()
    spent = 0.0
    overtime = OVERTIME if longest_s is None else max(OVERTIME, longest_s / budget_s)
    while spent < (1 if sampler.rounds >= _MIN_ROUNDS else overtime):
        if not sampler.round(cancelled):
            break
        taken_s = (time.perf_counter_ns() - start_ns) / 1e9
        spent = taken_s / budget_s if budget_s > 0 else math.inf
        if progress is not None:
            progress(min(1.0, spent))
    return {name: sampler.timing(name) for name in calls} if sampler.rounds else {}
