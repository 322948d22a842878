"""Whether an attention operator is causal: each operator has the flag in a different argument."""

from __future__ import annotations

from collections.abc import Sequence

_FLAG = "is_causal"
_PLACES = {
    "_cudnn_attention_backward": 14,
    "_cudnn_attention_forward": 10,
    "_flash_attention_backward": 11,
    "_flash_attention_forward": 8,
    "_flash_attention_forward_no_dropout_inplace": 9,
    "_scaled_dot_product_attention_math": 5,
    "_scaled_dot_product_attention_math_for_mps": 5,
    "_scaled_dot_product_cudnn_attention": 6,
    "_scaled_dot_product_cudnn_attention_backward": 14,
    "_scaled_dot_product_efficient_attention": 6,
    "_scaled_dot_product_efficient_attention_backward": 11,
    "_scaled_dot_product_flash_attention": 4,
    "_scaled_dot_product_flash_attention_backward": 11,
    "_scaled_dot_product_flash_attention_for_cpu": 4,
    "_scaled_dot_product_flash_attention_for_cpu_backward": 7,
    "_scaled_dot_product_fused_attention_overrideable": 5,
    "_scaled_dot_product_fused_attention_overrideable_backward": 13,
    "scaled_dot_product_attention": 5,
}
"""Operator → the place of ``is_causal`` among its arguments."""
_OVERLOADS = {"_scaled_dot_product_flash_attention.quantized": 7}
"""Overloads that have it at another place."""


def is_causal(target: str, texts: Sequence[str]) -> bool | None:
    """Whether an attention is causal; None for an operator that does not have the flag.

    Parameters
    ----------
    target
        The node's: ``torch.ops.aten._scaled_dot_product_flash_attention.default``.
    texts
        The arguments as the graph writes them.
    """
    overload = target.removeprefix("torch.ops.aten.")
    place = _OVERLOADS.get(overload, _PLACES.get(overload.partition(".")[0]))
    if place is None:
        return None
    flags = [text.partition("=")[2] for text in texts if text.startswith(f"{_FLAG}=")]
    positional = [text for text in texts if "=" not in text]
    return "True" in (*flags, *positional[place : place + 1])
