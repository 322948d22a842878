"""Adds the cost of a compilation's guards and their failure counts to its report."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..analysis.guards.conditions import add_conditions
from ..measure.guard_costs import GuardCosts, measure_guards
from ..report import Compilation, Guard, GuardManager
from ..torch_api.guards.guard_managers import KeptGuards
from ..torch_api.guards.trees import TreeNode, nodes_of, printed_lines

SECONDS = 0.3
"""How long the guards of a variant are measured, all compilations together."""

_NO_VALUES = "The frame's values were not at hand when the guards could be measured."


def add_guard_costs(
    compilations: Iterable[Compilation],
    guards_by_id: Mapping[str, KeptGuards],
    *,
    budget_s: float = SECONDS,
) -> None:
    """Fills the costs and fail counts of guards and of the nodes of their tree.

    The values that the guards check are let go afterwards, whatever happened.

    Parameters
    ----------
    guards_by_id
        Compile id → its guards, with the frame's values as they were before the call.
    budget_s
        About how long it may take, in seconds.
    """
    measurable = [
        (compilation, guards_by_id[compilation.id])
        for compilation in compilations
        if compilation.id in guards_by_id
    ]
    try:
        for index, (compilation, guards) in enumerate(measurable):
            values = guards.f_locals
            if values is None:
                compilation.absent["guard_costs"] = _NO_VALUES
                continue
            share = budget_s / (len(measurable) - index)
            costs = measure_guards(guards, values, budget_s=share)
            budget_s -= min(costs.took_s, share)
            _add_costs(compilation, costs)
    finally:
        for guards in guards_by_id.values():
            guards.drop_values()


def _add_costs(compilation: Compilation, costs: GuardCosts) -> None:
    compilation.absent.pop("guard_costs", None)
    if costs.missing:
        compilation.absent["guard_costs"] = costs.missing
    for number, (node, place, guards) in enumerate(_matched(compilation, costs.nodes)):
        if place is None:
            continue
        compilation.guard_tree[place].cost_ns = costs.subtrees.get(number)
        _put_fails(compilation.guard_tree[place], node, guards)
        for index, guard in enumerate(guards):
            if guard is not None:
                guard.cost_ns = costs.guards.get((number, index))
    add_conditions(compilation)


def add_fails(compilation: Compilation, compiled_guards: KeptGuards) -> None:
    """Fills in how often checks failed so far, from a live tree, which is only read."""
    if compiled_guards.invalid():
        return
    for node, place, guards in _matched(compilation, nodes_of(compiled_guards.manager.root)):
        if place is not None:
            _put_fails(compilation.guard_tree[place], node, guards)
    add_conditions(compilation)


def _put_fails(manager: GuardManager, node: TreeNode, guards: Sequence[Guard | None]) -> None:
    manager.fails = node.manager.fail_count()
    if len(guards) == 1 and node.size == 1 and guards[0] is not None:
        guards[0].fails = manager.fails  # whatever failed in the node failed here


def _matched(
    compilation: Compilation, nodes: Sequence[TreeNode]
) -> Iterator[tuple[TreeNode, int | None, list[Guard | None]]]:
    """The nodes of a live tree, with their places in the report and the report's guards.

    Found by what they check: torch puts the nodes in another order after failures.
    """
    places: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for place, manager in enumerate(compilation.guard_tree):
        places[manager.source if place else "L", manager.accessor].append(place)
    guards: dict[int, list[Guard]] = defaultdict(list)
    for guard in compilation.guards:
        if guard.manager is not None:
            guards[guard.manager].append(guard)
    seen: set[int] = set()
    for node in nodes:
        lines = [printed_lines(leaf, seen) for leaf in node.leaves]
        candidates = places[node.source, node.accessor]
        where = candidates.popleft() if candidates else None
        printed = guards[where] if where is not None else []
        if sum(lines) != len(printed):
            yield node, where, [None] * len(lines)
            continue
        firsts = itertools.accumulate(lines, initial=0)
        pairs = zip(firsts, lines, strict=False)
        yield node, where, [printed[first] if count else None for first, count in pairs]
