"""How much of a captured graph must run, if only the capture is needed.

A graph runs for the code that follows it, and because the subject may fail on the values of its
tensors: an index out of range. If no code of the user follows, the operations after the last one
that may fail on values are skipped: the state is restored in any case.

Relies on ``GraphModule.compile_subgraph_reason`` (set by Dynamo), on Dynamo calling a backend
before it runs any of the frame, on the names of the functions through which torch calls a compiled
frame (``eval_frame.compile_wrapper``, ``OptimizedModule.__call__``, ``Module._call_impl``,
``convert_frame.*.__call__``) and on ``torch.nn.modules.module._has_any_global_hook``. Where torch
calls a frame in another way, graphs are run as a whole.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import torch
from torch import fx
from torch._dynamo import convert_frame, eval_frame
from torch._subclasses import FakeTensor
from torch.nn import functional
from torch.nn.modules import module as modules


class _EndedError(BaseException):
    """Ends a call whose remaining results are not needed."""


def call(compiled: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Calls what Dynamo compiles; `ending` may end the call early."""
    try:
        compiled(*args, **kwargs)
    except _EndedError:
        return


def ending(graph: fx.GraphModule, *, succeeds: bool = False) -> Callable[..., Any] | None:
    """What to run in place of a graph before the call ends; None if the whole graph must run.

    Ask in the backend, while Dynamo compiles the frame.

    Parameters
    ----------
    succeeds
        Whether the graph is known to succeed: then none of its operations has to run.
    """
    if not is_whole_call(graph):
        return None
    if succeeds:
        return _end
    if torch.are_deterministic_algorithms_enabled():  # more operations may raise
        return None
    nodes = list(graph.graph.nodes)
    fallible = [index for index, node in enumerate(nodes) if _may_fail(node)]
    if fallible and fallible[-1] == len(nodes) - 2:  # before the output
        return None
    needed = _first(graph, fallible[-1] + 1).forward if fallible else None

    def run(*args: Any) -> None:
        if needed is not None:
            needed(*args)
        raise _EndedError

    return run


def _end(*_: Any) -> None:
    raise _EndedError


def is_whole_call(graph: fx.GraphModule) -> bool:
    """Whether the call is this graph alone. Ask in the backend."""
    reason = getattr(graph, "compile_subgraph_reason", None)
    return reason is not None and not reason.graph_break and _calls_only_frame()


def _calls_only_frame() -> bool:
    """Whether `call` calls nothing but the frame that Dynamo compiles.

    No other code is between, and no hook of a module runs after the frame.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and not _begins_dynamo(frame):
        frame = frame.f_back
    while frame is not None and _is_dynamos(frame):
        frame = frame.f_back
    while frame is not None and frame.f_code is not call.__code__:
        if frame.f_code in _CALLS_OF_MODULES:
            if _has_hooks(frame.f_locals["self"]):
                return False
        elif not _is_wrapper(frame):
            return False
        frame = frame.f_back
    return frame is not None


def _begins_dynamo(frame: FrameType) -> bool:
    """Whether the frame is Dynamo's function that the interpreter calls for a new frame."""
    caller = frame.f_back
    return _is_dynamos(frame) and caller is not None and not _is_dynamos(caller)


def _is_dynamos(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_name == "__call__" and code.co_filename == convert_frame.__file__


def _is_wrapper(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_name == "compile_wrapper" and code.co_filename == eval_frame.__file__


_CALLS_OF_MODULES = (
    eval_frame.OptimizedModule.__call__.__code__,
    modules.Module._wrapped_call_impl.__code__,
    modules.Module._call_impl.__code__,
)


def _has_hooks(module: modules.Module) -> bool:
    any_hook: Callable[[], object] = modules._has_any_global_hook
    own = (
        module._forward_pre_hooks,
        module._forward_hooks,
        module._backward_pre_hooks,
        module._backward_hooks,
    )
    return any(own) or bool(any_hook())


def _first(graph: fx.GraphModule, count: int) -> fx.GraphModule:
    """The first nodes of a graph, as a graph without a result."""
    first = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for node in list(graph.graph.nodes)[:count]:
        copies[node] = first.node_copy(node, copies.__getitem__)
    first.output(())
    return fx.GraphModule(graph, first)


def _may_fail(node: fx.Node) -> bool:
    """Whether a node may raise what tracing with fake tensors does not; True if unknown."""
    if node.op in ("placeholder", "output"):
        return False
    target = node.target
    if node.op == "call_method" and isinstance(target, str):
        any_dtype, promotes = target in _SHAPING_METHODS, target in _METHODS
        strict = False
    elif node.op == "call_function":
        any_dtype, promotes, strict = target in _SHAPING, target in _PROMOTING, target in _STRICT
    else:
        return True
    if "out" in node.kwargs or not (any_dtype or promotes or strict):
        return True
    if target is functional.batch_norm and _argument(node, 5, "training"):
        return True
    used = [_value(argument) for argument in node.all_input_nodes]
    results = _tensors(_value(node))
    tensors = [*results, *(tensor for value in used for tensor in _tensors(value))]
    if not results or not all(map(_is_plain, tensors)):
        return True
    if any_dtype:
        # As an index, a tensor may be out of range.
        return target is operator.getitem and len(used) > 1
    checked = tensors if strict else results
    return any(tensor.dtype not in _USUAL for tensor in checked) or (
        strict and len({tensor.dtype for tensor in checked}) > 1
    )


def _argument(node: fx.Node, position: int, name: str) -> Any:
    return node.args[position] if len(node.args) > position else node.kwargs.get(name)


def _value(node: fx.Node) -> Any:
    return node.meta.get("example_value")


def _tensors(value: Any) -> list[torch.Tensor]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [tensor for tensor in values if isinstance(tensor, torch.Tensor)]


def _is_plain(tensor: torch.Tensor) -> bool:
    return type(tensor) is FakeTensor and tensor.layout is torch.strided


_USUAL = (torch.float32, torch.float64, torch.bfloat16)
"""The dtypes for which every device has all kernels."""

_SHAPING = {torch.arange, torch.cat, torch.stack, operator.getitem}
_SHAPING_METHODS = {
    "chunk", "contiguous", "expand", "flatten", "permute", "reshape", "split", "squeeze", "t",
    "transpose", "unbind", "unflatten", "unsqueeze", "view",
}  # fmt: skip
"""Operations that take every dtype."""

_PROMOTING = {
    operator.add, operator.mul, operator.neg, operator.pow, operator.sub, operator.truediv,
    torch.add, torch.cos, torch.mul, torch.relu, torch.rsqrt, torch.sigmoid, torch.sin, torch.sub,
    torch.tanh, functional.adaptive_avg_pool2d, functional.dropout, functional.gelu,
    functional.max_pool2d, functional.relu, functional.silu, functional.softmax,
}  # fmt: skip
_METHODS = {
    "add", "cos", "float", "mean", "mul", "pow", "relu", "rsqrt", "sigmoid", "sin", "softmax",
    "sub", "sum", "tanh",
}  # fmt: skip
"""Operations that take tensors of different dtypes, or only one tensor."""

_STRICT = {
    operator.matmul, torch.bmm, torch.conv1d, torch.conv2d, torch.matmul, torch.rms_norm,
    functional.batch_norm, functional.layer_norm, functional.linear, functional.rms_norm,
    functional.scaled_dot_product_attention,
}  # fmt: skip
"""Operations whose tensors must have the same dtype."""
