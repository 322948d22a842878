"""Removes nodes that torch attributes to kernels around a library call, which do not compute them.

A kernel that copies an input of the call into another layout is attributed the call itself and the
nodes of its other inputs. A kernel that reads the result is attributed all of these.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable

from ....report import Kernel
from ...graphs.operation_counts import MOVES, UPDATES, operator_name
from .kernel_graph import KernelGraph

_TRITON = re.compile(r"^\s+tmp\d+ = (.*)$", re.M)
_CPP = re.compile(r"^\s*auto tmp\d+ = (.*)$", re.M)
_ACCUMULATOR = "tmp_acc"
"""How torch names the result of a reduction in C++."""
_MOVED = {
    "triton": re.compile(r"tl\.load\("),
    "cpp": re.compile(
        r"at::vec::Vectorized<[^>]*>::loadu\(|at::vec::convert<|c10::convert<"
        r"|(?:static_cast<\w+>\()?(?:in_ptr|tmp)\d+\["
    ),
}
"""What a value is loaded or converted with."""


def without_inputs(graph: KernelGraph) -> KernelGraph:
    """Return the graph with such nodes left out of the groups of launches."""
    library = graph.library_nodes
    lines = {
        name: launch.line
        for kernel in graph.kernels
        if kernel.language == "extern"
        for launch in kernel.launches
        for name in graph.called(launch.key, kernel.name)
    }
    groups = dict(graph.groups)
    for kernel in graph.kernels:
        if kernel.language == "extern":
            continue
        copies = moves_only(kernel)
        for launch in kernel.launches:
            named = graph.named(launch.key)
            inside = [name for name in named if name not in library]
            read = {used for name in inside for used in graph.node(name).inputs}
            calls = library.intersection((*named, *read))
            if not calls:
                continue
            if copies and not all(_moves(graph, name) for name in inside):
                left_out = set(inside)
            else:
                earlier = {name for name in calls if lines.get(name, launch.line) < launch.line}
                left_out = _computed_before(graph, inside, earlier)
            groups[launch.key] = [name for name in named if name not in left_out]
    return dataclasses.replace(graph, groups=groups)


def moves_only(kernel: Kernel) -> bool:
    """Whether the source of a kernel loads values and stores them, and computes none."""
    if kernel.language not in _MOVED or not kernel.source:
        return False
    pattern = _TRITON if kernel.language == "triton" else _CPP
    if _ACCUMULATOR in kernel.source:
        return False
    values = pattern.findall(kernel.source)
    is_plain = all(_MOVED[kernel.language].match(value) for value in values)
    return bool(values) and is_plain and "atomic" not in kernel.source.partition("(in_ptr")[2]


def _moves(graph: KernelGraph, name: str) -> bool:
    node = graph.node(name)
    return operator_name(node.target) in MOVES | UPDATES or not node.op.startswith("call")


def _computed_before(
    graph: KernelGraph, inside: Collection[str], calls: Collection[str]
) -> set[str]:
    """The nodes that only earlier library calls need.

    The inputs of a call are in memory before it; what these are computed from only if nothing else
    needs it.
    """
    before = _needed(graph, calls, inside).difference(calls)
    inputs = {used for name in calls for used in graph.node(name).inputs}
    kept = {
        name
        for name in before.difference(inputs)
        if not before.union(calls).issuperset(graph.node(name).users)
    }
    others = [name for name in inside if name not in before or name in kept]
    return before - _needed(graph, others, inside)


def _needed(graph: KernelGraph, names: Iterable[str], inside: Collection[str]) -> set[str]:
    """Nodes, and what they need of those inside, also through views."""
    needed: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in needed:
            continue
        needed.add(name)
        pending += [
            used for used in graph.node(name).inputs if used in inside or graph.is_view(used)
        ]
    return needed
