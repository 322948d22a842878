"""Marks the dynamic sizes of a graph's results, as AOTAutograd does.

Where such a tensor enters the code after a graph break, Dynamo gives each marked size a symbol of
its own. Without the mark, sizes that are equal share one, and a guard compares them.

Relies on ``mark_dynamo_propagated_dynamic_indices`` of
``torch._functorch._aot_autograd.runtime_wrappers``, or its former name
``maybe_mark_dynamic_helper``; where neither exists, nothing is marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._functorch._aot_autograd import runtime_wrappers
from torch.fx.experimental.symbolic_shapes import is_concrete_int

_mark: Any = getattr(
    runtime_wrappers,
    "mark_dynamo_propagated_dynamic_indices",
    getattr(runtime_wrappers, "maybe_mark_dynamic_helper", None),
)


def uses_aot_autograd(backend: str | None) -> bool:
    """Whether a backend is one of torch's that compile through AOTAutograd."""
    return backend in ("inductor", "cudagraphs") or str(backend).startswith("aot_")


def dynamic_sizes(graph: fx.GraphModule) -> list[set[int]]:
    """The dimensions of each result whose sizes are symbolic; call it while Dynamo compiles."""
    (results,) = next(iter(graph.graph.find_nodes(op="output"))).args
    examples = [
        result.meta.get("example_value") if isinstance(result, fx.Node) else None
        for result in results
    ]
    return [
        {dim for dim, size in enumerate(example.shape) if not is_concrete_int(size)}
        if isinstance(example, torch.Tensor)
        else set()
        for example in examples
    ]


def mark(results: Sequence[Any], sizes: Sequence[set[int]]) -> None:
    """Marks the results of a call."""
    if _mark is None:
        return
    for result, dims in zip(results, sizes, strict=False):
        if dims and isinstance(result, torch.Tensor):
            _mark(result, dims)
