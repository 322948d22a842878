"""Reuses the text of a graph that torch prints again unchanged.

With its trace on, torch prints a graph before and after most of its passes. Many passes do not
change it, and printing is most of the overhead of tracing. So the last text is kept together with
everything that it depends on: if none of that has changed, the text is the same.

Relies on what ``torch.fx.graph.CodeGen._gen_python_code`` reads (as read in 2.13): of each node its
name, operation, target, arguments, type, and the keys of ``Node.meta`` below. Where it is uncertain
whether two values print the same, above all for symbolic sizes, torch prints the graph.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx import GraphModule, Node
from torch.fx.graph import CodeGen
from torch.fx.passes.shape_prop import TensorMetadata

_PLAIN = (str, int, float, bool, type(None), torch.dtype, torch.device)
_KEYS = ("stack_trace", "recompute", "ac_graph_id", "is_wrapped")
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class _UnknownError(Exception):
    """The graph contains a value whose printed form is not known here."""


class LastText:
    """The text of the graph that was printed last. Keeps no node and no tensor alive."""

    def __init__(self) -> None:
        self._last: tuple[Any, str] | None = None

    def text_of(
        self, graph: GraphModule, options: dict[str, Any], print_it: Callable[[], str]
    ) -> str:
        """Returns ``graph.print_readable(**options)``, by calling ``print_it`` if needed."""
        looks, last = None, self._last
        try:
            looks = _looks(graph, options)
            if last is not None and last[0] == looks:
                return last[1]
        except Exception:  # noqa: BLE001 - whatever it is, torch may print it
            looks = None
        text = print_it()
        if looks is not None:
            self._last = looks, text
        return text

    def forget(self) -> None:
        """Drops the text."""
        self._last = None


def _looks(module: GraphModule, options: dict[str, Any]) -> Any:
    """Everything that the text depends on, as a comparable value."""
    graph = module.graph
    generator = graph._codegen
    if (
        type(generator) is not CodeGen
        or generator._body_transformer is not None
        or options.get("additional_meta")
        or options.get("expanded_def")
        or options.get("print_output", True)
        or "FX_GRAPH_SHOW_META" in os.environ
        or any(isinstance(child, GraphModule) for child in module._modules.values())
    ):
        raise _UnknownError
    # It changes only how symbolic sizes are printed.
    relevant = {name: value for name, value in options.items() if name != "fast_sympy_print"}
    nodes = [_node(node) for node in graph.nodes]
    name: str = module._get_name()  # type: ignore[no-untyped-call]
    return name, generator._func_name, relevant, nodes


def _node(node: Node) -> tuple[Any, ...]:
    meta = node.meta
    if meta.get("custom"):
        raise _UnknownError
    return (
        node.name,
        node.op,
        node.target,
        node.type,
        [argument.name if type(argument) is Node else _value(argument) for argument in node.args],
        [(name, _value(argument)) for name, argument in node.kwargs.items()] if node.kwargs else (),
        _shown(meta.get("val", meta.get("tensor_meta", meta.get("example_value")))),
        [meta.get(key) for key in _KEYS],
    )


def _value(value: Any) -> Any:
    kind = type(value)
    if kind is Node:
        return (Node, value.name)
    if kind in _PLAIN:
        # 1, 1.0 and True are equal but print differently; -0.0 and nan are compared as text.
        return (kind, repr(value) if kind is float else value)
    if isinstance(value, (torch._ops.OpOverload, torch.memory_format, torch.layout)):
        return value
    if kind is slice:
        return (kind, _value(value.start), _value(value.stop), _value(value.step))
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return (kind, [_value(item) for item in value])
    raise _UnknownError


def _shown(value: Any) -> Any:
    """The printed part of a node's value: a tensor's type, and nothing for other values."""
    if isinstance(value, torch.Tensor):
        if type(value) not in (FakeTensor, torch.Tensor) or value.layout is not torch.strided:
            raise _UnknownError
        if value._has_symbolic_sizes_strides:
            raise _UnknownError  # comparing symbols would add guards on them
        return value.dtype, value.shape, value.stride(), value.device
    if isinstance(value, (*_SYMBOLS, TensorMetadata)):
        raise _UnknownError
    return None
