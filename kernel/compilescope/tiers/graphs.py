"""All graphs that the backend compiled, by the call of ``torch.compile`` that they belong to."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..report.tiers import sources
from .tiered_graph import TieredGraph

_lock = threading.Lock()
_graphs: weakref.WeakKeyDictionary[Any, list[TieredGraph]] = weakref.WeakKeyDictionary()
_others: list[TieredGraph] = []
"""The context of graphs whose call of ``torch.compile`` is unknown."""


def add(context: Any, graph: TieredGraph) -> None:
    """Registers a graph; ``context`` identifies its call of ``torch.compile``."""
    with _lock:
        graphs = _others if context is None else _graphs.setdefault(context, [])
        graphs[:] = [other for other in graphs if other.is_alive]
        graphs.append(graph)


def graphs_of(context: Any) -> list[TieredGraph]:
    """The graphs of one call of ``torch.compile`` that can still be called."""
    with _lock:
        return [graph for graph in _graphs.get(context, ()) if graph.is_alive]


def every() -> list[TieredGraph]:
    """All graphs that can still be called."""
    with _lock:
        all_graphs = [*(graph for graphs in _graphs.values() for graph in graphs), *_others]
    return [graph for graph in all_graphs if graph.is_alive]


sources.append(lambda: [graph.report() for graph in every()])


def after_fork() -> None:
    """In a child process: the thread that held the lock does not exist here."""
    global _lock
    _lock = threading.Lock()
    for graph in every():
        graph.after_fork()
