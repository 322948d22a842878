"""Counts the arithmetic operations of an FX node.

A multiply-add counts as two operations, and any other computation of one element of the result
counts as one: the formulas are those of ``torch.utils.flop_counter`` for matrix products,
convolutions and attention, and the number of elements for reductions and pointwise operators. No
other operator has a formula: a decomposition of a matrix or a sort does far more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from ..text.brackets import split_list
from .pointwise import is_pointwise

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
        "_alloc_from_pool",
        "_assert_async",
        "_assert_scalar",
        "_assert_tensor_metadata",
        "_functional_assert_async",
        "_jagged_to_padded_dense_forward",
        "_local_scalar_dense",
        "_make_token",
        "_padded_dense_to_jagged_forward",
        "_reinterpret_tensor",
        "_sink_tokens",
        "_unsafe_masked_index",
        "_upsample_nearest_exact1d",
        "_upsample_nearest_exact2d",
        "_upsample_nearest_exact3d",
        "arange",
        "as_strided_copy",
        "as_strided_scatter",
        "broadcast_in_dim",
        "broadcast_tensors",
        "complex",
        "copy_strided",
        "diagonal_copy",
        "diagonal_scatter",
        "empty_like",
        "empty_permuted",
        "expand_as",
        "inductor_rand_eager_offset",
        "inductor_rand_eager_offsets",
        "lift",
        "new_empty_strided",
        "ones_like",
        "permute_copy",
        "reflection_pad1d",
        "reflection_pad2d",
        "reflection_pad3d",
        "repeat_interleave",
        "replication_pad1d",
        "replication_pad2d",
        "replication_pad3d",
        "resize_storage_bytes_",
        "rev",
        "roll",
        "slice_copy",
        "squeeze_copy",
        "stack",
        "sym_constrain_range",
        "transpose_copy",
        "unsqueeze_copy",
        "upsample_nearest1d",
        "upsample_nearest2d",
        "upsample_nearest3d",
        "view_copy",
        "view_of",
        "zero",
        "zero_",
        "zeros_like",
    )
)
"""Operators that move or select elements without computing any."""

VIEWS = frozenset(
    (
        "alias",
        "as_strided",
        "chunk",
        "_conj",
        "detach",
        "diagonal",
        "expand",
        "getitem",
        "lift_fresh",
        "movedim",
        "_neg_view",
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

ACCUMULATES = frozenset(("scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"))
"""Operators that add to some elements of their first argument, one for each index."""

SCATTERS = frozenset((*ACCUMULATES, "scatter", "scatter_"))
"""Those, and operators that write to some elements, one for each index."""

UPDATES = frozenset(("scatter", "scatter_add", "scatter_reduce", "index_put", "_unsafe_index_put"))
"""Operators that are computed in place, in a copy of their first argument, by a library or a second
kernel."""

IN_PLACE = frozenset(("copy_", "fill_", *(f"{name}_" for name in UPDATES)))
"""Operators that write to the storage of their first argument, and return it."""

INDEX_WRITES = frozenset(("index_put", "index_put_", "_unsafe_index_put", "_unsafe_index_put_"))
"""Those of both that write to the elements that a list of indices selects."""

FOREACH_WRITES = frozenset(("_foreach_copy_", "_foreach_zero_"))
"""Operators that write to the tensors of their first list without reading them."""

CONTROL_FLOW = frozenset(
    f"{prefix}higher_order.{name}"
    for prefix in ("", "torch.ops.")
    for name in ("cond", "while_loop", "while_loop_stack_output", "invoke_subgraph")
)
"""The targets of nodes that run subgraphs, whose nodes compute."""

ITEM = ("operator.getitem", "_operator.getitem")
"""The targets of nodes that take one of several results."""

GATHERS = frozenset(("embedding", "index", "gather", "index_select", "_unsafe_index"))
"""Operators that read at most as many elements of their first argument as they return."""

_PER_INPUT = {
    **dict.fromkeys(("sum", "amax", "amin", "max", "min", "prod", "any", "all"), 1),
    **dict.fromkeys(("argmax", "argmin", "mean", "cumsum", "cumprod", "logsumexp"), 1),
    **dict.fromkeys(("cummax", "cummin", "logcumsumexp", "xor_sum"), 1),
    "upsample_nearest2d_backward": 1,
    **dict.fromkeys(("norm", "linalg_vector_norm"), 2),
    "prepare_softmax_online": 4,
    "var_mean": 4,
    "var": 4,
    "std": 4,
}
"""Reductions: operations per input element. A variance needs a mean, a difference, a square and a
sum; the online softmax a maximum, a difference, an exponential and a sum."""

_PER_INDEX = {
    **dict.fromkeys(("scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"), 2),
    **dict.fromkeys(("index_add", "index_add_", "index_reduce", "index_reduce_"), 3),
    "_unsafe_masked_index_put_accumulate": 3,
}
"""Reductions into a part of a tensor: the place of the argument of which each element is added."""

_SCANS = frozenset(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"))
"""Operators of `_PER_INPUT` whose result is as large as their input."""


def is_product(target: str) -> bool:
    """Whether an operator is a matrix product, a convolution or an attention."""
    return operator_name(target) in _FORMULAS


def is_reduction(target: str) -> bool:
    """Whether an operator reduces dimensions, other than a product."""
    name = operator_name(target)
    return name in _PER_INPUT and name not in _SCANS


def is_convolution(target: str) -> bool:
    """Whether an operator is a convolution, which may be transposed; not a gradient of one."""
    return operator_name(target) == "convolution"


def operations(
    target: str, shape: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str] = ()
) -> int | None:
    """Count the operations of one node; None if its operator has no formula.

    Parameters
    ----------
    target
        The node's: ``torch.ops.aten.addmm.default``.
    shape
        The result's; None if there are several results.
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
    if name in _PER_INDEX:
        place = _PER_INDEX[name]
        taken = arguments[place] if place < len(arguments) else None
        return None if taken is None else math.prod(taken)
    is_known = target.startswith(_TORCH_PREFIXES) and is_pointwise(name)
    return math.prod(shape) if is_known and shape is not None else None


def of_one_tensor(target: str) -> str | None:
    """The operator that a foreach operator applies to each tensor of its lists.

    ``torch.ops.aten._foreach_add_.List`` is ``torch.ops.aten.add_.List`` of many; None for others.
    """
    return target.replace(_FOREACH, "", 1) if operator_name(target).startswith(_FOREACH) else None


_FOREACH = "_foreach_"
_TORCH_PREFIXES = ("torch.ops.aten.", "torch.ops.prims.")


@functools.lru_cache(maxsize=1024)
def operator_name(target: str) -> str:
    """``torch.ops.aten.addmm.default`` is ``addmm``."""
    parts = target.removeprefix("torch.ops.").split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def _matrix(
    out: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str], first: int = 0
) -> int | None:
    left = arguments[first] if len(arguments) > first else None
    return None if not left or out is None else 2 * math.prod(out) * left[-1]


def _after_bias(
    out: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str]
) -> int | None:
    return _matrix(out, arguments, texts, 1)


def _summed_products(
    out: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str]
) -> int | None:
    """A product for each matrix of the batch; the result is their sum."""
    product = _matrix(out, arguments, texts, 1)
    batch = arguments[1] if len(arguments) > 1 else None
    return None if product is None or not batch else batch[0] * product


def _convolution(
    out: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str]
) -> int | None:
    image, weight = (*arguments, None, None)[:2]
    return _convolved(image, out, weight, is_transposed=_text(texts, 6) == "True")


def _convolution_backward(
    out: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str]
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


_Formula = Callable[[Shape | None, Sequence[Shape | None], Sequence[str]], int | None]
"""Counts from the result's shape, the arguments' shapes and their texts."""


def _attention(forward: bool, first: int) -> _Formula:
    def count(
        out: Shape | None, arguments: Sequence[Shape | None], texts: Sequence[str]
    ) -> int | None:
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
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "_addmm_activation"), _after_bias),
    "addbmm": _summed_products,
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
