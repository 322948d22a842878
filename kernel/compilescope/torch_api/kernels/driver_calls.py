"""Measures the host's launch overhead within a wrapper on a GPU: the driver's calls.

Relies on ``torch.profiler.profile`` (``.profiler.kineto_results.events()``), as `timers`.
Under the profiler such a call takes a little longer than without.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from ..dynamo.wrapper_type import Inner

_STARTS = re.compile(r"(?:cuda|cu|hip)\w*(?:Launch|Memcpy|Memset)\w*$")
_CALLS = 10


def driver_us(inner: Inner, inputs: list[Any], *, grad: bool) -> list[float]:
    """The time of the driver's calls in one call of a wrapper, in µs; one sample per call."""
    samples = []
    with torch.set_grad_enabled(grad):
        for _ in range(_CALLS):
            torch.cuda.synchronize()
            with profile(activities=[ProfilerActivity.CUDA]) as measured:
                inner(list(inputs))
            events = measured.profiler.kineto_results.events()
            samples.append(
                sum(event.duration_ns() for event in events if _STARTS.match(event.name())) / 1000
            )
    return samples
