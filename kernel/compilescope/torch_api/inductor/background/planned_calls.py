"""Operator calls for which a library plans a kernel in each thread, and running them in advance.

cuDNN builds the kernel of an attention for its sizes: 38 to 53 ms of CPU time on an H200, after
which the driver loads it and blocks launches for 1.1 ms. torch keeps the plans of each thread
apart (``thread_local`` caches in ``aten/src/ATen/native/cudnn/MHA.cpp``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import torch
from torch._ops import OpOverload

from .undefined_outputs import argument

_PLANNED: frozenset[object] = frozenset(
    getattr(torch.ops.aten, name).default
    for name in (
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_cudnn_attention_backward",
    )
    if hasattr(torch.ops.aten, name)
)


class TensorSpec(msgspec.Struct, frozen=True):
    """A tensor without its values."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    """A name in ``torch``: ``"float16"``."""
    device_type: str


Argument = TensorSpec | bool | int | float | str | None


class PlannedCall(msgspec.Struct, frozen=True):
    """A call of one of ATen's operators, without the values of tensors."""

    operator: str
    """Its name in ``torch.ops.aten``, of its default overload."""
    args: tuple[Argument, ...]
    kwargs: dict[str, Argument]

    def run(self) -> None:
        """Runs it on zeros, on the current device and stream.

        Raises
        ------
        Exception
            Whatever the operator raises.
        """
        operator = getattr(torch.ops.aten, self.operator).default
        with torch.no_grad():
            operator(
                *map(_zeros, self.args),
                **{name: _zeros(value) for name, value in self.kwargs.items()},
            )


def planned_calls(graph: torch.fx.GraphModule) -> tuple[PlannedCall, ...]:
    """The distinct calls of a graph that a library plans in each thread.

    Without those of sizes that vary between calls, and those with dropout, which draw numbers.

    Parameters
    ----------
    graph
        A graph of ATen's operators with fake values, as Inductor takes it.
    """
    calls: list[PlannedCall] = []
    for node in graph.graph.nodes:
        if node.target in _PLANNED and not argument(node, "dropout_p"):
            call = _call(node.target, node.args, node.kwargs)
            if call is not None and call not in calls:
                calls.append(call)
    return tuple(calls)


def _call(
    operator: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]
) -> PlannedCall | None:
    try:
        return PlannedCall(
            operator.overloadpacket.__name__,
            tuple(map(_argument, args)),
            {name: _argument(value) for name, value in kwargs.items()},
        )
    except _VariesError:
        return None


class _VariesError(Exception):
    """An argument that is known only in a call."""


def _argument(value: object) -> Argument:
    if isinstance(value, torch.fx.Node):
        value = value.meta.get("val")
    if isinstance(value, torch.Tensor):
        return TensorSpec(
            _numbers(value.shape),
            _numbers(value.stride()),
            str(value.dtype).removeprefix("torch."),
            value.device.type,
        )
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise _VariesError


def _numbers(values: Sequence[object]) -> tuple[int, ...]:
    """The values as integers: symbolic ones vary."""
    numbers = tuple(value for value in values if isinstance(value, int))
    if len(numbers) != len(values):
        raise _VariesError
    return numbers


def _zeros(value: Argument) -> object:
    if not isinstance(value, TensorSpec):
        return value
    dtype = getattr(torch, value.dtype)
    return torch.empty_strided(
        value.size, value.stride, dtype=dtype, device=value.device_type
    ).zero_()
