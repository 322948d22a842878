"""Describes Inductor's input to code generation in a form that another process can read.

The description has the post-grad graph, its wrapper, and the node that each buffer of the wrapper
holds. Symbolic sizes become the numbers that torch compiled with. It contains none of the user's
tensors, because a target has none.

Relies on ``torch._inductor.graph.GraphLowering`` (codegen, module, buffers, constants), and on
``origin_node`` and ``origins`` of Inductor's buffers.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import fx

from ..inductor.captured_graph import symbol_values
from ..process.patching import patched

MAX_CONSTANT_ELEMENTS = 1 << 16
"""The most elements of a constant whose values are included."""


class CannotDescribeError(Exception):
    """The graph cannot be described; the message is the end of a sentence that says why."""


class Shape(NamedTuple):
    """A tensor without its values."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    on_target: bool = True


class Ref(NamedTuple):
    """A reference to a node that is an argument of another."""

    name: str


class NamedObject(NamedTuple):
    """An object that is looked up by name: an operator, or a function of a module."""

    kind: str
    """operator, higher_order, function"""
    module: str
    name: str


@dataclasses.dataclass
class LoweredNode:
    """A node of the post-grad graph."""

    name: str
    op: str
    target: Any
    """A `NamedObject` for a call; the name for an attribute or a placeholder."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any
    """Its `Shape`, a number, None, or a tuple of these."""


@dataclasses.dataclass
class LoweredBuffer:
    """A variable of the wrapper."""

    name: str
    shape: Shape | None
    """None for a variable that holds several tensors."""
    node: str
    """The node whose value it holds, or empty."""
    origins: list[str]
    """The nodes that it was lowered from."""
    mutates: str
    """The buffer or input whose memory it is written into."""


@dataclasses.dataclass
class LoweredGraph:
    """One graph, as Inductor lowered it."""

    compile_id: str
    backward: bool
    wrapper: str
    """The Python wrapper."""
    nodes: list[LoweredNode]
    buffers: dict[str, LoweredBuffer]
    constants: dict[str, Any]
    """Name → the tensor, or its `Shape` if its values are not known."""
    subgraphs: dict[str, LoweredGraph]
    problem: str = ""
    """Why it cannot be run; its nodes are then missing."""


@contextlib.contextmanager
def collecting(graphs: list[LoweredGraph]) -> Iterator[None]:
    """Collects each graph for which Inductor generates a Python wrapper in the block."""
    from torch._inductor.graph import GraphLowering

    token = _collected.set(graphs)
    try:
        with patched(GraphLowering, "codegen", _codegen):
            yield
    finally:
        _collected.reset(token)


_collected: ContextVar[list[LoweredGraph] | None] = ContextVar(
    "compilescope_lowered_graphs", default=None
)


def _codegen(original: Any, lowering: Any) -> Any:
    result = original(lowering)
    graphs = _collected.get()
    if graphs is not None and not lowering.cpp_wrapper:
        graphs.append(_described(lowering, result[0].value))
    return result


def _described(lowering: Any, wrapper: str) -> LoweredGraph:
    from torch._guards import CompileContext

    described = LoweredGraph(
        compile_id=str(CompileContext.current_compile_id()),
        backward=bool(lowering.is_backward),
        wrapper=wrapper,
        nodes=[],
        buffers={},
        constants={},
        subgraphs={},
    )
    try:
        values = _Values(lowering.sizevars.shape_env)
        described.nodes, described.subgraphs = _nodes(lowering.module, values)
        described.buffers = {
            name: _buffer(name, buffer, values)
            for name, buffer in lowering.name_to_buffer.items()
            if hasattr(buffer, "get_name")
        }
        for name, constant in lowering.constants.items():
            described.constants[name] = _constant(constant, values)
    except CannotDescribeError as error:
        described.problem = str(error)
    return described


class _Values:
    """Replaces symbolic sizes by numbers."""

    def __init__(self, shape_env: Any) -> None:
        self._values = symbol_values(shape_env)

    def number(self, size: Any) -> Any:
        if isinstance(size, (bool, int, float)):
            return size
        if isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            size = size.node.expr
        value = size.xreplace(self._values) if hasattr(size, "xreplace") else size
        if getattr(value, "free_symbols", None):
            raise CannotDescribeError(f"a size depends on data: {size}")
        if isinstance(value, bool) or getattr(value, "is_Boolean", False):
            return bool(value)
        return int(value) if getattr(value, "is_integer", True) else float(value)

    def shape(self, size: Any, stride: Any, dtype: torch.dtype, device: Any) -> Shape:
        on_target = getattr(device, "type", "cpu") != "cpu"
        sizes = tuple(self.number(extent) for extent in size)
        return Shape(sizes, tuple(self.number(extent) for extent in stride), dtype, on_target)

    def describe(self, value: Any) -> Any:
        """A node's value, with a `Shape` in place of each tensor."""
        if isinstance(value, torch.Tensor):
            if value.layout != torch.strided:
                raise CannotDescribeError(f"a tensor's layout is {value.layout}")
            return self.shape(value.shape, value.stride(), value.dtype, value.device)
        if isinstance(value, (tuple, list)):
            return tuple(self.describe(item) for item in value)
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.number(value)
        return None


def _nodes(
    module: fx.GraphModule, values: _Values
) -> tuple[list[LoweredNode], dict[str, LoweredGraph]]:
    nodes, subgraphs = [], {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            inner = getattr(module, str(node.target), None)
            if isinstance(inner, fx.GraphModule):
                nested, deeper = _nodes(inner, values)
                subgraphs[str(node.target)] = LoweredGraph("", False, "", nested, {}, {}, deeper)
        nodes.append(
            LoweredNode(
                name=node.name,
                op=node.op,
                target=_target(node.target) if node.op == "call_function" else str(node.target),
                args=tuple(_argument(arg, values) for arg in node.args),
                kwargs={name: _argument(kwarg, values) for name, kwarg in node.kwargs.items()},
                value=values.describe(node.meta.get("val")),
            )
        )
    return nodes, subgraphs


def _target(target: Any) -> NamedObject:
    if isinstance(target, torch._ops.OpOverload):
        return NamedObject("operator", target.namespace, f"{target._opname}.{target._overloadname}")
    if isinstance(target, torch._ops.HigherOrderOperator):
        return NamedObject("higher_order", "", target.name())  # type: ignore[no-untyped-call]
    return NamedObject("function", target.__module__, target.__qualname__)


def _argument(value: Any, values: _Values) -> Any:
    if isinstance(value, fx.Node):
        return Ref(value.name)
    if isinstance(value, (tuple, list)):
        return (
            type(value)(_argument(item, values) for item in value)
            if type(value)
            in (
                tuple,
                list,
            )
            else [_argument(item, values) for item in value]
        )
    if isinstance(value, dict):
        return {name: _argument(item, values) for name, item in value.items()}
    if isinstance(value, slice):
        return slice(*[_argument(bound, values) for bound in (value.start, value.stop, value.step)])
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return values.number(value)
    if isinstance(value, torch.device):
        return torch.device("cpu")
    if isinstance(value, torch._ops.OpOverload):
        return _target(value)
    plain = (str, bool, int, float, complex, torch.dtype, torch.layout, torch.memory_format)
    if value is None or isinstance(value, plain):
        return value
    raise CannotDescribeError(f"an operator takes a {type(value).__name__}")


def _buffer(name: str, buffer: Any, values: _Values) -> LoweredBuffer:
    from torch._inductor.ir import MutationLayoutSHOULDREMOVE

    layout = buffer.maybe_get_layout() if hasattr(buffer, "maybe_get_layout") else buffer.layout
    mutates = ""
    if isinstance(layout, MutationLayoutSHOULDREMOVE):
        mutates = layout.get_buffer().get_name()
        layout = layout.real_layout()
    shape = None
    if hasattr(layout, "size") and hasattr(layout, "stride"):
        shape = values.shape(layout.size, layout.stride, layout.dtype, layout.device)
    node = buffer.get_origin_node()
    return LoweredBuffer(
        name=name,
        shape=shape,
        node=node.name if node is not None else "",
        origins=[origin.name for origin in buffer.get_origins()]
        if hasattr(buffer, "get_origins")
        else [origin.name for origin in buffer.origins],
        mutates=mutates,
    )


def _constant(tensor: Any, values: _Values) -> Any:
    from torch._subclasses.fake_tensor import FakeTensor

    if isinstance(tensor, FakeTensor) or tensor.numel() > MAX_CONSTANT_ELEMENTS:
        return values.describe(tensor)
    return tensor.detach().clone()
