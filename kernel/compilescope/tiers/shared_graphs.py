"""Graphs that one call of ``torch.compile`` compiled and calls of another one's result use.

Dynamo keeps compiled code on code objects: instances of a class share it, as do several results of
``torch.compile`` for one function, as far as guards and backend allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from ..subject.subject import unwrap
from ..torch_api.dynamo import skipping
from ..torch_api.guards.guard_managers import graph_names, live_guards
from ..torch_api.guards.known_values import accepts
from ..torch_api.trace import compiled_callable
from ..torch_api.trace.entered_functions import closure_values, entered_functions
from . import graphs
from .tiered_graph import TieredGraph


def shared_graphs(compiled: Callable[..., Any], context: Any) -> list[TieredGraph]:
    """The graphs of other calls of ``torch.compile`` that calls of this result may use.

    Whether the guards hold is decided without arguments: by the module and the closure. Of a
    ``torch.compile`` with such a graph, those of functions that a call compiles on its own count,
    too. A torch that does not name its graphs has none.
    """
    around = skipping.wrapper_of(compiled)
    others = graphs.others(context)
    if around is None or not others:
        return []
    used: set[str] = set()
    unused: set[str] = set()
    for code, known in _entries(compiled):
        for guards in live_guards(code):
            fits = around.may_use(guards) and accepts(guards, known)
            (used if fits else unused).update(graph_names(guards))
    return [
        graph
        for group in others
        if any(graph.partners.name in used for graph in group)
        for graph in group
        if graph.partners.name not in unused - used
    ]


def _entries(compiled: Callable[..., Any]) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The codes that a call enters, with the values that each has in every call."""
    subject = unwrap(compiled)
    for function, first in entered_functions(subject):
        names = function.__code__.co_varnames
        yield (
            function.__code__,
            {**dict(zip(names, first, strict=False)), **closure_values(function)},
        )
    wrapper = compiled_callable.wrapper_code_of(compiled)
    if wrapper is not None:
        yield wrapper, {"fn": compiled_callable.module_of(subject) or subject}
