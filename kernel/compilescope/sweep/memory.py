"""Measures the memory of a call."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

import torch

from ..processes.memory_status import status_bytes

_RESET = Path("/proc/self/clear_refs")
_CALLS = 3


class Memory:
    """The peak memory of a call, beyond what was in use at construction.

    On CUDA: what torch's allocator hands out, and what CUDA graphs keep for themselves. On the CPU:
    what the process grows by while the call runs, by the system's account; Linux only. Memory that
    is free in the process is given back to the system first, so that it is not taken from there.

    Parameters
    ----------
    device
        ``cpu``, ``cuda:0``.
    """

    def __init__(self, device: str) -> None:
        self._cuda = torch.device(device) if device.startswith("cuda") else None
        self._held = float(torch.cuda.memory_allocated(self._cuda)) if self._cuda else 0.0

    def measure(self, call: Callable[[], object]) -> float | None:
        """The memory that a call takes (bytes); None where that cannot be found out."""
        if self._cuda is not None:
            return self._of_cuda(call)
        if not _can():
            return None
        highest = 0.0
        for _ in range(_CALLS):
            growth = _growth(call)
            if growth is None:
                return None
            highest = max(highest, growth)
        return highest

    def _of_cuda(self, call: Callable[[], object]) -> float:
        gc.collect()
        torch.cuda.reset_peak_memory_stats(self._cuda)
        call()
        torch.cuda.synchronize(self._cuda)
        peak = torch.cuda.max_memory_allocated(self._cuda) - self._held
        # A graph's own pool is not handed out again: it is taken for as long as the graph lives.
        pools = sum(
            segment["total_size"]
            for segment in torch.cuda.memory_snapshot()  # type: ignore[no-untyped-call]
            if tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0)
        )
        return float(max(peak, pools, 0))


def _can() -> bool:
    return _RESET.exists() and status_bytes("VmHWM") is not None


def _growth(call: Callable[[], object]) -> float | None:
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    before = status_bytes("VmRSS") or 0.0
    call()
    return max((status_bytes("VmHWM") or 0.0) - before, 0.0)
