"""The number of calls after which a variant has made up for its compile time."""

from __future__ import annotations

import math
from typing import Literal

from ...report import Payback, VariantReport
from ...report.units import duration
from .speedups import over_baseline
from .wording import round_number


def paybacks(variant: VariantReport) -> list[Payback]:
    """Paybacks for an empty and for a warm cache, if the times are known.

    The compile time is that of a separate process if there is one (`Startup`), otherwise of the
    first call here. A variant whose time does not differ from eager's never pays; one whose speedup
    is too noisy to judge gets no payback.
    """
    timing = variant.timing
    speedup = over_baseline(timing) if timing is not None else None
    if timing is None or timing.ratio is None or speedup is None:
        return []
    if speedup.standing in ("noisy", "few"):
        return []
    saved_us = timing.median_us * (timing.ratio - 1)
    results = []
    caches: tuple[Literal["cold", "warm"], ...] = ("cold", "warm")
    for cache in caches:
        seconds = first_call_s(variant, cache)
        if seconds is not None:
            pays = saved_us > 0 and timing.differs is not False
            calls = seconds * 1e6 / saved_us if pays else None
            results.append(Payback(cache=cache, compile_s=seconds, saved_us=saved_us, calls=calls))
    if results and all(payback.calls is None for payback in results):
        results[0].text = _NEVER
        return results
    for payback in results:
        payback.text = _text(payback)
    return results


_NEVER = "never pays for itself: it saves nothing per call"


def _text(payback: Payback) -> str:
    """When a variant has made up for its compile time, as the rest of a sentence about it."""
    when = f"with {payback.cache} caches ({duration(payback.compile_s * 1e6)})"
    if payback.calls is None:
        return f"never pays for itself {when}"
    calls = math.ceil(payback.calls)
    number = "1 call" if calls == 1 else f"about {round_number(calls)} calls"
    return f"pays for itself {when} after {number}, saving {duration(payback.saved_us)} each"


def first_call_s(variant: VariantReport, cache: Literal["cold", "warm"]) -> float | None:
    """A first call's time: in a separate process if there is one, otherwise here."""
    for startup in variant.startups:
        # The default is with precompiled headers; prefer it to the startup without them.
        if (
            startup.cache == cache
            and startup.precompiled_headers
            and startup.first_call_s is not None
        ):
            return startup.first_call_s
    measured = variant.compile_time if cache == "cold" else variant.warm_compile_time
    return measured.total_s if measured is not None else None
