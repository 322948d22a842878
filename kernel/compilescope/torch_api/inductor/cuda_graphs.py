"""Records why torch skips CUDA graphs, and how often it records and replays them.

Relies on the logger of ``torch._inductor.cudagraph_utils``, on ``CUDAGraphTreeManager`` with its
methods ``record_function``, ``execute_node`` and ``run_eager``, on
``CUDAGraphNode.check_invariants`` and on ``get_cudagraph_segments``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch._guards import CompileContext

from ..process.patching import patched

_LOGGER = "torch._inductor.cudagraph_utils"
_SKIPS = ("skipping cudagraphs", "skipping cudagraph ", "disabling cudagraphs")


class CudaGraphSkip(NamedTuple):
    """Torch's reason for skipping CUDA graphs."""

    reason: str
    compile_id: str
    """Torch's own compile id; empty if torch logged the reason at a call."""


_recorded_skips: ContextVar[list[CudaGraphSkip] | None] = ContextVar(
    "compilescope_cuda_graphs", default=None
)


@contextlib.contextmanager
def collecting_skips(skips: list[CudaGraphSkip]) -> Iterator[None]:
    """Appends the reasons that torch logs in this context for skipping CUDA graphs to ``skips``."""
    token = _recorded_skips.set(skips)
    try:
        with _handling(_SkipHandler(logging.WARNING)):
            yield
    finally:
        _recorded_skips.reset(token)


@contextlib.contextmanager
def _handling(handler: logging.Handler) -> Iterator[None]:
    # torch logs through a child logger, which has no level of its own unless the user set one.
    logger = logging.getLogger("torch._inductor")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _SkipHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        skips = _recorded_skips.get()
        if skips is not None:
            _add(skips, record)


def _add(skips: list[CudaGraphSkip], record: logging.LogRecord) -> None:
    if not record.name.startswith(_LOGGER):
        return
    try:
        text = record.getMessage()
    except (TypeError, ValueError):  # the message's format is wrong, which is torch's error
        return
    if not text.startswith(_SKIPS):
        return
    context = CompileContext.try_get()
    known = context is not None and context.compile_id is not None
    skip = CudaGraphSkip(
        text.strip(), str(context.compile_id) if known and context is not None else ""
    )
    if skip not in skips:
        skips.append(skip)


class Counts:
    """How often CUDA graphs were recorded and replayed while counting was on.

    Attributes
    ----------
    warmed, recorded, replayed
        Runs of graphs or partitions: warm-up runs, recordings, replays.
    re_recorded
        How many of the recordings replaced an existing graph that did not fit.
    reasons
        Torch's reasons why it did not fit.
    skips
        Torch's reasons for skipping CUDA graphs, logged at a call.
    """

    def __init__(self) -> None:
        self.warmed = self.recorded = self.replayed = self.re_recorded = 0
        self.reasons: list[str] = []
        self.skips: list[CudaGraphSkip] = []
        self._managers: list[Any] = []
        self._lock = threading.Lock()

    def count(self, manager: Any, name: str) -> None:
        """Counts one event of a kind."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)
            if all(known is not manager for known in self._managers):
                self._managers.append(manager)

    def note_reason(self, reason: str) -> None:
        """Keeps why a graph did not fit."""
        with self._lock:
            if reason not in self.reasons:
                self.reasons.append(reason)

    def memory_bytes(self) -> float | None:
        """The size of the memory pools of these graphs; it includes other graphs of the process."""
        from torch._inductor import cudagraph_trees

        managers = [manager for manager in self._managers if manager.graph is not None]
        if not managers:
            return None
        return float(
            sum(
                segment["total_size"]
                for manager in managers
                for segment in cudagraph_trees.get_cudagraph_segments(
                    manager.cuda_graphs_thread_pool
                )
            )
        )


_counting: list[Counts] = []
"""The active counters. Not a context variable: backward passes run in autograd's threads, which
inherit no context."""


@contextlib.contextmanager
def counting(counts: Counts) -> Iterator[None]:
    """Counts the CUDA graphs of all threads in the block; does nothing without CUDA."""
    if not torch.cuda.is_available():
        yield
        return
    from torch._inductor.cudagraph_trees import CUDAGraphNode, CUDAGraphTreeManager

    handler = _Counting(logging.WARNING)
    handler.counts = counts
    _counting.append(counts)
    try:
        with (
            _handling(handler),
            patched(CUDAGraphTreeManager, "record_function", _record),
            patched(CUDAGraphTreeManager, "execute_node", _replay),
            patched(CUDAGraphTreeManager, "run_eager", _warm),
            patched(CUDAGraphNode, "check_invariants", _check),
        ):
            yield
    finally:
        _counting.remove(counts)


class _Counting(logging.Handler):
    counts: Counts

    def emit(self, record: logging.LogRecord) -> None:
        _add(self.counts.skips, record)


def _record(original: Any, self: Any, inputs: Any, function_id: Any) -> Any:
    _count(self, "recorded")
    known = self.roots if self.current_node is None else self.current_node.children
    if known.get(function_id):
        _count(self, "re_recorded")
    return original(self, inputs, function_id)


def _replay(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    _count(self, "replayed")
    return original(self, *args, **kwargs)


def _warm(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    _count(self, "warmed")
    return original(self, *args, **kwargs)


def _check(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = original(self, *args, **kwargs)
    status = result[0]
    if status.name != "SUCCESS":
        for counts in _counting:
            counts.note_reason(str(status))
    return result


def _count(manager: Any, name: str) -> None:
    for counts in _counting:
        counts.count(manager, name)
