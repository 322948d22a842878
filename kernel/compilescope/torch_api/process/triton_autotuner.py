"""Finds torch's autotuner of Triton kernels, which is there only if Triton is installed."""

from __future__ import annotations


def autotuner() -> type | None:
    """The class ``CachingAutotuner`` of ``torch._inductor.runtime.triton_heuristics``."""
    try:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    except ImportError:
        return None
    return CachingAutotuner
