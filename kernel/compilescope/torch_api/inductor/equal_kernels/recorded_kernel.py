"""The results of generating a kernel: recorded once, repeated for equal loops."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from .kernel_key import Names, Trial, UnknownError, has_symbols


class DecisionsDifferError(Exception):
    """torch decided differently for loops that are equal in everything that is compared."""


class Group:
    """A kernel under construction, from the loops of one node after the other."""

    def __init__(self, kernel_group: Any) -> None:
        self.kernel_group = kernel_group
        self.names = Names()
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

    def advance(self, generated: Generated | None) -> None:
        """Add the loops of a node, by the kernel that has them; None if they are not recorded."""
        self.is_known = self.is_known and generated is not None
        if generated is not None:
            self.history = (*self.history, generated.number)


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
class Generated:
    """The results of generating a node's code, with numbers in place of buffers' names."""

    parts: tuple[_Part, ...]
    scheduled: tuple[int, ...]
    lines: tuple[str | tuple[int | str, str], ...]
    """A line that is omitted if its buffer is not needed has that: its number, or its name if it is
    a local one, which the code contains."""
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


class Watch:
    """Records what torch does while it visits the nodes."""

    def __init__(self, nodes: Sequence[Any], names: Names) -> None:
        from torch._inductor.virtualized import V

        self._graph = V.graph
        self._positions = {id(node): position for position, node in enumerate(nodes)}
        self._numbers = names.numbers
        self._removed = set(self._graph.removed_buffers)
        self.parts: list[Callable[[], _Part]] = []
        self.local_names: set[str] = set()
        """The names of buffers that are kept on the stack; torch counts them in each kernel."""

    def generate(self, original: Callable[..., None], arguments: Any, nodes: Sequence[Any]) -> None:
        """Let torch generate the loops of nodes, and record what it decides."""
        from torch._inductor import config
        from torch._inductor.virtualized import V

        context = V.local_buffer_context
        self.local_names.update(getattr(context, "local_buffers", ()))
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


watch_in_context: ContextVar[Watch | None] = ContextVar("compilescope_kernel_watch", default=None)


def record(
    original: Callable[..., None], scheduling: Any, group: Group, node: Any
) -> Generated | None:
    """Lets torch generate a node; returns the results, or None if they cannot be reused."""
    kernel_group = scheduling.kernel_group
    code, scheduled = kernel_group.loops_code, len(kernel_group.scheduled_nodes)
    start = len(code._lines)
    watch = Watch(list(node.get_nodes()), group.names)
    token = watch_in_context.set(watch)
    try:
        original(node)
    finally:
        watch_in_context.reset(token)
    try:
        return _results(
            watch,
            group.names,
            node,
            kernel_group,
            kernel_group.scheduled_nodes[scheduled:],
            code._lines[start:],
        )
    except (UnknownError, LookupError, AttributeError):
        return None


def _results(
    watch: Watch,
    names: Names,
    node: Any,
    kernel_group: Any,
    scheduled: Sequence[Any],
    lines: Sequence[Any],
) -> Generated:
    from torch._inductor.codegen.common import InplacedBuffer

    nodes = list(node.get_nodes())
    positions = {id(inner): position for position, inner in enumerate(nodes)}
    numbers = names.numbers
    arguments = kernel_group.args
    if arguments.workspace_args:
        raise UnknownError("a workspace")
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
    return Generated(
        parts=tuple(part() for part in watch.parts),
        scheduled=tuple(positions[id(scheduled_node)] for scheduled_node in scheduled),
        lines=tuple(_line(line, numbers, watch.local_names) for line in lines),
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
        symbols=has_symbols(nodes),
    )


_WORD = re.compile(r"\w+")


def _line(line: Any, numbers: dict[str, int], local_names: set[str]) -> str | tuple[int | str, str]:
    from torch._inductor.codegen.common import DeferredLine

    text = line if isinstance(line, str) else line.line
    if any(word in numbers for word in _WORD.findall(text)):
        raise UnknownError("the code names a buffer")
    if isinstance(line, str):
        return line
    if type(line) is not DeferredLine:
        raise UnknownError(type(line).__name__)
    return line.name if line.name in local_names else numbers[line.name], text


def repeat(generated: Generated, scheduling: Any, group: Group, node: Any) -> None:
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
        kernel = Trial(arguments)
        with (
            V.set_kernel_handler(kernel),
            config.patch(inplace_buffers=config.inplace_buffers and part.may_reuse),
        ):
            for position in part.positions:
                nodes[position].decide_inplace_update()
                nodes[position].mark_run()
        if kernel.decisions != [(names[read], names[written]) for read, written in part.in_place]:
            raise DecisionsDifferError(f"{node.get_name()}: other buffers are written in place")
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
    for line in generated.lines:
        if isinstance(line, str):
            kernel_group.loops_code._lines.append(line)
        else:
            buffer, text = line
            name = buffer if isinstance(buffer, str) else names[buffer]
            kernel_group.loops_code._lines.append(DeferredLine(name, text))
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
