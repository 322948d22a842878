"""All graphs that the backend compiled, by the call of ``torch.compile`` that compiled them."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..report.tiers import sources
from .tiered_graph import TieredGraph

_lock = threading.Lock()
_graphs: weakref.WeakKeyDictionary[Any, list[TieredGraph]] = weakref.WeakKeyDictionary()
_others: list[TieredGraph] = []
"""Graphs whose call of ``torch.compile`` is unknown."""
_left: list[list[TieredGraph]] = []
"""The graphs of contexts that no longer exist: Dynamo keeps them for other contexts."""


def add(context: Any, graph: TieredGraph) -> None:
    """Registers a graph; ``context`` identifies its call of ``torch.compile``."""
    with _lock:
        _forget_dead()
        graphs = _others if context is None else _graphs.get(context)
        if graphs is None:
            graphs = _graphs[context] = []
            weakref.finalize(context, _left.append, graphs).atexit = False
        graphs[:] = [other for other in graphs if other.is_alive]
        graphs.append(graph)


def graphs_of(context: Any) -> list[TieredGraph]:
    """The graphs of one call of ``torch.compile`` that can still be called."""
    with _lock:
        return [graph for graph in _graphs.get(context, ()) if graph.is_alive]


def every() -> list[TieredGraph]:
    """All graphs that can still be called."""
    return [graph for graphs in _groups() for graph in graphs]


def others(context: Any) -> list[list[TieredGraph]]:
    """The graphs of each other call of ``torch.compile`` that can still be called."""
    own = graphs_of(context)
    return [graphs for graphs in _groups() if graphs != own]


def _groups() -> list[list[TieredGraph]]:
    with _lock:
        _forget_dead()
        groups = [*_graphs.values(), *_left, _others]
    alive = [[graph for graph in graphs if graph.is_alive] for graphs in groups]
    return [graphs for graphs in alive if graphs]


def _forget_dead() -> None:
    """Drops graphs of contexts that are gone and that cannot be called; the lock is held."""
    # A copy, as a context that is deleted meanwhile adds to the list.
    for graphs in list(_left):
        graphs[:] = [graph for graph in graphs if graph.is_alive]
        if not graphs:
            _left.remove(graphs)


sources.append(lambda: [graph.report() for graph in every()])


def after_fork() -> None:
    """In a child process: the thread that held the lock does not exist here."""
    global _lock
    _lock = threading.Lock()
    for graph in every():
        graph.after_fork()
