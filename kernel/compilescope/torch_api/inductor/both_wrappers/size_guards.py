"""The guards on a graph's sizes, which its two wrappers must share.

Relies on ``FxGraphCache`` (_get_shape_env, _filter_backed_symints), and on the shape environment
(get_pruned_guards, produce_guards_expression).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def size_guards(inputs: Sequence[Any]) -> str:
    """The guards on the graph's sizes, as torch's cache writes them."""
    from torch._inductor.codecache import FxGraphCache

    shapes: Any = FxGraphCache._get_shape_env()
    symbols = FxGraphCache._filter_backed_symints(inputs)
    if shapes is None or not symbols:
        return ""
    guards = shapes.get_pruned_guards(symbols)
    return shapes.produce_guards_expression(placeholders=symbols, guards=guards) or ""


def conditions_of(guards: str | None) -> set[str]:
    """The single conditions of such guards."""
    return {part for part in (guards or "").split(" and ") if part not in ("", "True")}
