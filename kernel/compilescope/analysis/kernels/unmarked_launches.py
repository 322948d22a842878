"""Finds the nodes of library calls that Inductor writes without a comment above them."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import Node
from ..graphs.operation_counts import ACCUMULATES, operator_name
from ..text.wrapper_marks import Comments, Mark
from ..wrapper.launch_pairs import operator

_COMPUTES = {
    "scatter_reduce": ACCUMULATES,
    "index_put": frozenset(("index_put", "index_put_", "_unsafe_index_put", "_unsafe_index_put_")),
    "scatter": frozenset(("scatter", "scatter_")),
}
"""What the name of a call begins with → the operators that it computes, the longest name first."""


def add_nodes(marks: Sequence[Mark], nodes: Sequence[Node]) -> None:
    """Assign nodes, in order, to calls that write to a part of a buffer.

    Calls of an operator get none if there are more or fewer nodes of it: generated kernels may
    compute some.

    Parameters
    ----------
    nodes
        The graph's, after the post-grad passes.
    """
    launches = [mark for mark in marks if mark.kind == "launch" and not mark.scope]
    by_family: dict[str, list[Mark]] = {}
    for mark in sorted(launches, key=lambda mark: mark.order):
        plain = operator(mark.kernel or "")
        family = next((name for name in _COMPUTES if plain.startswith(name)), None)
        if family and mark.comments is None:
            by_family.setdefault(family, []).append(mark)
    for family, calls in by_family.items():
        computed = [node for node in nodes if operator_name(node.target) in _COMPUTES[family]]
        if len(computed) == len(calls):
            for mark, node in zip(calls, computed, strict=True):
                mark.comments = Comments(nodes=[node.name])
