"""Everything that the code of a C++ kernel depends on, as a key.

Keys are equal only if torch generates the same code, but for the names of buffers. What is not
known to be covered raises `UnknownError`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

import sympy
import torch
from torch import fx

_WRAPPER_SETTINGS = re.compile(r"cpp_wrapper$|graph_partition$|triton\.")
"""Settings that a C++ kernel of the processor does not depend on, though the wrapper does."""

_PLAIN = (str, bytes, int, bool, type(None), torch.dtype, torch.device, torch.layout)


class UnknownError(Exception):
    """A kernel may depend on something in a way that is not known here."""


class Names:
    """Buffers by the order in which they first occur, so that other buffers may stand for them."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """Return a buffer's number; a new name gets the next one."""
        return self.numbers.setdefault(name, len(self.numbers))

    def list(self) -> list[str]:
        """Return the names by number."""
        return list(self.numbers)


def settings_key() -> Hashable:
    """Return the settings of torch that the code depends on."""
    from torch._inductor import config

    if config.comment_origin:
        raise UnknownError("comments name the nodes")
    values = config.get_config_copy()
    return (
        torch.get_num_threads(),
        *(
            (name, repr(value))
            for name, value in sorted(values.items())
            if not _WRAPPER_SETTINGS.match(name)
        ),
    )


def loops_key(names: Names, node: Any) -> Hashable:
    """Return what the code of a scheduler node's loops depends on besides the settings."""
    from torch._inductor.virtualized import V

    nodes = list(node.get_nodes())
    bodies = tuple(_node(inner, names) for inner in nodes)
    operations = {inner.get_name(): position for position, inner in enumerate(nodes)}
    outputs = tuple(
        tuple(_output(buf, operations, names) for buf in inner.outputs) for inner in nodes
    )
    parts = tuple(len(part.get_nodes()) for part in _parts(node))
    decisions = tuple(_reuse(inner, names) for inner in nodes)
    for name in names.list():
        names.number(V.graph.scheduler.mutation_real_name.get(name, name))
    buffers = tuple(_buffer(name, names) for name in names.list())
    return (
        type(node).__name__,
        getattr(node, "outer_loop_fusion_depth", None),
        parts,
        bodies,
        outputs,
        decisions,
        buffers,
        V.graph.aot_mode,
        # Facts about dynamic sizes are valid only for this graph.
        V.graph if has_symbols(nodes) else None,
    )


def _parts(node: Any) -> list[Any]:
    return list(node.get_outer_nodes()) if hasattr(node, "get_outer_nodes") else [node]


def _node(node: Any, names: Names) -> Hashable:
    from torch._inductor import ir
    from torch._inductor.loop_body import LoopBody
    from torch._inductor.scheduler import SchedulerNode

    if type(node) is not SchedulerNode or type(node.node) is not ir.ComputedBuffer:
        raise UnknownError(type(node.node).__name__)
    if type(node._body) is not LoopBody:
        raise UnknownError(type(node._body).__name__)
    key = (
        node.group[0],
        _hashable_form(node.group[1], {}, {}),
        _hashable_form(node._sizes, {}, {}),
        node.is_reduction(),
        type(node.node.data).__name__,
        _body(node._body, names),
        _body(node.node.get_default_sizes_body()[1], names),
    )
    dependencies = (*node.read_writes.reads, *node.read_writes.writes)
    return (key, tuple(names.number(dependency.name) for dependency in dependencies))


def _body(body: Any, names: Names) -> Hashable:
    usage = []
    buffers: dict[str, int] = {}
    for kind, entries in body.memory_usage.items():
        for entry in entries:
            number = None
            if entry.buffer_name is not None:
                number = buffers[entry.buffer_name] = names.number(entry.buffer_name)
            usage.append((kind.name, entry.index_name, number, entry.mode))
    blocks = (("", body.root_block), *body.subblocks.items())
    return (
        tuple((name, _hashable_form(expr, {}, {})) for name, expr in body.indexing_exprs.items()),
        tuple((var, _hashable_form(size, {}, {})) for var, size in body.var_ranges.items()),
        tuple(body.iter_vars),
        tuple(body.reduce_vars),
        tuple(body.indirect_vars),
        _hashable_form(body.indirect_var_ranges, {}, {}),
        _hashable_form(body.sizes, {}, {}),
        tuple(usage),
        tuple((name, _submodule(name, submodule)) for name, submodule in body.submodules.items()),
        tuple((name, _graph(block.graph, buffers)) for name, block in blocks),
    )


def _submodule(name: str, module: Any) -> Hashable:
    from torch._inductor.loop_body import LoopBody

    if name == "get_index":
        return None
    bind = module.clone
    if bind.func not in (LoopBody.bind_set_indirect_shim, LoopBody.bind_masked_shim):
        raise UnknownError(name)
    return (
        bind.func.__name__,
        _hashable_form(bind.args, {}, {}),
        _hashable_form(bind.keywords, {}, {}),
    )


def _graph(graph: fx.Graph, buffers: dict[str, int]) -> Hashable:
    numbers: dict[fx.Node, int] = {}
    lines = []
    for node in graph.nodes:
        lines.append(
            (
                node.op,
                node.target,
                _hashable_form(node.args, numbers, buffers),
                _hashable_form(node.kwargs, numbers, buffers),
            )
        )
        numbers[node] = len(numbers)
    return tuple(lines)


def _hashable_form(value: Any, nodes: dict[fx.Node, int], buffers: dict[str, int]) -> Hashable:
    """A form of the value that is equal only if the code is: 1 is neither 1.0 nor True."""
    if isinstance(value, fx.Node):
        return ("node", nodes[value])
    if isinstance(value, str) and value in buffers:
        return ("buffer", buffers[value])
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *(_hashable_form(item, nodes, buffers) for item in value))
    if isinstance(value, dict):
        return (
            "dict",
            *((key, _hashable_form(item, nodes, buffers)) for key, item in value.items()),
        )
    if isinstance(value, (*_PLAIN, sympy.Basic)):
        return (type(value), value)
    raise UnknownError(type(value).__name__)


def _output(buffer: Any, operations: dict[str, int], names: Names) -> Hashable:
    """A buffer that the loops write: who reads it decides whether it is needed afterwards."""
    users = {(operations.get(user.get_name(), -1), bool(user.is_weak)) for user in buffer.users}
    return (names.number(buffer.get_name()), tuple(sorted(users)))


def _reuse(node: Any, names: Names) -> Hashable:
    """Which buffers the node would write in place of which others, without side effects."""
    from torch._inductor.virtualized import V

    trial = Trial()
    with V.set_kernel_handler(trial):
        node.decide_inplace_update()
    return tuple((names.number(read), names.number(written)) for read, written in trial.decisions)


def _buffer(name: str, names: Names) -> Hashable:
    from torch._inductor.virtualized import V

    graph, scheduler = V.graph, V.graph.scheduler
    real = scheduler.mutation_real_name.get(name)
    renamed = scheduler.mutation_renames.get(name)
    buffer = graph.name_to_buffer.get(name)
    return (
        graph.get_dtype(name),
        _layout(buffer) if buffer is not None else None,
        # Names by which the code differs.
        name.startswith("seed"),
        "buf" in name,
        name in graph.removed_buffers,
        name in graph.inplaced_to_remove,
        None if real is None else names.numbers[real],
        None if renamed is None else names.numbers.get(renamed, -1),
    )


def _layout(buffer: Any) -> Hashable:
    layout = buffer.layout
    return (
        type(layout).__name__,
        *(
            _hashable_form(getattr(layout, name, None), {}, {})
            for name in ("size", "stride", "offset")
        ),
    )


def has_symbols(nodes: Iterable[Any]) -> bool:
    """Whether the loops' bounds or indices contain dynamic sizes."""
    for node in nodes:
        body = node._body
        variables = {*body.var_ranges, *body.indirect_vars}
        for value in (*body.indexing_exprs.values(), *body.var_ranges.values()):
            if getattr(value, "free_symbols", set()) - variables:
                return True
        for size in body.indirect_var_ranges.values():
            if getattr(size, "free_symbols", set()):
                return True
    return False


class Trial:
    """A kernel that records what would be written in place, without any effect."""

    def __init__(self, arguments: Any = None) -> None:
        self.args = self
        self.inplace_update_buffers: dict[str, str] = {}
        self.decisions: list[tuple[str, str]] = []
        self._arguments = arguments

    def make_inplace(self, read: str, written: str) -> None:
        """Record a decision, and apply it to the arguments if there are any."""
        self.decisions.append((read, written))
        if self._arguments is not None:
            self._arguments.make_inplace(read, written)
