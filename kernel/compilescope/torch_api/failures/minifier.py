"""torch's minifier: a smaller graph that still fails in the same way.

Relies on ``torch._functorch.fx_minifier``, ``torch.fx.experimental.proxy_tensor``, and
``torch._inductor.utils`` for a copy with the same layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch.fx_minifier import minifier
from torch._inductor.utils import clone_preserve_strides
from torch.fx import GraphModule, symbolic_trace
from torch.fx.experimental.proxy_tensor import make_fx


class OutOfTime(Exception):  # noqa: N818 - what was reached until then is a result
    """Raised by ``fails`` to stop."""


def as_operators(module: Any, inputs: Sequence[Any]) -> GraphModule:
    """The operators that torch runs for a module's call with these inputs, as a graph."""
    return make_fx(module, tracing_mode="real")(*map(fresh, inputs))


def as_written(module: Any, _: Sequence[Any]) -> GraphModule:
    """The calls in the text of a module's forward, as a graph: those that a backend is given."""
    graph = symbolic_trace(module)
    for node in graph.graph.nodes:
        # torch logs "f32[8]" as an annotation, which it would print as the name of a class.
        node.type = None
    graph.recompile()
    return graph


def minify(
    graph: GraphModule,
    inputs: Sequence[Any],
    fails: Callable[[GraphModule, Sequence[Any]], bool],
) -> tuple[GraphModule, Sequence[Any], bool]:
    """The smallest graph that torch's minifier reaches, its inputs, and whether it finished.

    Parameters
    ----------
    graph, inputs
        A graph for which ``fails`` is true.
    fails
        Whether a graph fails in the same way. It may raise `OutOfTime`.
    """
    latest: tuple[GraphModule, Sequence[Any]] = graph, inputs

    def note(smaller: GraphModule, smaller_inputs: Sequence[Any]) -> None:
        nonlocal latest
        latest = smaller, smaller_inputs

    try:
        minifier(graph, list(inputs), fails, note, skip_sanity=True)
    except OutOfTime:
        return *latest, False
    return *latest, True


def operators_in(graph: GraphModule) -> int:
    """The number of operators that a graph calls."""
    return sum(node.op not in ("placeholder", "output", "get_attr") for node in graph.graph.nodes)


def text_of(graph: GraphModule) -> str:
    """A graph as a Python class; empty if it has constants or graphs of its own."""
    if any(node.op in ("get_attr", "call_module") for node in graph.graph.nodes):
        return ""
    text: str = graph.print_readable(print_output=False, colored=False)
    return text


def fresh(value: Any) -> Any:
    """A copy of an input with the same layout, which a graph may change."""
    if not isinstance(value, torch.Tensor):
        return value
    return clone_preserve_strides(value)
