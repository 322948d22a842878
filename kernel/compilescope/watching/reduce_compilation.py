"""The memory of a compilation, and its reduction to an outline."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..report import COMPILATION_PARTS, PARTS, STAGES, WRAPPERS, Code, Compilation, Graph, Phase

_NODE_BYTES = 1500
_GUARD_BYTES = 700
_PHASE_BYTES = 300
_REGION_BYTES = 500
_BASE_BYTES = 3000
"""Measured with ``tracemalloc``; the texts themselves are counted by their length."""


def held_bytes(compilation: Compilation) -> int:
    """The approximate memory of a compilation."""
    size = _BASE_BYTES
    for graph in compilation.graphs.values():
        size += len(graph.text) + _NODE_BYTES * len(graph.nodes)
    for code in _codes(compilation.code):
        size += sum(len(getattr(code, name) or "") for name in WRAPPERS)
        size += _REGION_BYTES * sum(len(regions) for regions in code.regions.values())
    for kernel in compilation.kernels:
        size += 1000 + len(kernel.source) + sum(map(len, kernel.assembly.values()))
    size += _GUARD_BYTES * (len(compilation.guards) + len(compilation.guard_tree))
    size += sum(len(guard.expression) for guard in compilation.guards)
    size += _PHASE_BYTES * _count(compilation.phases)
    size += sum(len(event.detail) for event in compilation.cache)
    for graph_break in compilation.breaks:
        size += (
            300 * (1 + len(graph_break.stack))
            + len(graph_break.reason)
            + len(graph_break.explanation)
        )
    return size


def reduce(compilation: Compilation, why: str) -> Compilation:
    """A copy without texts, graphs, kernels and guards.

    Its identity, origin, time, graph breaks, recompile reasons and counts stay.

    Parameters
    ----------
    why
        One sentence: what was dropped, when and why.
    """
    counts = {
        "graphs": len(compilation.graphs),
        "nodes": nodes_of(compilation.graphs.values()),
        "kernels": len(compilation.kernels),
        "guards": len(compilation.guards),
        "lines": sum(_lines(code) for code in _codes(compilation.code)),
    }
    dropped = [field for field in COMPILATION_PARTS if field not in ("phases", "phase_times")]
    empty: dict[str, list[object]] = {field: [] for field in dropped}
    gone = [part for part in PARTS if part != "phases" and getattr(compilation, PARTS[part][0])]
    code = compilation.code
    return msgspec.structs.replace(
        compilation,
        graphs={},
        code=Code(
            direction=code.direction,
            path=code.path,
            absent=code.absent
            | {name: why for name in WRAPPERS if getattr(code, name) is not None},
        ),
        **empty,
        phases=[msgspec.structs.replace(phase, children=[]) for phase in compilation.phases],
        cache=[
            msgspec.structs.replace(cache_event, detail=cache_event.detail[:200])
            for cache_event in compilation.cache
        ],
        counts=counts,
        reduced=why,
        absent=compilation.absent | dict.fromkeys((*STAGES, "code", *gone), why),
    )


def nodes_of(graphs: Iterable[Graph]) -> int:
    """How many nodes the largest of the graphs has."""
    return max((len(graph.nodes) for graph in graphs), default=0)


def _codes(code: Code | None) -> list[Code]:
    codes = []
    while code is not None:
        codes += [code, *code.others]
        code = code.backward
    return codes


def _lines(code: Code) -> int:
    return sum((getattr(code, name) or "").count("\n") for name in WRAPPERS)


def _count(phases: Iterable[Phase]) -> int:
    return sum(1 + _count(phase.children) for phase in phases)
