"""Support for running a wrapper in a separate thread, concurrently with the user's calls.

Relies on ``Tensor._version``, and on the CUDA driver's ``cuThreadExchangeStreamCaptureMode``.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psutil
import torch

from ...operators.tensor_copies import copied

Library = Literal["cuBLAS", "cuDNN"]
_NICE = 10
_PAUSE_S = 0.005
"""Longer than many calls, so that each is delayed by one step at most."""
_COPIED_BYTES = 2**30
_RELAXED = 2
"""CU_STREAM_CAPTURE_MODE_RELAXED"""
_MAPS = Path("/proc/self/maps")
_OTHER_OPENMP = ("libiomp5", "libomp.")


class HeldValue(NamedTuple):
    """A value of a call, for another thread."""

    value: Any
    version: int | None
    """The memory's version at that time; None for a copy, which nothing writes to."""

    @property
    def is_unchanged(self) -> bool:
        """Whether nothing has written to it since."""
        return self.version is None or self.value._version == self.version


def hold(value: Any, *, copies: bool) -> HeldValue:
    """Keeps the current value, without its autograd history: under ``torch.no_grad``.

    Without ``copies`` a tensor's memory is shared and kept: the tensor may be given other memory
    meanwhile. Tensors of the inference mode are always copied: they count no versions.
    """
    if not isinstance(value, torch.Tensor):
        return HeldValue(value, None)
    if copies or value.is_inference():
        return HeldValue(copied(value), None)
    alias = value.detach()
    return HeldValue(alias, alias._version)


def bytes_of(value: Any) -> int:
    """About the memory that a copy takes, which has the gaps of the original."""
    if not isinstance(value, torch.Tensor) or not value.numel():
        return 0
    if value.layout is not torch.strided:
        return value.numel() * value.itemsize
    steps = zip(value.shape, value.stride(), strict=True)
    return value.itemsize * (1 + sum((size - 1) * stride for size, stride in steps))


def copied_bytes(value: Any, *, copies: bool) -> int:
    """The bytes that `hold` takes for a value."""
    is_copied = isinstance(value, torch.Tensor) and (copies or value.is_inference())
    return bytes_of(value) if is_copied else 0


def is_possible(device: int | None) -> bool:
    """Whether a run in parallel with the user's calls is safe in this process.

    Where parameters are spread over ranks, their memory is taken away between calls.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return False
    return device is None or _capture_mode() is not None


def prepare(devices: Sequence[int]) -> None:
    """Does at compile time what takes milliseconds, such as making the stream of a GPU's runs."""
    _may_lower_priority()
    for device in devices:
        _stream(device)
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64):
            _load_comparison(device, dtype)


def libraries_of(source: str) -> list[Library]:
    """Return the libraries that need a handle for each thread, of those that a wrapper calls.

    Parameters
    ----------
    source
        The code of a Python wrapper for a GPU.
    """
    libraries: list[Library] = ["cuBLAS"] if "extern_kernels." in source else []
    if "cudnn" in source or "convolution" in source:
        libraries.append("cuDNN")
    return libraries


@functools.cache
def prepare_library(device: int, library: Library) -> None:
    """Creates the handle and the workspace of a library for runs in this thread.

    That takes 4 to 6 ms on an H200, during which no other thread can launch anything. torch keeps
    the handles of threads that end for those that follow.
    """
    with running_in_background(device, mark(device)):
        values = torch.zeros(1, 1, 8, 8, device=torch.device("cuda", device))
        if library == "cuBLAS":
            torch.mm(values[0, 0], values[0, 0])
        else:
            torch.conv2d(values, values[..., :3, :3])


def copied_at_most(device: int | None) -> int:
    """How many bytes of a call's values may be copied: a quarter of the free memory.

    Parameters
    ----------
    device
        The GPU that has the values; None for the CPU.
    """
    if device is None:
        # Containers have less than is free.
        return min(psutil.virtual_memory().available // 4, _COPIED_BYTES)
    free, _ = torch.cuda.mem_get_info(device)
    return free // 4


def mark(device: int | None) -> Any:
    """A CUDA event after all work that this thread has submitted to its stream so far."""
    if device is None:
        return None
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(device))
    return event


@contextlib.contextmanager
def running_in_background(device: int | None, event: Any) -> Iterator[None]:
    """For the rest of this thread, the calls of other threads come first.

    On a GPU the block has a stream of its own, which waits for the event; the block ends when the
    GPU has done what it asked for. The capture of a CUDA graph on another thread continues.
    """
    _lower_priority()
    if device is None:
        yield
        return
    exchange = _capture_mode()
    if exchange is not None:
        exchange(ctypes.byref(ctypes.c_int(_RELAXED)))
    stream = _stream(device)
    with torch.cuda.device(device), torch.cuda.stream(stream):
        stream.wait_event(event)
        try:
            yield
        finally:
            stream.synchronize()


def yield_to_user() -> None:
    """Leaves the GIL and the GPU to the calls of other threads for a while."""
    time.sleep(_PAUSE_S)


def has_room(device: int | None, held: int) -> bool:
    """Whether a GPU has free memory for one more call besides those of this process.

    Parameters
    ----------
    device
        The GPU's number; None for the CPU, of which nothing is asked.
    held
        How many bytes of the memory in use such a call shares with the others.
    """
    if device is None:
        return True
    free, _ = torch.cuda.mem_get_info(device)
    return free >= torch.cuda.max_memory_allocated(device) - held


def allocated_bytes(devices: Sequence[int]) -> dict[int, int]:
    """GPU → the bytes of its memory that tensors of this process take."""
    return {device: torch.cuda.memory_allocated(device) for device in devices}


def has_room_again(before: Mapping[int, int]) -> bool:
    """Whether GPUs have memory for what they just ran once more, while its results are kept.

    Parameters
    ----------
    before
        `allocated_bytes` from before that.
    """
    for device, allocated in before.items():
        # At most: the process may have needed more earlier.
        needed = torch.cuda.max_memory_allocated(device) - allocated
        free, _ = torch.cuda.mem_get_info(device)
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        if free + cached < needed:
            return False
    return True


def _lower_priority() -> None:
    """Lowers the priority of this thread and of its OpenMP threads, which inherit it.

    GNU's OpenMP ends them with this thread; others would keep them for threads of the user's. Only
    Linux has priorities of threads.
    """
    if _may_lower_priority():
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


@functools.cache
def _may_lower_priority() -> bool:
    """Whether threads have priorities, and OpenMP ends the threads of a thread with it."""
    if sys.platform != "linux":
        return False
    try:
        maps = _MAPS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return not any(name in maps for name in _OTHER_OPENMP)


@functools.cache
def _load_comparison(device: int, dtype: torch.dtype) -> None:
    """Loads the kernels that compare tensors, which blocks all launches meanwhile."""
    for size in (1, 4096):
        values = torch.zeros(size, dtype=dtype, device=torch.device("cuda", device))
        torch.equal(values, values.clone())


@functools.cache
def _stream(device: int) -> Any:
    """One for all runs: cuBLAS keeps a workspace for each."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


@functools.cache
def _capture_mode() -> Any:
    """The driver's function that exempts a thread from other threads' captures; None without it.

    Otherwise allocating memory or loading a kernel would end a capture that the user's code began.
    """
    try:
        function = ctypes.CDLL("libcuda.so.1").cuThreadExchangeStreamCaptureMode
    except (OSError, AttributeError):
        return None
    function.restype, function.argtypes = ctypes.c_int, [ctypes.POINTER(ctypes.c_int)]
    return function
