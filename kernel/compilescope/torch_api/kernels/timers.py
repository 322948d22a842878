"""Times what runs within a call, launch by launch, with torch's profiler.

On a CPU the generated kernels report themselves: under ``cpp.enable_kernel_profile`` each C++
kernel opens a range of the profiler in its first line, and the C++ wrapper opens one around each
library call. Operators that a Python wrapper calls always have ranges. On a GPU the driver times
each kernel on the device and reports the host call that launched it.

Relies on ``torch.profiler.profile`` (``.profiler.kineto_results.events()`` and its events' ``name,
start_ns, duration_ns, start_thread_id, device_type, correlation_id, linked_correlation_id``;
``activity_type`` and ``is_user_annotation`` where a version has them),
``torch._C._profiler._RecordFunctionFast``, ``torch._C._autograd._enable_record_function``,
``torch.autograd.profiler._is_profiler_enabled``,
``torch._inductor.output_code.CompiledFxGraph`` (``__call__``, ``source_code``), through which a
compiled graph is called in all versions, and the setting ``cpp.enable_kernel_profile``.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import torch
from torch._C._autograd import DeviceType
from torch.autograd import profiler as autograd_profiler
from torch.profiler import ProfilerActivity, profile

from ..process.patching import patched
from .profiler_events import CALL, GRAPH, Event, ProfiledCall, read_calls

SETTINGS = {"cpp.enable_kernel_profile": True}
"""Makes C++ kernels and the C++ wrapper open a profiler range."""

_EMPTY = "compilescope empty"
_OUTER = "compilescope outer"
_EMPTY_RANGES = 200
_NESTED = 20
_RUNTIME = re.compile(r"(?:cuda|cu|hip)[A-Z]\w+$")
_WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def is_profiling() -> bool:
    """Whether a profiler is already running: torch allows only one at a time."""
    return bool(autograd_profiler._is_profiler_enabled)


class Profiler:
    """Profiles calls, a number of them at a time.

    Parameters
    ----------
    device
        Whether the calls use a GPU.

    Attributes
    ----------
    calls
        All profiled calls, in order.
    empty_ns
        The profiler's time of an empty range, which is part of every range's time.
    inner_ns
        The most that a range adds to the range around it.
    """

    def __init__(self, *, device: bool) -> None:
        self.calls: list[ProfiledCall] = []
        self.empty_ns = self.inner_ns = 0.0
        self._device = device
        self._graphs: list[Any] = []

    def profile(
        self, call: Callable[[], object], *, calls: int, before: Callable[[], object]
    ) -> None:
        """Calls under the profiler, and adds to `calls`.

        Parameters
        ----------
        before
            Run before each call; not recorded.
        """
        from torch._inductor.output_code import CompiledFxGraph

        activities = [ProfilerActivity.CPU]
        if self._device:
            activities.append(ProfilerActivity.CUDA)
            torch.cuda.synchronize()
        with (
            _silent(),
            patched(CompiledFxGraph, "__call__", self._called),
            profile(activities=activities) as measured,
        ):
            _calibrate()
            for _ in range(calls):
                with _unrecorded():
                    before()
                with _mark(CALL):
                    call()
                if self._device:
                    torch.cuda.synchronize()
        results: Any = measured.profiler
        events = list(_events(results.kineto_results.events()))
        self.empty_ns = statistics.median(event.ns for event in events if event.name == _EMPTY)
        outer = statistics.median(event.ns for event in events if event.name == _OUTER)
        self.inner_ns = max(outer - self.empty_ns, 0.0) / _NESTED
        sources = [str(getattr(graph, "source_code", "")) for graph in self._graphs]
        self.calls += read_calls(events, sources)

    def _called(self, original: Callable[..., Any], graph: Any, *args: Any, **kwargs: Any) -> Any:
        places = (place for place, known_graph in enumerate(self._graphs) if known_graph is graph)
        number = next(places, len(self._graphs))
        if number == len(self._graphs):
            self._graphs.append(graph)
        with _mark(f"{GRAPH}{number}"):
            return original(graph, *args, **kwargs)


def _mark(name: str) -> Any:
    """A profiler range."""
    return torch._C._profiler._RecordFunctionFast(name)


@contextlib.contextmanager
def _unrecorded() -> Iterator[None]:
    """Opens no ranges on this thread in the block."""
    torch._C._autograd._enable_record_function(False)
    try:
        yield
    finally:
        torch._C._autograd._enable_record_function(True)


def _calibrate() -> None:
    """Measures empty ranges, and ranges that contain only an empty range."""
    empty = _mark(_EMPTY)
    for _ in range(_EMPTY_RANGES):
        with empty:
            pass
    for _ in range(_NESTED):
        with _mark(_OUTER):
            for _ in range(_NESTED):
                with empty:
                    pass


def _events(raw_events: Iterable[Any]) -> Iterator[Event]:
    for raw in raw_events:
        on_host = raw.device_type() == DeviceType.CPU
        name, activity = raw.name(), _activity(raw)
        if on_host:
            kind: Literal["host", "launch", "device"]
            kind = "launch" if _is_runtime(name, activity) else "host"
        elif _is_work(raw, name, activity):
            kind = "device"
        else:
            continue
        yield Event(
            name,
            raw.start_ns(),
            raw.duration_ns(),
            raw.start_thread_id(),
            kind,
            raw.correlation_id(),
            raw.linked_correlation_id(),
        )


def _activity(event: Any) -> str:
    tell = getattr(event, "activity_type", None)
    kind = tell() if tell is not None else None
    return kind if isinstance(kind, str) else ""  # a number in versions without names


def _is_runtime(name: str, activity: str) -> bool:
    """Whether a host event is a call of the GPU's driver."""
    if activity:
        return activity.endswith(("_runtime", "_driver"))
    return _RUNTIME.match(name) is not None


def _is_work(event: Any, name: str, activity: str) -> bool:
    """Whether a device event is work and not a copy of a host range."""
    if activity:
        return activity in _WORK or activity.endswith("kernel")
    is_annotation = getattr(event, "is_user_annotation", None)
    return not (is_annotation is not None and is_annotation()) and not name.startswith(
        ("## Call ", "compilescope ")
    )


_NO_LOG = "6"
_LEVEL = "KINETO_LOG_LEVEL"


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Silences the profiler's library on standard error, unless the user set its log level.

    The library reads the variable on its first use in a process; later this has no effect.
    """
    if _LEVEL in os.environ:
        yield
        return
    os.environ[_LEVEL] = _NO_LOG
    try:
        yield
    finally:
        os.environ.pop(_LEVEL, None)


def ranges_of(call: Callable[[], object], name: str, *, calls: int) -> list[float]:
    """The time of the host ranges with a name in some calls (ns), less that of an empty range."""
    with _silent(), profile(activities=[ProfilerActivity.CPU]) as measured:
        _calibrate()
        for _ in range(calls):
            call()
    results: Any = measured.profiler
    events = list(_events(results.kineto_results.events()))
    empty = statistics.median(event.ns for event in events if event.name == _EMPTY)
    return [
        max(event.ns - empty, 0.0)
        for event in events
        if event.name == name and event.kind == "host"
    ]
