"""Measures the cost of guards on clones of their tree.

How it is measured
    A check is called in a loop, and the shortest of a few rounds counts: code and values are in the
    processor's caches, which at a real call they may not be. The overhead of calling it from
    Python, which a real call does not have, is subtracted; it is measured on a guard that does
    nothing.
A guard
    is called alone with the value that it checks; fetching the value is not included.
A node of the tree
    is the difference between a clone with its subtree and one without. The most expensive nodes are
    split first, until the time is used up; the others get no cost.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from ..torch_api.guards.guard_managers import KeptGuards, idle_check
from ..torch_api.guards.trees import Clone, TreeNode, nodes_of
from ..torch_api.guards.values import NoValue, values_of
from .garbage_collection import gc_disabled

_LEAF_SHARE = 0.4
"""The share of the time for single guards."""


class GuardCosts(msgspec.Struct, kw_only=True):
    """Costs in ns, by index into `nodes`."""

    nodes: list[TreeNode] = []
    subtrees: dict[int, float] = {}
    guards: dict[tuple[int, int], float] = {}
    """Index of the node and of the guard among its guards → cost."""
    missing: str = ""
    """Why some or all were not measured."""
    took_s: float = 0.0


def measure_guards(guards: KeptGuards, f_locals: dict[str, Any], *, budget_s: float) -> GuardCosts:
    """Measures the guards of a compilation for values that pass them.

    Parameters
    ----------
    f_locals
        The frame's values.
    budget_s
        The approximate time limit, in seconds.
    """
    start = time.perf_counter()
    deadline = start + budget_s
    with gc_disabled(), guards.root_in_scope() as root:
        costs = GuardCosts(nodes=nodes_of(root))
        if not root.check_verbose(f_locals).result:
            costs.missing = "The values that these guards check are no longer as they were."
            return costs
        idle = _time(idle_check(), f_locals)
        _guards(costs, f_locals, guards.globals(), idle, deadline - budget_s * (1 - _LEAF_SHARE))
        try:
            whole = Clone.whole(costs.nodes)
        except ValueError as error:
            costs.missing = str(error)
            return costs
        _subtrees(costs, whole, f_locals, idle, deadline)
    costs.took_s = time.perf_counter() - start
    # Near the clock's resolution, or on a busy machine, a part may seem to cost more than all.
    for place in sorted(costs.subtrees):  # parents come first
        parent = costs.nodes[place].parent
        if parent in costs.subtrees:
            costs.subtrees[place] = min(costs.subtrees[place], costs.subtrees[parent])
    for (place, index), cost in costs.guards.items():
        costs.guards[place, index] = min(cost, costs.subtrees.get(place, cost))
    return costs


def _guards(
    costs: GuardCosts, f_locals: dict[str, Any], f_globals: Any, idle: float, deadline: float
) -> None:
    values = values_of(costs.nodes, f_locals, f_globals)
    for place, node in enumerate(costs.nodes):
        if time.perf_counter() > deadline:
            costs.missing = _OUT_OF_TIME
            return
        if values[place] is NoValue:
            continue
        for index, leaf in enumerate(node.leaves):
            # Guards on the relation of several values keep state and cannot be called.
            if callable(leaf) and _passes(leaf, values[place]):
                bound = leaf.__call__  # not looked up at every call
                cost = _time(bound, values[place], rounds=3, round_ns=4_000) - idle
                costs.guards[place, index] = round(max(cost, 0.0), 1)


def _subtrees(
    costs: GuardCosts, whole: Clone, f_locals: dict[str, Any], idle: float, deadline: float
) -> None:
    if not _passes(whole.root.check, f_locals):
        costs.missing = "A clone of these guards fails where they pass."
        return
    total = _time(whole.root.check, f_locals)
    costs.subtrees[0] = round(total - idle, 1)
    numbers = itertools.count()
    waiting: list[tuple[float, int, Clone]] = [(-total, next(numbers), whole)]
    while waiting:
        _, _, clone = heapq.heappop(waiting)
        alone = clone.part(clone.start, clone.start)
        base = _time(alone.root.check, f_locals)
        for single in _singles(costs.nodes, clone):
            if time.perf_counter() > deadline:
                costs.missing = _OUT_OF_TIME
                return
            if not _passes(single.root.check, f_locals):
                continue
            cost = max(_time(single.root.check, f_locals) - base, 0.0)
            place = single.start
            costs.subtrees[place] = round(cost, 1)
            if costs.nodes[place].size > 1 and not costs.nodes[place].shortcut:
                heapq.heappush(waiting, (-cost, next(numbers), single.below()))


def _singles(nodes: list[TreeNode], clone: Clone) -> Any:
    """Clones of one subtree each, by bisection, so that every node is copied only a few times."""
    waiting = [clone]
    while waiting:
        current = waiting.pop()
        tops = []
        place = current.start
        while place < current.end:
            tops.append(place)
            place += nodes[place].size
        if len(tops) == 1:
            yield current
        elif tops:
            middle = tops[len(tops) // 2]
            waiting += [current.part(middle, current.end), current.part(current.start, middle)]


def _passes(check: Callable[[Any], bool], value: Any) -> bool:
    try:
        return check(value)
    except Exception:  # noqa: BLE001 - a guard that cannot be called has no cost
        return False


def _time(
    check: Callable[[Any], object], value: Any, *, rounds: int = 4, round_ns: float = 8_000
) -> float:
    """The shortest of a few rounds, in ns per call."""
    best = float("inf")
    calls = 10
    for _ in range(rounds):
        start = time.perf_counter_ns()
        deque(map(check, itertools.repeat(value, calls)), 0)
        taken = (time.perf_counter_ns() - start) / calls
        best = min(best, taken)
        calls = max(3, min(200, int(round_ns / max(best, 1.0))))
    return best


_OUT_OF_TIME = "The time set for measuring guards was over before all were measured."
