"""Code generated in advance: packed, and within a memory limit.

Generating the other wrapper together with the requested one is cheap; generating it later is
expensive. A capture therefore keeps it, as `PregeneratedCode`, until it is requested.
"""

from __future__ import annotations

import itertools
import pickle
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ..analysis.guards.guard_tree import GuardMemory
from ..capture.records import Record
from ..report import Compilation, Node
from ..report.problem import Problem
from ..torch_api.inductor.cuda_graphs import CudaGraphSkip

USUAL_MB = 32.0
"""The memory limit for all captures of a process. A GPT with 12 layers takes 0.6 MB."""

Key = tuple[tuple[str, str], ...]
"""Inductor's settings, which determine the code that is generated from a capture."""


class Lowering:
    """The compilations of one wrapper of a lowering, for the report of the other wrapper.

    Both wrappers have the same graphs and guards, which are read once: while a report has those of
    one wrapper, the other's report takes them from there. Each report has its own copy of the
    guards.
    """

    def __init__(self) -> None:
        self.guards = GuardMemory()
        self._compilations: list[weakref.ref[Compilation]] = []

    def set_compilations(self, compilations: Sequence[Compilation]) -> None:
        """Records the compilations of a wrapper, once all of their graphs are complete."""
        self._compilations = [weakref.ref(compilation) for compilation in compilations]

    def compilations(self) -> dict[str, Compilation]:
        """The compilations that a report still holds, by id."""
        alive = [reference() for reference in self._compilations]
        return {compilation.id: compilation for compilation in alive if compilation is not None}


class PackedNodes(Mapping[str, list[Node]]):
    """A graph's text → its nodes, unpacked when they are first needed."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._unpacked: dict[str, list[Node]] | None = None

    def _nodes(self) -> dict[str, list[Node]]:
        if self._unpacked is None:
            self._unpacked = _unpack(self._packed)
        return self._unpacked

    def __getitem__(self, text: str) -> list[Node]:
        return self._nodes()[text]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes())

    def __len__(self) -> int:
        return len(self._nodes())


class Generated(msgspec.Struct, kw_only=True):
    """Everything that torch logged while it generated the code of a capture's graphs."""

    records: list[Record]
    nodes: Mapping[str, list[Node]]
    """The nodes of the graphs that the capture itself does not have."""
    lowering: Lowering = msgspec.field(default_factory=Lowering)
    """Shared by both wrappers if they come from one lowering."""
    problems: list[Problem] = []
    complaints: list[str] = []
    skips: list[CudaGraphSkip] = []


class PregeneratedCode:
    """A capture's code for variants that were not requested yet. Safe to use from any thread."""

    def __init__(self) -> None:
        self._next: dict[Key, Generated] = {}
        self._packed: dict[Key, _Packed] = {}
        with _lock:
            _all.add(self)

    def has(self, key: Key) -> bool:
        """Whether `pop` has something for these settings."""
        with _lock:
            return key in self._next or key in self._packed

    def put(self, key: Key, generated: Generated, *, is_next: bool) -> None:
        """Keeps generated code; the oldest, of any capture, is evicted first.

        Parameters
        ----------
        is_next
            Whether it is requested next: then it is not packed, and does not count against the
            limit.
        """
        if is_next:
            with _lock:
                self._next[key] = generated
            return
        packed = _Packed(
            number=next(_numbers),
            # Apart from the nodes, which are needed only where no report has the graphs.
            rest=_pack(msgspec.structs.replace(generated, nodes={}, lowering=_NONE)),
            nodes=_pack(dict(generated.nodes)),
            lowering=generated.lowering,
        )
        with _lock:
            self._packed[key] = packed
            _make_room()

    def pop(self, key: Key) -> Generated | None:
        """Removes and returns the code for these settings; None if there is none."""
        with _lock:
            generated = self._next.pop(key, None)
            packed = self._packed.pop(key, None)
        if generated is None and packed is not None:
            generated = _unpack(packed.rest)
            generated.nodes, generated.lowering = PackedNodes(packed.nodes), packed.lowering
        return generated


class _Packed(msgspec.Struct, kw_only=True):
    number: int
    """Higher is newer."""
    rest: bytes
    nodes: bytes
    lowering: Lowering

    @property
    def size(self) -> int:
        return len(self.rest) + len(self.nodes)


def _pack(value: object) -> bytes:
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)


def _unpack(packed: bytes) -> Any:
    # Packed above, in this process.
    return pickle.loads(zlib.decompress(packed))


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


def _make_room() -> None:
    entries = sorted(_entries(), key=lambda entry: entry[1].number)
    size = sum(packed.size for _, packed, _ in entries)
    for key, packed, code in entries:
        if size <= _limit_bytes:
            return
        del code._packed[key]
        size -= packed.size


def _entries() -> list[tuple[Key, _Packed, PregeneratedCode]]:
    return [(key, packed, code) for code in list(_all) for key, packed in code._packed.items()]


_NONE = Lowering()
"""Takes the place of a lowering in what is packed."""


_all: weakref.WeakSet[PregeneratedCode] = weakref.WeakSet()
_lock = threading.Lock()
_numbers = itertools.count()
_limit_bytes = int(USUAL_MB * 1e6)
