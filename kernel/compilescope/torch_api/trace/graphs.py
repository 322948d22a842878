"""Collects FX graphs at the moment when torch prints them for its trace.

Relies on ``torch.fx.GraphModule.print_readable`` (public; the trace's payloads come from it) and on
the keys of ``Node.meta``: ``val``, ``example_value``, ``stack_trace``, ``nn_module_stack``, and
those that `node_origins` reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch._guards import CompileContext
from torch.fx import GraphModule
from torch.fx import Node as FxNode

from ...report import Node, SourceLine
from ..process.patching import patched
from .node_origins import NodesWithOrigins, recorded_origins
from .printed_graphs import LastText
from .printed_sizes import printed_once
from .trace import is_users_own


class Collected(NodesWithOrigins):
    """The nodes of a live graph.

    The nodes of a subgraph (a branch of ``torch.cond``) come after the others, with the subgraph's
    name as a prefix: ``true_graph_0.sin``.
    """

    def __init__(self, graph: GraphModule) -> None:
        super().__init__()
        self.graphs.add(id(graph.graph))
        self._add(graph, "")

    def _add(self, graph: GraphModule, prefix: str) -> None:
        for fx_node in graph.graph.nodes:
            node = describe(fx_node)
            if prefix:
                node.name = prefix + node.name
                node.inputs = [prefix + name for name in node.inputs]
                node.users = [prefix + name for name in node.users]
            self.append(node)
            self.node_origins[node.name] = recorded_origins(fx_node)
        for name, child in _graphs_in(graph):
            self._add(child, f"{prefix}{name}.")


def _graphs_in(graph: GraphModule) -> Iterable[tuple[str, GraphModule]]:
    used = {node.target for node in graph.graph.nodes if node.op == "get_attr"}
    for name, child in graph.named_children():
        if isinstance(child, GraphModule) and name in used:
            yield name, child


Nodes = dict[str, list[Node]]
"""A graph's text → its nodes."""

_collected: ContextVar[Nodes | None] = ContextVar("compilescope_nodes", default=None)
_everywhere: list[Callable[[str, GraphModule], None]] = []
_last_text = LastText()


@contextmanager
def collecting(nodes: Nodes) -> Iterator[None]:
    """Adds the nodes of graphs that torch prints in this context to ``nodes``, keyed by text."""
    token = _collected.set(nodes)
    try:
        with printed_once(), patched(GraphModule, "print_readable", _print_readable):
            yield
    finally:
        _collected.reset(token)


# Compiled autograd prints its graph while Dynamo compiles whatever is called.
@torch.compiler.disable  # type: ignore[untyped-decorator]
def _print_readable(original: Any, self: GraphModule, *args: Any, **kwargs: Any) -> str:
    overheard = bool(_everywhere) and _is_users_own()
    text: str
    if overheard and not args:
        text = _last_text.text_of(self, kwargs, lambda: original(self, **kwargs))
    else:
        text = original(self, *args, **kwargs)
    nodes = _collected.get()
    if nodes is not None:
        _add(nodes, text, self)
    if overheard:
        for sink in tuple(_everywhere):
            sink(text, self)
    return text


@contextmanager
def collecting_everywhere(nodes: Nodes, failed: Callable[[Exception], None]) -> Iterator[None]:
    """Like `collecting`, for every graph that the user's code compiles, in any thread.

    Graphs of inspections are left out. Errors go to ``failed`` and never to the compilation.
    """

    def collect(text: str, graph: GraphModule) -> None:
        try:
            _add(nodes, text, graph)
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            failed(error)

    _everywhere.append(collect)
    try:
        with patched(GraphModule, "print_readable", _print_readable):
            yield
    finally:
        _everywhere.remove(collect)
        _last_text.forget()


def _is_users_own() -> bool:
    """Whether torch prints the graph for the user's compilation; users print graphs as well."""
    compile_id = CompileContext.current_compile_id()
    return compile_id is not None and is_users_own(compile_id.frame_id)


def _add(nodes: Nodes, text: str, graph: GraphModule) -> None:
    collected = nodes.get(text)
    if collected is None:
        nodes[text] = Collected(graph)
    elif isinstance(collected, Collected):
        collected.graphs.add(id(graph.graph))


def describe(node: FxNode) -> Node:
    """Converts an FX node to a report's node, with all its metadata."""
    value = node.meta.get("val", node.meta.get("example_value"))
    tensor = value if isinstance(value, torch.Tensor) else None
    module, module_type = _module(node)
    return Node(
        name=node.name,
        op=node.op,
        target=_target(node),
        args=_arguments(node),
        inputs=[used.name for used in node.all_input_nodes],
        users=[user.name for user in node.users],
        shape=None if tensor is None else [str(size) for size in tensor.shape],
        stride=_stride(tensor),
        dtype=None if tensor is None else str(tensor.dtype).removeprefix("torch."),
        device=None if tensor is None else str(tensor.device),
        sources=source_lines(node.meta.get("stack_trace") or ""),
        module=module,
        module_type=module_type,
    )


_FRAME = re.compile(r'^\s*File "(?P<file>[^"]*)", line (?P<line>\d+), in (?P<function>.*)$')


def source_lines(stack_trace: str) -> list[SourceLine]:
    """The frames of a formatted traceback, innermost last."""
    frames: list[SourceLine] = []
    lines = stack_trace.splitlines()
    for number, line in enumerate(lines):
        if match := _FRAME.match(line):
            code = lines[number + 1].strip() if number + 1 < len(lines) else ""
            if _FRAME.match(code):
                code = ""
            frames.append(
                SourceLine(
                    file=match["file"],
                    line=int(match["line"]),
                    function=match["function"],
                    code=code,
                )
            )
    return frames


def _target(node: FxNode) -> str:
    if isinstance(node.target, str):
        return node.target
    return str(torch.fx.node._get_qualified_name(node.target))


def _arguments(node: FxNode) -> str:
    parts = [repr(argument) for argument in node.args]
    parts += [f"{name}={argument!r}" for name, argument in node.kwargs.items()]
    return ", ".join(parts)


def _stride(tensor: torch.Tensor | None) -> list[str] | None:
    # Sparse and nested layouts have no strides; asking raises.
    if tensor is None or tensor.layout is not torch.strided:
        return None
    return [str(step) for step in tensor.stride()]


def _module(node: FxNode) -> tuple[str | None, str | None]:
    """The innermost module that the node was traced in: its path and type."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return None, None
    path, kind = list(stack.values())[-1]
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
    return _module_path(str(path)), name


_ITEM = re.compile(r"\['?([^'\]]*)'?\]")
_ROOT = re.compile(r"^[LG]\.(?:(?:self|fn)(?:\.|$)|__import_\w+\.)?|^L__self___")


def _module_path(source: str) -> str:
    """The path of a module from Dynamo's name for it: ``L['net'].layers.0`` is ``net.layers.0``.

    The subject itself, ``L['self']`` or ``L['fn']``, is left out, as in ``named_modules``. So is
    the Python module of a global of another module: ``G['__import___main__'].net`` is ``net``.
    Where the call changes an attribute of the module, Dynamo names a submodule by its entry in
    ``L['self'].__dict__['_modules']``.
    """
    path = _ITEM.sub(r".\1", source).replace(".__dict__.", ".").replace("._modules.", ".")
    return _ROOT.sub("", path)
