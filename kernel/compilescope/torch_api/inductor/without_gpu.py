"""Whether a process that does not see the GPU can generate the code for it.

Relies on Inductor's settings (`_USES_GPU`), of which some make torch run or time kernels while it
generates code, and some make code depend on the values of weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import fx

_ATTENTION = "scaled_dot_product_attention"

PROVEN: tuple[str, ...] = ("2.11",)
"""The versions of torch in which such code is the kernel's own, as the GPU tests compare it."""

_USES_GPU = (
    "aot_inductor.use_runtime_constant_folding",
    "autoheuristic_collect",
    "benchmark_combo_kernel",
    "benchmark_fusion",
    "benchmark_kernel",
    "coordinate_descent_tuning",
    "cpp_wrapper",
    "freezing",
    "max_autotune",
    "max_autotune_gemm",
    "max_autotune_pointwise",
    "reorder_for_compute_comm_overlap",
    "runtime_estimations_mms_benchmark",
    "triton.mix_order_reduction_autotune_split_size",
    "triton.multi_kernel",
)


def is_proven() -> bool:
    """Whether tests have compared such code for this version of torch, on CUDA."""
    return torch.version.hip is None and torch.__version__.startswith(
        tuple(f"{version}." for version in PROVEN)
    )


def chooses_attention_by_size(graph: fx.GraphModule) -> bool:
    """Whether torch's choice of an attention kernel constrains dynamic sizes of the graph.

    The emulated GPU makes the same choice, but with other guards on such sizes: those of a head,
    and of a mask.

    Parameters
    ----------
    graph
        As Dynamo captured it.
    """
    for part in graph.modules():
        for node in part.graph.nodes if isinstance(part, fx.GraphModule) else ():
            if node.op == "call_function" and _ATTENTION in str(node.target):
                *heads, mask = _attention_inputs(node)
                sizes = [*(tensor.shape[-1] for tensor in heads if tensor is not None)]
                sizes += [] if mask is None else [*mask.shape]
                if any(isinstance(size, torch.SymInt) for size in sizes):
                    return True
    return False


def _attention_inputs(node: fx.Node) -> list[torch.Tensor | None]:
    """The query, key, value and mask of a call; None for what it does not pass."""
    names = ("query", "key", "value", "attn_mask")
    passed = [*node.args[: len(names)], *map(node.kwargs.get, names[len(node.args) :])]
    values = [
        each.meta.get("example_value") if isinstance(each, fx.Node) else None for each in passed
    ]
    return [value if isinstance(value, torch.Tensor) else None for value in values]


def needs_gpu(settings: Mapping[str, Any]) -> bool:
    """Whether code generation with these settings of Inductor needs the GPU or values of weights.

    Parameters
    ----------
    settings
        Those that differ from the ones in force.

    Examples
    --------
    >>> needs_gpu({}), needs_gpu({"max-autotune": True})
    (False, True)
    """
    from torch._inductor import config

    in_force: dict[str, Any] = config.get_config_copy()
    changes = {name.replace("-", "_"): value for name, value in settings.items()}
    return any({**in_force, **changes}.get(name) for name in _USES_GPU)
