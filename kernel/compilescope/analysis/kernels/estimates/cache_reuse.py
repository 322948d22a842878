"""Which launches find what they read in a cache, by how much a call uses in between."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....report import Compilation
from .layout_copies import launch_calls

_MOST = 0.9
"""The share of a launch's data that has to be in the cache. Weights of a normalization, say, come
from memory, and hardly matter."""
Name = tuple[str, str, str]
"""Compilation, graph and name of a buffer: graphs name theirs alike."""


class _Use(NamedTuple):
    launch: tuple[str, str]
    sizes: dict[Name, float]
    """The buffers that the launch gets."""
    read: list[Name]
    """The buffers that it reads: they hold values before it."""


def cached_launches(
    compilations: Sequence[Compilation], cache_bytes: float
) -> set[tuple[str, str]]:
    """Compilation and key of each launch whose data are in the cache when calls are repeated.

    A buffer that it reads is there if all that was used since its last use, in this call or in the
    one before, fits in the cache together with it. What a launch writes goes there first.
    """
    uses = [use for compilation in compilations for use in _uses(compilation)]
    recent: OrderedDict[Name, float] = OrderedDict()
    cached: set[tuple[str, str]] = set()
    for is_repeated in (False, True):
        for use in uses:
            whole = sum(use.sizes.values())
            if is_repeated and 0 < whole <= cache_bytes:
                far = [name for name in use.read if not _is_within(recent, name, cache_bytes)]
                missing = sum(use.sizes[name] for name in far)
                if missing <= (1 - _MOST) * whole:
                    cached.add(use.launch)
            for name, size in use.sizes.items():
                recent[name] = size
                recent.move_to_end(name)
    return cached


def _uses(compilation: Compilation) -> Iterator[_Use]:
    """A compilation's launches in order. A buffer of unknown size, an unused result, is none."""
    seen: set[Name] = set()
    for key, call in launch_calls(compilation):
        graph = key.split(":")[1]  # ``launch:inference:3``
        sizes: dict[Name, float] = {}
        read: list[Name] = []
        for buffer in call.buffers:
            if buffer.bytes is not None:
                name = (compilation.id, graph, buffer.name)
                sizes[name] = buffer.bytes
                if name in seen or buffer.kind in ("input", "constant"):
                    read.append(name)
        seen.update(sizes)
        yield _Use((compilation.id, key), sizes, read)


def _is_within(recent: OrderedDict[Name, float], name: Name, limit: float) -> bool:
    """Whether a buffer and all that were used after it have at most so many bytes."""
    total = 0.0
    for other in reversed(recent):
        total += recent[other]
        if other == name or total > limit:
            break
    return total <= limit
