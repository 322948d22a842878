"""The peak rates of a device, with which a kernel's figures are compared.

A GPU's come from the catalog, or are measured if it is not there; a CPU's are measured. Memory is
measured by a copy much larger than the last-level cache, arithmetic by a matrix product. The
fastest of several runs counts, since a peak is not an average. A process measures a device once.
"""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Callable
from pathlib import Path

import torch

from ..analysis.kernels.rates import specified
from ..report import Peaks, devices
from ..torch_api.process.environment import environment
from .garbage_collection import gc_disabled

_CACHES = 4
"""The size of an array as a multiple of the last-level cache."""
_LEAST_BYTES, _MOST_BYTES = 128 * 2**20, 2 * 2**30
_FREE_SHARE = 8
"""An array uses at most the free memory divided by this."""
_COPY_S, _PRODUCT_S = 0.25, 0.25
"""Seconds for the copies, and for each dtype's products."""
_WIDTHS = (256, 512, 1024, 2048, 4096, 8192)
"""Sizes of square matrices: small ones do not fill a device, and large ones take too long on
some."""
_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def peaks_of(device: str) -> Peaks:
    """The peaks of ``"cpu"`` or of ``"cuda:0"``: a copy of what this process knows.

    If they have to be measured, the first call takes about a second and a half.
    """
    return copy.deepcopy(_peaks(device, _threads(device)))


def measured_again(peaks: Peaks) -> None:
    """Measures a device again and keeps the better result; used if a kernel exceeded the peak.

    A busy machine does not reach its peak.
    """
    if peaks.how != "measured":
        return
    threads = _threads(peaks.device)
    second = _measured(peaks.device, threads)
    for rates in (_peaks(peaks.device, threads), peaks):
        for name, rate in second.operations_per_s.items():
            rates.operations_per_s[name] = max(rate, rates.operations_per_s.get(name, 0.0))
        bandwidths = (second.bandwidth_bytes_per_s, rates.bandwidth_bytes_per_s)
        rates.bandwidth_bytes_per_s = max(bandwidth or 0.0 for bandwidth in bandwidths)


def _threads(device: str) -> int:
    return torch.get_num_threads() if device == "cpu" else 0


@functools.cache
def _peaks(device: str, threads: int) -> Peaks:
    if device != "cpu":
        specification = devices.find(torch.cuda.get_device_name(device))
        if specification is not None:
            peaks = specified(device, specification)
            peaks.cache_bytes = float(_last_cache_bytes(device)) or None
            return peaks
    return _measured(device, threads)


def _measured(device: str, threads: int) -> Peaks:
    on_gpu = device != "cpu"
    finish = functools.partial(torch.cuda.synchronize, device) if on_gpu else _nothing
    with gc_disabled(), torch.inference_mode():
        bandwidth, size = _bandwidth(device, finish)
        rates = {
            str(dtype).removeprefix("torch."): rate
            for dtype in _DTYPES
            if (rate := _products(device, dtype, finish)) is not None
        }
    where = "" if on_gpu else f", {threads} threads"
    return Peaks(
        device=device,
        name=torch.cuda.get_device_name(device) if on_gpu else environment().cpu,
        bandwidth_bytes_per_s=bandwidth,
        cache_bytes=float(_last_cache_bytes(device)) or None,
        operations_per_s=rates,
        how="measured",
        source=f"The fastest copy of {size / 2**20:.0f} MiB, and the fastest product of two square "
        f"matrices of each type{where}.",
    )


def _bandwidth(device: str, finish: Callable[[], object]) -> tuple[float, int]:
    """Bytes per second that a copy reads and writes, and the size of the array."""
    size = _array_bytes(device)
    source = torch.ones(size // 8, dtype=torch.float64, device=device)
    target = torch.zeros_like(source)
    until = time.perf_counter() + _COPY_S
    best = _best(lambda: target.copy_(source), until, finish)
    return 2 * source.nbytes / best, source.nbytes


def _array_bytes(device: str) -> int:
    if device == "cpu":
        import psutil

        free = psutil.virtual_memory().available
    else:
        free, _ = torch.cuda.mem_get_info(device)
    ideal = min(max(_CACHES * _last_cache_bytes(device), _LEAST_BYTES), _MOST_BYTES)
    return max(min(ideal, free // _FREE_SHARE), 2**20)


def _last_cache_bytes(device: str) -> int:
    """The size of a device's last-level cache; 0 if unknown, as of a CPU not under Linux."""
    if device != "cpu":
        return int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0))
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = [
        int(text[:-1]) * units[text[-1]]
        for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
        if (text := path.read_text().strip()) and text[-1] in units
    ]
    return max(sizes, default=0)


def _products(device: str, dtype: torch.dtype, finish: Callable[[], object]) -> float | None:
    """Operations per second of the fastest product; None if the device lacks the type."""
    best = 0.0
    start = time.perf_counter()
    for turn, width in enumerate(_WIDTHS, start=1):
        if best and time.perf_counter() + 2 * width**3 / best > start + _PRODUCT_S:
            break
        try:
            left = torch.full((width, width), 0.5, dtype=dtype, device=device)
            until = start + _PRODUCT_S * turn / len(_WIDTHS)
            took = _best(functools.partial(torch.matmul, left, left), until, finish)
        except (RuntimeError, NotImplementedError):
            # Without a result the device lacks the type; otherwise this size has no room.
            return best or None
        best = max(best, 2 * width**3 / took)
    return best


def _best(work: Callable[[], object], until: float, finish: Callable[[], object]) -> float:
    """The fastest run until a deadline, in seconds; from at least three runs."""
    best = float("inf")
    runs = 0
    while runs < 3 or time.perf_counter() < until:
        start = time.perf_counter()
        work()
        finish()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return max(best, 1e-9)


def _nothing() -> None:
    """Work on the CPU is done when it returns."""
