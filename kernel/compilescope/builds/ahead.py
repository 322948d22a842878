"""Code generated in advance: packed, and within a memory limit.

Generating the other wrapper together with the requested one is cheap; generating it later is
expensive. A capture therefore keeps it, as `Ahead`, until it is requested.
"""

from __future__ import annotations

import itertools
import pickle
import threading
import weakref
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec

from ..capture.records import Record
from ..report import Node
from ..report.problem import Problem
from ..torch_api.inductor.cuda_graphs import CudaGraphSkip

USUAL_MB = 32.0
"""The memory limit for all captures of a process. A GPT with 12 layers takes 0.6 MB."""

Key = tuple[tuple[str, str], ...]
"""Inductor's settings, which determine the code that is generated from a capture."""


class Generated(msgspec.Struct, kw_only=True):
    """Everything that torch emitted while it generated the code of a capture's graphs."""

    records: list[Record]
    nodes: dict[str, list[Node]]
    problems: list[Problem] = []
    complaints: list[str] = []
    skips: list[CudaGraphSkip] = []


class Ahead:
    """A capture's code for variants that were not requested yet. Safe to use from any thread."""

    def __init__(self) -> None:
        self._next: dict[Key, Generated] = {}
        self._packed: dict[Key, tuple[int, bytes]] = {}
        with _lock:
            _all.add(self)

    def has(self, key: Key) -> bool:
        """Whether `take` has something for these settings."""
        with _lock:
            return key in self._next or key in self._packed

    def put(self, key: Key, generated: Generated, *, is_next: bool) -> None:
        """Keeps generated code; the oldest, of any capture, is evicted first.

        Parameters
        ----------
        is_next
            It is requested next: it is not packed, and does not count against the limit.
        """
        if is_next:
            with _lock:
                self._next[key] = generated
            return
        packed = zlib.compress(pickle.dumps(generated, pickle.HIGHEST_PROTOCOL), 1)
        with _lock:
            self._packed[key] = (next(_numbers), packed)
            _make_room()

    def take(self, key: Key) -> Generated | None:
        """Removes and returns the code for these settings; None if there is none."""
        with _lock:
            generated = self._next.pop(key, None)
            _, packed = self._packed.pop(key, (0, b""))
        if generated is None and packed:
            # Packed above, in this process.
            generated = pickle.loads(zlib.decompress(packed))
        return generated


def key_of_settings(settings: Mapping[str, Any]) -> Key:
    """The key of Inductor's settings."""
    return tuple(sorted((name, repr(value)) for name, value in settings.items()))


def is_on() -> bool:
    """Whether code is generated in advance."""
    return _limit_bytes > 0


def limit(megabytes: float) -> None:
    """Sets the memory limit; what exceeds it is dropped."""
    global _limit_bytes
    with _lock:
        _limit_bytes = int(megabytes * 1e6)
        _make_room()


def kept_bytes() -> int:
    """The packed size of what is kept now."""
    with _lock:
        return sum(len(packed) for _, _, packed, _ in _entries())


def _make_room() -> None:
    entries = sorted(_entries(), key=lambda entry: entry[0])
    size = sum(len(packed) for _, _, packed, _ in entries)
    for _, key, packed, ahead in entries:
        if size <= _limit_bytes:
            return
        del ahead._packed[key]
        size -= len(packed)


def _entries() -> list[tuple[int, Key, bytes, Ahead]]:
    return [
        (number, key, packed, ahead)
        for ahead in list(_all)
        for key, (number, packed) in ahead._packed.items()
    ]


_all: weakref.WeakSet[Ahead] = weakref.WeakSet()
_lock = threading.Lock()
_numbers = itertools.count()
_limit_bytes = int(USUAL_MB * 1e6)
