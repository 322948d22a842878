"""Runs a computation in which every operator rounds its result differently.

Compiled code rounds differently from eager: sums have another order, and fused operators are not
rounded in between. How far that changes a result depends on the program: a value that crosses zero
before a ReLU, or a gradient in which large terms cancel, changes by far more than one rounding
step. Here each operator's result is changed at random by up to two rounding steps, unless it cannot
round, so that the spread of a few runs shows the effect of rounding alone (the idea of Monte Carlo
arithmetic). The result of a long sum is changed by more: eager adds in pairs, generated code one
term after the other in each lane of a vector, whose error grows with the number of terms (N.
Higham, *Accuracy and Stability of Numerical Algorithms*, section 4.2).

A normalization computes in several steps. In its backward, terms of the size of the gradients
cancel, and the sum of what is left, such as the gradient of a bias before it, may be zero except
for the rounding of these terms: a change in proportion to the result would be zero too. Its steps
are those of torch's decomposition, from which compiled code is generated, and each rounds
differently.

Relies on ``torch.utils._python_dispatch.TorchDispatchMode``, which also sees the operators that
autograd runs, on ``torch._decomp``, and on ``FunctionSchema.is_mutable`` and
``Argument.alias_info`` of operators.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import tensors
from .double_precision import arguments_written
from .higher_order import run_under, runs_under_modes
from .order_independent import is_exact

_STEPS = 2
"""The most rounding steps by which a result is changed: a sum in another order differs by a few."""

_MAX_STEPS = 1024
"""Beyond that, the terms' errors cancel each other: a mean of millions is not off by percents."""

_LANES = 16
"""Of a vector of float32, each of which sums its share of the terms: half a step at most a term."""

_SUMS = {
    "cudnn_batch_norm",
    "dot",
    "linalg_vector_norm",
    "logsumexp",
    "mean",
    "mse_loss",
    "mv",
    "native_batch_norm",
    "nll_loss_forward",
    "norm",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
}
"""The operators that sum many values to each of few."""

_IN_STEPS = {
    "_fused_rms_norm_backward",
    "_log_softmax_backward_data",
    "_softmax_backward_data",
    "cudnn_batch_norm_backward",
    "native_batch_norm_backward",
    "native_group_norm",
    "native_group_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
}
"""The operators that subtract a sum's result from its terms, of those that write to no tensor."""

_PRODUCTS = {"addbmm", "addmm", "baddbmm", "bmm", "mm"}
"""The products of matrices, whose last two tensors are the factors."""

_CONVOLUTIONS = {"convolution", "mkldnn_convolution"}
"""The operators that sum what the second tensor, the weight, has for each channel."""


class OtherRounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode under which operators round differently; use `with_other_rounding`.

    Parameters
    ----------
    seed
        The seed of the rounding's own random numbers; the program's are not touched.

    Attributes
    ----------
    skipped
        Higher-order operators whose functions rounded as ever: only their results are changed.
    """

    supports_higher_order_operators = True

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seed = seed
        self.skipped: set[str] = set()
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator) and runs_under_modes(func):
            return run_under(self, func, args, kwargs)
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if _is_rounded(leaf)]
        result = func(*args, **kwargs)
        steps = _steps(func)
        if steps is not None:
            with self:
                rounded = steps(*args, **kwargs)
            for output, other in zip(tree_leaves(result), tree_leaves(rounded), strict=True):
                if _is_rounded(output):
                    output.copy_(other)
            return result
        storages = {tensor.untyped_storage()._cdata for tensor in inputs}
        changed = [
            leaf
            for leaf in tree_leaves(result)
            if _is_rounded(leaf) and leaf.untyped_storage()._cdata not in storages
        ]
        if isinstance(func, HigherOrderOperator):
            self.skipped.add(str(func))
            name, written = func.__name__, []
        else:
            # A result that depends on no tensor of floats is a constant, random, or of integers.
            if not inputs or torch.Tag.nondeterministic_seeded in func.tags:
                return result
            name = func.overloadpacket.__name__
            written = [
                tensor for tensor in arguments_written(func, args, kwargs) if _is_rounded(tensor)
            ]
            changed, written = (
                [tensor for tensor in group if not is_exact(func, args, kwargs, inputs, tensor)]
                for group in (changed, written)
            )
        for tensor in (*changed, *written):
            most = _terms(name, inputs, tensor) // (2 * _LANES)
            self._round(tensor, min(_MAX_STEPS, max(_STEPS, most)))
        return result

    def _round(self, tensor: torch.Tensor, most: int) -> None:
        generator = self._generators.get(tensor.device)
        if generator is None:
            generator = torch.Generator(tensor.device).manual_seed(self._seed)
            self._generators[tensor.device] = generator
        steps = torch.randint(
            -most, most + 1, tensor.shape, generator=generator, device=tensor.device
        )
        other = tensor + (tensor * (steps * torch.finfo(tensor.dtype).eps)).to(tensor.dtype)
        # The least number, as attention masks have it, stays finite.
        tensor.copy_(torch.where(other.isfinite(), other, tensor))


def _steps(func: Any) -> Callable[..., Any] | None:
    """The decomposition of an operator that rounds several times; None if it is taken as a whole.

    Its result has the strides of the operator's only by chance: the values are copied.
    """
    if isinstance(func, HigherOrderOperator) or func.namespace != "aten":
        return None
    if func.overloadpacket.__name__ not in _IN_STEPS or func._overloadname != "default":
        return None
    decompositions: dict[Any, Callable[..., Any]] = decomposition_table
    return decompositions.get(func)


def _terms(operator: str, inputs: Sequence[torch.Tensor], result: torch.Tensor) -> int:
    """About how many terms an operator sums for each value of a result; 1 where it sums none.

    Types of 16 bits are summed in float32, and rounded once.
    """
    if result.dtype.itemsize < _FULL or not result.numel():
        return 1
    if operator in _PRODUCTS and len(inputs) > 1:
        first = inputs[-2]
        return first.shape[-1] * (first.shape[0] if operator == "addbmm" else 1)
    if operator in _CONVOLUTIONS and len(inputs) > 1:
        return inputs[1].numel() // max(1, inputs[1].shape[0])
    sizes = sorted((tensor.numel() for tensor in inputs), reverse=True)
    if operator == "convolution_backward" and result.dim() > 1 and len(sizes) > 1:
        return math.isqrt(sizes[0] * sizes[1] // result.numel())
    if operator in _SUMS or operator == "convolution_backward":
        return sizes[0] // result.numel()
    return 1


_FULL = 4
"""Bytes of a float32."""


@contextlib.contextmanager
def with_other_rounding(seed: int) -> Iterator[OtherRounding]:
    """Runs the block in eager, each operator's result changed by a few rounding steps."""
    stance: Any = torch.compiler.set_stance
    with stance("force_eager"), OtherRounding(seed) as mode:
        yield mode


def _is_rounded(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and (value.is_floating_point() or value.is_complex())
        and value.dtype.itemsize > 1
        and value.layout == torch.strided
        and not value.is_meta
        and not value.is_nested
        and not tensors.is_wrapper(value)
        and value.untyped_storage().nbytes() > 0
    )
