"""Lists the operators whose results do not depend on the order of computation.

Relies on the names of ``aten``'s operators and on those of some of their overloads.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from . import arguments

_EXACT = {
    "_index_put_impl",
    "_to_copy",
    "_unsafe_index",
    "_unsafe_index_put",
    "abs",
    "alias_copy",
    "amax",
    "amin",
    "aminmax",
    "as_strided_copy",
    "cat",
    "ceil",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clone",
    "complex",
    "constant_pad_nd",
    "copy",
    "copysign",
    "cummax",
    "cummin",
    "detach_copy",
    "diagonal_copy",
    "diagonal_scatter",
    "embedding",
    "expand_copy",
    "fill",
    "flip",
    "floor",
    "fmax",
    "fmin",
    "full_like",
    "gather",
    "hardtanh",
    "index",
    "index_copy",
    "index_fill",
    "index_put",
    "index_select",
    "kthvalue",
    "lift_fresh_copy",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "max",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "maximum",
    "median",
    "min",
    "minimum",
    "mode",
    "nan_to_num",
    "nanmedian",
    "neg",
    "new_full",
    "new_ones",
    "new_zeros",
    "ones_like",
    "permute_copy",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "relu",
    "repeat",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "roll",
    "round",
    "scatter",
    "select_backward",
    "select_copy",
    "select_scatter",
    "sign",
    "slice_backward",
    "slice_copy",
    "slice_scatter",
    "sort",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "take",
    "threshold",
    "threshold_backward",
    "topk",
    "transpose_copy",
    "tril",
    "triu",
    "trunc",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "view_copy",
    "where",
    "zero",
    "zeros_like",
}
"""They copy, select or compare values, or round them to whole numbers; without ``_`` at the end."""

_INEXACT_OVERLOADS = {"decimals", "reduce", "value_reduce"}
"""Overloads of ``round`` and ``scatter`` that multiply or add."""


def is_exact(
    func: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    inputs: Sequence[torch.Tensor],
    result: torch.Tensor,
) -> bool:
    """Whether an operator's result is the same however it is computed.

    Parameters
    ----------
    func, args, kwargs
        The call of the operator.
    inputs
        The tensors of floats among its arguments.
    result
        One that it returns or writes to.
    """
    name = func.overloadpacket.__name__.removeprefix("_foreach_").removesuffix("_")
    if name not in _EXACT or func._overloadname in _INEXACT_OVERLOADS:
        return False
    if arguments.by_name(func._schema, args, kwargs).get("accumulate"):
        return False
    types = [tensor.dtype for tensor in inputs]
    # Going to a narrower type rounds.
    return functools.reduce(torch.promote_types, types, result.dtype) == result.dtype
