"""Suggests eager's generator where a kernel on a CPU takes long to draw random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ....report import Report, Suggestion, VariantReport
from ....report.units import duration, percent
from ...settings.variant_code import code_of
from ..slow_kernel import slow_kernel
from ..time_breakdown import time_breakdown
from .ranked_suggestion import Ranked

_SETTING = "fallback_random"


def against_random_numbers(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Suggests the setting if the slow kernel of the variant draws random numbers on a CPU.

    Inductor's C++ computes each random number on its own, without vector instructions.
    """
    slow = slow_kernel(now)
    call = time_breakdown(now)
    if slow is None or call is None or not slow.is_random or not slow.device.startswith("cpu"):
        return
    requested = msgspec.structs.replace(
        now.requested, options={**now.requested.options, _SETTING: True}
    )
    if requested == now.requested or any(
        variant.requested == requested and variant.timing is not None for variant in report.variants
    ):
        return  # in effect, or measured: then it is among the faster variants, or had no gain
    # The backward, which may take longer, is no part of the latency.
    whole_us = call.whole
    if now.timing is not None and slow.kernel.direction != "backward":
        whole_us = now.timing.median_us
    share = min(slow.us / whole_us, 1.0)
    yield Ranked(
        share,
        Suggestion(
            what="Draw random numbers with eager's generator",
            why=(
                f"{slow.takes}: on a CPU, generated code draws random numbers, as for dropout, one "
                "by one. With fallback_random torch draws them as eager does, and with its "
                "numbers: one more library call."
            ),
            gain=f"up to {duration(slow.us)} ({percent(share)}) less per call",
            basis="estimated",
            code=code_of(requested),
            requested=requested,
            view="kernels",
            of=now.name,
        ),
    )
