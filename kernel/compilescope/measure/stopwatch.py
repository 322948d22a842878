"""Times a batch of calls by the wall clock, and on CUDA also by the stream's events."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch

Call = Callable[[], object]
Clock = Callable[[], int]
"""A clock in nanoseconds, with an arbitrary origin."""

_CLOCK_STEPS = 1_000
"""The least length of a sample in steps of the clock, for an error of a thousandth."""


class Reading(NamedTuple):
    """The times of a batch in nanoseconds, at least 1 each."""

    wall: int
    """The time until all work was done (ns)."""
    host: int | None = None
    """The time until the last call returned; its kernels may still have been running."""
    device: int | None = None
    """The time between two events of the stream, before and after the batch."""


class Stopwatch(Protocol):
    """Times batches."""

    @property
    def device(self) -> str:
        """``cpu`` or ``cuda``."""

    @property
    def shortest_ns(self) -> int:
        """The shortest batch that the clocks can time accurately."""

    def now(self) -> int:
        """The wall clock, in ns."""

    def time(self, call: Call, batch: int) -> Reading:
        """Runs a number of calls one after the other. The loop itself costs about 30 ns."""


class HostStopwatch:
    """For synchronous calls."""

    device = "cpu"

    def __init__(self, clock: Clock = time.perf_counter_ns) -> None:
        self.now = clock
        step_ns = time.get_clock_info("perf_counter").resolution * 1e9
        self.shortest_ns = max(50_000, int(step_ns * _CLOCK_STEPS))

    def time(self, call: Call, batch: int) -> Reading:
        """Runs a number of calls."""
        start = self.now()
        for _ in itertools.repeat(None, batch):
            call()
        return Reading(max(self.now() - start, 1))


class CudaStopwatch:
    """For calls that start kernels on the current stream of a device.

    A batch begins on an idle device, and the wall clock stops when the device has finished. Events
    are read afterwards, to half a microsecond; they and the waiting cost some ten microseconds a
    batch, so a batch is a millisecond at least.

    Parameters
    ----------
    device
        ``cuda``: the current one; ``cuda:1``.
    """

    shortest_ns = 1_000_000

    def __init__(self, device: str = "cuda", clock: Clock = time.perf_counter_ns) -> None:
        self.now = clock
        self.device = "cuda"
        self._device = torch.device(device)

    def time(self, call: Call, batch: int) -> Reading:
        """Runs a number of calls, and waits for the device."""
        stream = torch.cuda.current_stream(self._device)
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize(self._device)
        start = self.now()
        first.record(stream)
        calls_start = self.now()
        for _ in itertools.repeat(None, batch):
            call()
        returned = self.now()
        last.record(stream)
        torch.cuda.synchronize(self._device)
        wall = self.now() - start
        device = int(first.elapsed_time(last) * 1e6)
        return Reading(max(wall, 1), max(returned - calls_start, 1), max(device, 1))


def stopwatch_for(device: str | None = None, clock: Clock = time.perf_counter_ns) -> Stopwatch:
    """The stopwatch for calls on a device.

    Parameters
    ----------
    device
        ``cpu``, ``cuda``, ``cuda:1``. If unknown, CUDA is assumed if this process has already
        initialized it. Checking must not initialize it, which takes a second and memory.
    """
    if device is None:
        started = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        device = "cuda" if started else "cpu"
    return CudaStopwatch(device, clock) if device.startswith("cuda") else HostStopwatch(clock)
