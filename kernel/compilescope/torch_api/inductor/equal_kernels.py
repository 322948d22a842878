"""Generates kernels that differ only in their buffers' names once.

Twelve equal layers repeat the same loops twelve times, and both wrappers contain the same loops.
`EqualKernels` caches the output of ``CppScheduling.codegen_node`` under everything that it depends
on, and reuses it for equal loops: the text, and the changes to the kernel's arguments and to the
graph. Decisions for each node, allocation and in-place reuse, are still torch's each time.

If anything unknown occurs, torch generates the kernel itself. The result is identical to torch's;
the tests compare both.

Stands on ``torch._inductor.codegen.cpp`` (CppScheduling.codegen_node, CppKernelProxy.codegen_nodes,
KernelGroup, WorkSharing), ``torch._inductor.codegen.common`` (KernelArgs, InplacedBuffer,
DeferredLine), ``torch._inductor.loop_body.LoopBody`` and ``torch._inductor.scheduler`` (users,
mutation_real_name, decide_inplace_update, mark_run). What a kernel depends on was read in the
versions of `PROVEN`; any other generates every kernel itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import sympy
import torch
from torch import fx

from ..process.patching import patched

PROVEN = ("2.13",)
"""The versions of torch in which the tests compare repeated kernels with generated ones."""

_WRAPPER_SETTINGS = re.compile(r"cpp_wrapper$|graph_partition$|triton\.")
"""Settings that a C++ kernel of the processor does not depend on, though the wrapper does."""

_PLAIN = (str, bytes, int, bool, type(None), torch.dtype, torch.device, torch.layout)


class _UnlikeError(Exception):
    """torch decided differently for loops that are equal in everything that is compared."""


class _UnknownError(Exception):
    """A kernel may depend on something in a way that is not known here."""


class EqualKernels:
    """The kernels generated so far, by what their code depends on.

    Belongs to one thread at a time.
    """

    def __init__(self) -> None:
        self.unlike = False
        """Whether torch decided differently for loops that compare equal."""
        self._generated: dict[Hashable, _Generated] = {}
        self._numbers = itertools.count()
        self._group: _Group | None = None
        self._graph: Any = None
        self._settings: Hashable = None
        self._complete = False

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Keeps the kernels that are generated in the block, and reuses kept ones."""
        from torch._inductor.codegen import cpp

        if not is_proven():
            yield
            return
        token = _current.set(self)
        try:
            with (
                patched(cpp.CppScheduling, "codegen_node", _codegen_node),
                patched(cpp.CppKernelProxy, "codegen_nodes", _codegen_nodes),
            ):
                yield
        finally:
            _current.reset(token)
            self._group = self._graph = None
            # A graph with sizes that may change would live as long as its kernels.
            self._generated = {
                key: generated
                for key, generated in self._generated.items()
                if not generated.symbols
            }

    @contextlib.contextmanager
    def complete(self) -> Iterator[None]:
        """Requires that every kernel generated in the block is already kept."""
        self._complete = True
        try:
            yield
        finally:
            self._complete = False

    def codegen(self, original: Callable[..., None], scheduling: Any, node: Any) -> None:
        """Does what ``original`` would do for this node."""
        group = self._group_of(scheduling.kernel_group)
        key = self._key(scheduling, group, node) if group.is_known else None
        generated = self._generated.get(key) if key is not None else None
        if generated is not None:
            try:
                _repeat(generated, scheduling, group, node)
            except _UnlikeError:
                self.unlike = True
                raise
        elif self._complete:
            raise LookupError(f"{node.get_name()} has a kernel of its own")
        elif key is None:
            original(node)
        else:
            generated = _record(original, scheduling, group, node)
            if generated is not None:
                generated.number = next(self._numbers)
                self._generated[key] = generated
        group.advance(generated)

    def _group_of(self, kernel_group: Any) -> _Group:
        if self._group is None or self._group.kernel_group is not kernel_group:
            self._group = _Group(kernel_group)
        return self._group

    def _key(self, scheduling: Any, group: _Group, node: Any) -> Hashable | None:
        """Everything that the code depends on; None if that is not known."""
        from torch._inductor.virtualized import V

        try:
            if self._graph is not V.graph:
                self._graph, self._settings = V.graph, _settings()
            loops = _loops(group.names, node)
        except Exception:  # noqa: BLE001 - whatever it is: torch generates the kernel itself
            return None
        return self._settings, group.history, loops


def is_proven() -> bool:
    """Whether this version of torch allows kernels to be reused."""
    return torch.__version__.startswith(tuple(f"{version}." for version in PROVEN))


_current: ContextVar[EqualKernels | None] = ContextVar("compilescope_equal_kernels", default=None)
_watch: ContextVar[_Watch | None] = ContextVar("compilescope_kernel_watch", default=None)


def _codegen_node(original: Any, self: Any, node: Any) -> None:
    from torch._inductor.codegen.cpp import CppKernelProxy, CppScheduling

    kernels = _current.get()
    plain = type(self) is CppScheduling and self.kernel_proxy_cls is CppKernelProxy
    if kernels is None or not plain:
        original(self, node)
    else:
        kernels.codegen(functools.partial(original, self), self, node)


def _codegen_nodes(original: Any, self: Any, nodes: Any) -> None:
    watch = _watch.get()
    if watch is None:
        original(self, nodes)
    else:
        watch.generate(functools.partial(original, self), self.kernel_group.args, nodes)


class _Names:
    """Buffers by the order in which they first occur, so that other buffers may stand for them."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def list(self) -> list[str]:
        return list(self.numbers)


class _Group:
    """A kernel under construction, from the loops of one node after the other."""

    def __init__(self, kernel_group: Any) -> None:
        self.kernel_group = kernel_group
        self.names = _Names()
        self.history: tuple[int, ...] = ()
        """The kernels generated for the nodes so far, by number."""
        arguments = kernel_group.args
        self.is_known = not (
            kernel_group.scheduled_nodes
            or kernel_group.loops_code
            or arguments.input_buffers
            or arguments.output_buffers
            or arguments.inplace_buffers
            or arguments.sizevars
        )

    def advance(self, generated: _Generated | None) -> None:
        self.is_known = self.is_known and generated is not None
        if generated is not None:
            self.history = (*self.history, generated.number)


# What the code depends on.


def _settings() -> Hashable:
    from torch._inductor import config

    if config.comment_origin:
        raise _UnknownError("comments name the nodes")
    values = config.get_config_copy()
    return (
        torch.get_num_threads(),
        *(
            (name, repr(value))
            for name, value in sorted(values.items())
            if not _WRAPPER_SETTINGS.match(name)
        ),
    )


def _loops(names: _Names, node: Any) -> Hashable:
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
        V.graph if _has_symbols(nodes) else None,
    )


def _parts(node: Any) -> list[Any]:
    return list(node.get_outer_nodes()) if hasattr(node, "get_outer_nodes") else [node]


def _node(node: Any, names: _Names) -> Hashable:
    from torch._inductor import ir
    from torch._inductor.loop_body import LoopBody
    from torch._inductor.scheduler import SchedulerNode

    if type(node) is not SchedulerNode or type(node.node) is not ir.ComputedBuffer:
        raise _UnknownError(type(node.node).__name__)
    if type(node._body) is not LoopBody:
        raise _UnknownError(type(node._body).__name__)
    key = (
        node.group[0],
        _plain(node.group[1], {}, {}),
        _plain(node._sizes, {}, {}),
        node.is_reduction(),
        type(node.node.data).__name__,
        _body(node._body, names),
        _body(node.node.get_default_sizes_body()[1], names),
    )
    dependencies = (*node.read_writes.reads, *node.read_writes.writes)
    return (key, tuple(names.number(dependency.name) for dependency in dependencies))


def _body(body: Any, names: _Names) -> Hashable:
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
        tuple((name, _plain(expr, {}, {})) for name, expr in body.indexing_exprs.items()),
        tuple((var, _plain(size, {}, {})) for var, size in body.var_ranges.items()),
        tuple(body.iter_vars),
        tuple(body.reduce_vars),
        tuple(body.indirect_vars),
        _plain(body.indirect_var_ranges, {}, {}),
        _plain(body.sizes, {}, {}),
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
        raise _UnknownError(name)
    return (bind.func.__name__, _plain(bind.args, {}, {}), _plain(bind.keywords, {}, {}))


def _graph(graph: fx.Graph, buffers: dict[str, int]) -> Hashable:
    numbers: dict[fx.Node, int] = {}
    lines = []
    for node in graph.nodes:
        lines.append(
            (
                node.op,
                node.target,
                _plain(node.args, numbers, buffers),
                _plain(node.kwargs, numbers, buffers),
            )
        )
        numbers[node] = len(numbers)
    return tuple(lines)


def _plain(value: Any, nodes: dict[fx.Node, int], buffers: dict[str, int]) -> Hashable:
    """A form of the value that is equal only if the code is: 1 is neither 1.0 nor True."""
    if isinstance(value, fx.Node):
        return ("node", nodes[value])
    if isinstance(value, str) and value in buffers:
        return ("buffer", buffers[value])
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *(_plain(item, nodes, buffers) for item in value))
    if isinstance(value, dict):
        return ("dict", *((key, _plain(item, nodes, buffers)) for key, item in value.items()))
    if isinstance(value, (*_PLAIN, sympy.Basic)):
        return (type(value), value)
    raise _UnknownError(type(value).__name__)


def _output(buffer: Any, operations: dict[str, int], names: _Names) -> Hashable:
    """A buffer that the loops write: who reads it decides whether it is needed afterwards."""
    users = {(operations.get(user.get_name(), -1), bool(user.is_weak)) for user in buffer.users}
    return (names.number(buffer.get_name()), tuple(sorted(users)))


def _reuse(node: Any, names: _Names) -> Hashable:
    """Which buffers the node would write in place of which others, without side effects."""
    from torch._inductor.virtualized import V

    trial = _Trial()
    with V.set_kernel_handler(trial):
        node.decide_inplace_update()
    return tuple((names.number(read), names.number(written)) for read, written in trial.decisions)


def _buffer(name: str, names: _Names) -> Hashable:
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
        *(_plain(getattr(layout, name, None), {}, {}) for name in ("size", "stride", "offset")),
    )


def _has_symbols(nodes: Iterable[Any]) -> bool:
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


class _Trial:
    """A kernel that records what would be written in place, without any effect."""

    def __init__(self, arguments: Any = None) -> None:
        self.args = self
        self.inplace_update_buffers: dict[str, str] = {}
        self.decisions: list[tuple[str, str]] = []
        self._arguments = arguments

    def make_inplace(self, read: str, written: str) -> None:
        self.decisions.append((read, written))
        if self._arguments is not None:
            self._arguments.make_inplace(read, written)


# What is generated.


@dataclasses.dataclass
class _Part:
    """A group of nodes whose loops torch generates together.

    Nodes that share their outer loops form separate parts. If torch then decides not to fuse them,
    it visits each a second time.
    """

    positions: tuple[int, ...]
    local: tuple[int, ...]
    """Buffers that are kept on the stack from here on."""
    restored: tuple[int, ...]
    """Buffers that are not kept there after all."""
    may_reuse: bool
    """Whether a buffer may be written in the place of another."""
    in_place: tuple[tuple[int, int], ...]
    removed: tuple[int, ...]
    """Buffers that are not needed afterwards."""
    removed_in_place: tuple[int, ...]


@dataclasses.dataclass
class _Generated:
    """The results of generating a node's code, with numbers in place of buffers' names."""

    parts: tuple[_Part, ...]
    scheduled: tuple[int, ...]
    lines: tuple[str | tuple[int, str], ...]
    threads: int | None
    """The parallel section that is open at the end."""
    inputs: tuple[tuple[int, str], ...]
    outputs: tuple[tuple[int, Any], ...]
    in_place: tuple[tuple[int, Any], ...]
    in_place_buffers: tuple[tuple[str, tuple[int, ...]], ...]
    sizes: tuple[tuple[Any, str], ...]
    symbols: bool
    """Whether there are dynamic sizes."""
    number: int = -1


class _Watch:
    """Records what torch does while it visits the nodes."""

    def __init__(self, nodes: Sequence[Any], names: _Names) -> None:
        from torch._inductor.virtualized import V

        self._graph = V.graph
        self._positions = {id(node): position for position, node in enumerate(nodes)}
        self._numbers = names.numbers
        self._removed = set(self._graph.removed_buffers)
        self.parts: list[Callable[[], _Part]] = []

    def generate(self, original: Callable[..., None], arguments: Any, nodes: Sequence[Any]) -> None:
        from torch._inductor import config

        graph, may_reuse = self._graph, bool(config.inplace_buffers)
        local = [name for name in graph.removed_buffers if name not in self._removed]
        restored = self._removed - set(graph.removed_buffers)
        self._removed = set(graph.removed_buffers)
        in_place_before = set(graph.inplaced_to_remove)
        decisions: list[tuple[str, str]] = []
        make_inplace = arguments.make_inplace

        def noted(read: str, written: str) -> None:
            decisions.append((read, written))
            make_inplace(read, written)

        arguments.make_inplace = noted
        try:
            original(nodes)
        finally:
            del arguments.make_inplace
        removed = [name for name in graph.removed_buffers if name not in self._removed]
        removed_in_place = [
            name for name in graph.inplaced_to_remove if name not in in_place_before
        ]
        self._removed.update(removed)

        def part() -> _Part:
            numbers = self._numbers
            return _Part(
                positions=tuple(self._positions[id(node)] for node in nodes),
                local=tuple(numbers[name] for name in local),
                restored=tuple(numbers[name] for name in restored),
                may_reuse=may_reuse,
                in_place=tuple((numbers[read], numbers[written]) for read, written in decisions),
                removed=tuple(numbers[name] for name in removed),
                removed_in_place=tuple(numbers[name] for name in removed_in_place),
            )

        self.parts.append(part)


def _record(
    original: Callable[..., None], scheduling: Any, group: _Group, node: Any
) -> _Generated | None:
    """Lets torch generate a node; returns the results, or None if they cannot be reused."""
    kernel_group = scheduling.kernel_group
    code, scheduled = kernel_group.loops_code, len(kernel_group.scheduled_nodes)
    start = len(code._lines)
    watch = _Watch(list(node.get_nodes()), group.names)
    token = _watch.set(watch)
    try:
        original(node)
    finally:
        _watch.reset(token)
    try:
        return _generated(
            watch,
            group.names,
            node,
            kernel_group,
            kernel_group.scheduled_nodes[scheduled:],
            code._lines[start:],
        )
    except (_UnknownError, LookupError, AttributeError):
        return None


def _generated(
    watch: _Watch,
    names: _Names,
    node: Any,
    kernel_group: Any,
    scheduled: Sequence[Any],
    lines: Sequence[Any],
) -> _Generated:
    from torch._inductor.codegen.common import InplacedBuffer

    nodes = list(node.get_nodes())
    positions = {id(inner): position for position, inner in enumerate(nodes)}
    numbers = names.numbers
    arguments = kernel_group.args
    if arguments.workspace_args:
        raise _UnknownError("a workspace")
    shared: list[Any] = []
    in_place: list[tuple[int, Any]] = []
    for name, buffer in arguments.inplace_buffers.items():
        if isinstance(buffer, InplacedBuffer):
            where = next((i for i, other in enumerate(shared) if other is buffer), len(shared))
            if where == len(shared):
                shared.append(buffer)
            in_place.append((numbers[name], where))
        else:
            in_place.append((numbers[name], buffer))
    return _Generated(
        parts=tuple(part() for part in watch.parts),
        scheduled=tuple(positions[id(scheduled_node)] for scheduled_node in scheduled),
        lines=tuple(_line(line, numbers) for line in lines),
        threads=kernel_group.ws.num_threads if kernel_group.ws.in_parallel else None,
        inputs=tuple((numbers[name], inner) for name, inner in arguments.input_buffers.items()),
        outputs=tuple((numbers[name], inner) for name, inner in arguments.output_buffers.items()),
        in_place=tuple(in_place),
        in_place_buffers=tuple(
            (
                in_place_buffer.inner_name,
                tuple(numbers[name] for name in in_place_buffer.other_names),
            )
            for in_place_buffer in shared
        ),
        sizes=tuple(arguments.sizevars.items()),
        symbols=_has_symbols(nodes),
    )


_WORD = re.compile(r"\w+")


def _line(line: Any, numbers: dict[str, int]) -> str | tuple[int, str]:
    from torch._inductor.codegen.common import DeferredLine

    text = line if isinstance(line, str) else line.line
    if any(word in numbers for word in _WORD.findall(text)):
        raise _UnknownError("the code names a buffer")
    if isinstance(line, str):
        return line
    if type(line) is not DeferredLine:
        raise _UnknownError(type(line).__name__)
    return numbers[line.name], text


def _repeat(generated: _Generated, scheduling: Any, group: _Group, node: Any) -> None:
    """Produces the results that torch would produce by generating the node."""
    from torch._inductor import config
    from torch._inductor.codegen.common import DeferredLine, InplacedBuffer
    from torch._inductor.virtualized import V

    kernel_group = scheduling.kernel_group
    arguments = kernel_group.args
    nodes, names, graph = list(node.get_nodes()), group.names.list(), V.graph
    for part in generated.parts:
        graph.removed_buffers.update(names[number] for number in part.local)
        for number in part.restored:
            graph.removed_buffers.discard(names[number])
        kernel = _Trial(arguments)
        with (
            V.set_kernel_handler(kernel),
            config.patch(inplace_buffers=config.inplace_buffers and part.may_reuse),
        ):
            for position in part.positions:
                nodes[position].decide_inplace_update()
                nodes[position].mark_run()
        if kernel.decisions != [(names[read], names[written]) for read, written in part.in_place]:
            raise _UnlikeError(f"{node.get_name()}: other buffers are written in place")
        graph.removed_buffers.update(names[number] for number in part.removed)
        graph.inplaced_to_remove.update(names[number] for number in part.removed_in_place)
    arguments.input_buffers = {names[number]: inner for number, inner in generated.inputs}
    arguments.output_buffers = {names[number]: inner for number, inner in generated.outputs}
    shared = [
        InplacedBuffer(inner, [names[number] for number in others])
        for inner, others in generated.in_place_buffers
    ]
    arguments.inplace_buffers = {
        names[number]: shared[buffer] if isinstance(buffer, int) else buffer
        for number, buffer in generated.in_place
    }
    arguments.sizevars = dict(generated.sizes)
    _open_section(kernel_group, generated.threads)
    kernel_group.loops_code._lines.extend(
        line if isinstance(line, str) else DeferredLine(names[line[0]], line[1])
        for line in generated.lines
    )
    kernel_group.scheduled_nodes += [nodes[position] for position in generated.scheduled]
    if scheduling._get_scheduled_num_args() > scheduling.MAX_FUSED_KERNEL_ARGS_NUM:
        scheduling._set_flush_status(True)


def _open_section(kernel_group: Any, threads: int | None) -> None:
    """Opens or closes the parallel section as the kept lines do, without a line of its own."""
    sharing, lines = kernel_group.ws, kernel_group.loops_code._lines
    length = len(lines)
    if sharing.in_parallel and threads is None:
        sharing.close()
    elif not sharing.in_parallel and threads is not None:
        sharing.in_parallel = True
        sharing.stack.enter_context(kernel_group.loops_code.indent())
    if threads is not None:
        sharing.num_threads = threads
    del lines[length:]
