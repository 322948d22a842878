"""Runs the functions that higher-order operators take, such as a loop's body, under a mode.

A ``TorchDispatchMode`` gets such an operator as one call. Their kernels are written in Python and
call the functions, so that a mode sees what these compute if it is active then.

Relies on ``HigherOrderOperator.py_kernels``, on the arguments of ``torch.cond``'s and
``invoke_subgraph``'s operators and on ``generic_scan``: the kernels of these three refuse modes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._C import DispatchKey
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

_RUN_UNDER_MODES = {
    "associative_scan",
    "flex_attention",
    "flex_attention_backward",
    "map_impl",
    "while_loop",
    "while_loop_stack_output",
}
"""The operators whose own kernels run under modes and write to no tensor in other ways."""


def runs_under_modes(operator: HigherOrderOperator) -> bool:
    """Whether `run_under` can run an operator."""
    return _kernel(operator) is not None


def run_under(
    mode: TorchDispatchMode,
    operator: HigherOrderOperator,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Runs an operator once, so that a mode sees the operators that its functions call."""
    kernel = _kernel(operator)
    assert kernel is not None, "only operators of which runs_under_modes says so"
    with mode:
        return kernel(*args, **kwargs)


def _kernel(operator: HigherOrderOperator) -> Callable[..., Any] | None:
    name = operator.__name__
    if name == "cond":
        return _cond
    if name == "invoke_subgraph":
        return _invoke_subgraph
    if name == "scan":
        return _scan
    if name in _RUN_UNDER_MODES:
        kernels: dict[Any, Callable[..., Any]] = operator.py_kernels
        return kernels.get(DispatchKey.CompositeExplicitAutograd)
    return None


def _cond(
    predicate: Any, true_function: Any, false_function: Any, operands: tuple[Any, ...]
) -> Any:
    return (true_function if predicate else false_function)(*operands)


def _invoke_subgraph(subgraph: Any, identifier: str | None, *operands: Any) -> Any:
    return subgraph(list(operands)) if hasattr(subgraph, "_boxed_call") else subgraph(*operands)


def _scan(combine: Any, initial: Any, values: Any, additional: Any) -> Any:
    from torch._higher_order_ops.scan import generic_scan

    kernel: Any = generic_scan
    return kernel(combine, initial, values, additional_inputs=additional)
