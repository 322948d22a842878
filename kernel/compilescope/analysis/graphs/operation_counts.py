"""Counts the arithmetic operations of an FX node.

A multiply-add counts as two operations, and any other computation of one element of the result
counts as one: the formulas are those of ``torch.utils.flop_counter`` for matrix products,
convolutions and attention, and the number of elements for the rest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from ..text.brackets import split_list

Shape = Sequence[int]

MOVES = frozenset(
    (
        "alias",
        "as_strided",
        "cat",
        "clone",
        "constant_pad_nd",
        "contiguous",
        "convert_element_type",
        "copy",
        "copy_",
        "detach",
        "device_put",
        "diagonal",
        "embedding",
        "empty",
        "empty_strided",
        "expand",
        "expand_copy",
        "fill",
        "fill_",
        "flip",
        "full",
        "full_like",
        "gather",
        "index",
        "index_put",
        "index_put_",
        "index_select",
        "inductor_force_stride_order",
        "iota",
        "lift_fresh_copy",
        "masked_scatter",
        "new_empty",
        "new_full",
        "new_ones",
        "new_zeros",
        "ones",
        "permute",
        "repeat",
        "reshape",
        "resize",
        "scatter",
        "scatter_",
        "select",
        "select_scatter",
        "slice",
        "slice_scatter",
        "_to_copy",
        "unfold",
        "view",
        "where",
        "scalar_tensor",
        "zeros",
        "_unsafe_index",
        "_unsafe_index_put",
        "_unsafe_index_put_",
        "inductor_seeds",
        "inductor_lookup_seed",
        "inductor_seed",
        "getitem",
        "auto_functionalized",
        "resize_",
        "set_",
        "lift_fresh",
    )
)
"""Operators that move or select elements without computing any."""

VIEWS = frozenset(
    (
        "alias",
        "as_strided",
        "chunk",
        "detach",
        "diagonal",
        "expand",
        "getitem",
        "lift_fresh",
        "movedim",
        "permute",
        "reshape",
        "_reshape_alias",
        "select",
        "slice",
        "split",
        "split_with_sizes",
        "squeeze",
        "t",
        "transpose",
        "unbind",
        "unfold",
        "unsqueeze",
        "_unsafe_view",
        "view",
        "view_as_complex",
        "view_as_real",
    )
)
"""Operators whose result is the storage of their first argument."""

IN_PLACE = frozenset(("copy_", "fill_", "index_put_", "_unsafe_index_put_", "scatter_"))
"""Operators that write to the storage of their first argument, and return it."""

WRITES_AT_MOST = {"index_put_": 2, "_unsafe_index_put_": 2, "scatter_": 2}
"""Operators that write to a part of it: the place of the argument with as many elements.

An ``index_put_`` may write more, if its values are broadcast.
"""

ITEM = ("operator.getitem", "_operator.getitem")
"""The targets of nodes that take one of several results."""

GATHERS = frozenset(("embedding", "index", "gather", "index_select", "_unsafe_index"))
"""Operators that read at most as many elements of their first argument as they return."""

_PER_INPUT = {
    **dict.fromkeys(("sum", "amax", "amin", "max", "min", "prod", "any", "all"), 1),
    **dict.fromkeys(("argmax", "argmin", "mean", "cumsum", "cumprod", "logsumexp"), 1),
    "var_mean": 4,
    "var": 4,
    "std": 4,
}
"""Reductions: operations per input element. A variance needs a mean, a difference, a square and a
sum."""


def is_product(target: str) -> bool:
    """Whether an operator is a matrix product, a convolution or an attention."""
    return operator_name(target) in _FORMULAS


def operations(
    target: str, shape: Shape, arguments: Sequence[Shape | None], texts: Sequence[str] = ()
) -> int | None:
    """Count the operations of one node; None if its operator has no formula.

    Parameters
    ----------
    target
        The node's: ``torch.ops.aten.addmm.default``.
    shape
        The result's.
    arguments
        The shapes of the positional arguments; None for one that is not a tensor.
    texts
        The positional arguments as the graph writes them.
    """
    name = operator_name(target)
    formula = _FORMULAS.get(name)
    if formula is not None:
        return formula(shape, arguments, texts)
    if name in MOVES or name in VIEWS:
        return 0
    if name in _PER_INPUT:
        taken = arguments[0] if arguments else None
        return None if taken is None else _PER_INPUT[name] * math.prod(taken)
    return math.prod(shape) if is_pointwise(target) else None


def is_pointwise(target: str) -> bool:
    """Whether an operator is torch's own and has no separate formula."""
    return target.startswith(_TORCHS) and operator_name(target) not in _OPAQUE


_TORCHS = ("torch.ops.aten.", "torch.ops.prims.", "torch.ops.inductor.", "operator.", "_operator.")


@functools.lru_cache(maxsize=1024)
def operator_name(target: str) -> str:
    """``torch.ops.aten.addmm.default`` is ``addmm``."""
    parts = target.removeprefix("torch.ops.").split(".")
    return parts[1] if len(parts) > 1 else parts[0]


_OPAQUE = frozenset(
    (
        "sort",
        "topk",
        "linalg_qr",
        "linalg_svd",
        "linalg_inv_ex",
        "linalg_cholesky_ex",
        "linalg_eigh",
        "unique",
        "_unique2",
        "nonzero",
        "fft_fft",
        "_fft_r2c",
        "_fft_c2r",
        "_fft_c2c",
        "bincount",
        "histc",
        "multinomial",
        "kthvalue",
        "median",
        "mode",
        "_cdist_forward",
        "_pdist_forward",
        "grid_sampler_2d",
        "upsample_bicubic2d",
        "linalg_solve",
        "max_pool2d_with_indices",
        "avg_pool2d",
        "_adaptive_avg_pool2d",
        "native_group_norm",
        "max_pool2d_with_indices_backward",
        "avg_pool2d_backward",
        "_low_memory_max_pool_with_offsets",
    )
)


def _matrix(
    out: Shape, arguments: Sequence[Shape | None], texts: Sequence[str], first: int = 0
) -> int | None:
    left = arguments[first] if len(arguments) > first else None
    return None if not left else 2 * math.prod(out) * left[-1]


def _after_bias(out: Shape, arguments: Sequence[Shape | None], texts: Sequence[str]) -> int | None:
    return _matrix(out, arguments, texts, 1)


def _convolution(out: Shape, arguments: Sequence[Shape | None], texts: Sequence[str]) -> int | None:
    image, weight = (*arguments, None, None)[:2]
    return _convolved(image, out, weight, is_transposed=_text(texts, 6) == "True")


def _convolution_backward(
    out: Shape, arguments: Sequence[Shape | None], texts: Sequence[str]
) -> int | None:
    """A product of the forward's size for each gradient: of the input and of the weight."""
    gradient, image, weight = (*arguments, None, None, None)[:3]
    product = _convolved(image, gradient, weight, is_transposed=_text(texts, 7) == "True")
    wanted = split_list(_text(texts, 10)[1:-1])[:2].count("True") if len(texts) > 10 else 2
    return None if product is None else wanted * product


def _convolved(
    image: Shape | None, result: Shape | None, weight: Shape | None, *, is_transposed: bool
) -> int | None:
    """Every weight of a channel meets each element of the result; of the input, if transposed."""
    met = image if is_transposed else result
    return None if met is None or weight is None else 2 * math.prod(met) * math.prod(weight[1:])


def _text(texts: Sequence[str], place: int) -> str:
    return texts[place] if place < len(texts) else ""


_Formula = Callable[[Shape, Sequence[Shape | None], Sequence[str]], int | None]
"""Counts from the result's shape, the arguments' shapes and their texts."""


def _attention(forward: bool, first: int) -> _Formula:
    def count(out: Shape, arguments: Sequence[Shape | None], texts: Sequence[str]) -> int | None:
        shapes = list(arguments[first : first + 3])
        if len(shapes) < 3 or any(shape is None or len(shape) < 3 for shape in shapes):
            return None
        query, key, value = (shape for shape in shapes if shape is not None)
        pairs = math.prod(query[:-1]) * key[-2]
        wide, deep = query[-1], value[-1]
        return 2 * pairs * (wide + deep) if forward else 2 * pairs * (3 * wide + 2 * deep)

    return count


_FORMULAS: dict[str, _Formula] = {
    **dict.fromkeys(("mm", "bmm", "_int_mm", "_scaled_mm", "mv", "dot", "vdot"), _matrix),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "_addmm_activation", "addbmm"), _after_bias),
    **dict.fromkeys(("_linear_pointwise", "mkl_linear", "_mkl_linear", "linear"), _matrix),
    "convolution": _convolution,
    "_convolution_pointwise": _convolution,
    "_convolution_pointwise_": _convolution,
    "convolution_backward": _convolution_backward,
    **dict.fromkeys(
        (
            "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_flash_attention",
            "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_cudnn_attention",
            "scaled_dot_product_attention",
            "_flash_attention_forward",
        ),
        _attention(True, 0),
    ),
    **dict.fromkeys(
        (
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            "_scaled_dot_product_flash_attention_backward",
            "_scaled_dot_product_efficient_attention_backward",
            "_scaled_dot_product_cudnn_attention_backward",
        ),
        _attention(False, 1),
    ),
}
