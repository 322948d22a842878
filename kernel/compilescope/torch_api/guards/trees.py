"""A live guard tree, node by node, and clones of parts of it.

If a live tree is evaluated and fails, it counts the failure and reorders its nodes, so this module
only reads it. A clone has its own nodes; it shares the leaf guards, which hold their values as
constants. A clone must not outlive its tree, from which leaf guards read the thread's state.

Relies on ``torch._C._dynamo.guards``: ``get_child_managers``, ``get_accessors``,
``get_key_value_managers``, ``get_leaf_guards``, ``get_epilogue_lambda_guards`` and
``RootGuardManager.clone_manager(filter)``, which calls the filter for every node before the nodes
below it; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from torch._C._dynamo import guards

_DICTIONARY: Any = guards.DictGuardManager


class TreeNode(msgspec.Struct, kw_only=True):
    """A node of a live tree."""

    manager: Any
    source: str
    accessor: str
    """As torch prints it; ``key 0`` and ``value 0`` for the items of a dictionary."""
    parent: int | None
    shortcut: bool = False
    """Skipped with its subtree while no dictionary in it has changed; see
    `GuardManager.shortcut`."""
    size: int = 1
    """The number of nodes in its subtree, including itself; they follow it in the list."""
    leaves: list[Any] = []
    """Its guards. Call each with the value that it checks."""


def nodes_of(root: Any) -> list[TreeNode]:
    """The nodes of a tree in depth-first order, which is also the order of cloning.

    The root's epilogue guards come after its other guards.
    """
    nodes: list[TreeNode] = []
    waiting: list[tuple[Any, str, int | None]] = [(root, "", None)]
    while waiting:
        manager, accessor, parent = waiting.pop()
        place = len(nodes)
        nodes.append(
            TreeNode(
                manager=manager,
                source=manager.get_source(),
                accessor=accessor,
                parent=parent,
                shortcut=bool(getattr(manager, "is_tag_safe_root", bool)()),
                leaves=list(manager.get_leaf_guards()),
            )
        )
        below = list(_children(manager))
        waiting.extend((child, name, place) for name, child in reversed(below))
    for place in range(len(nodes) - 1, 0, -1):
        above = nodes[place].parent
        assert above is not None
        nodes[above].size += nodes[place].size
    last: Callable[[], Sequence[Any]] | None = getattr(root, "get_epilogue_lambda_guards", None)
    if last is not None:
        nodes[0].leaves.extend(last())
    return nodes


def _children(manager: Any) -> Iterator[tuple[str, Any]]:
    accessors = manager.get_accessors()
    for accessor, child in zip(accessors, manager.get_child_managers(), strict=True):
        yield accessor.repr(), child
    if isinstance(manager, _DICTIONARY):
        for index, (key, value) in sorted(manager.get_key_value_managers().items()):
            if key is not None:
                yield f"key {index}", key
            if value is not None:
                yield f"value {index}", value


def printed_lines(leaf: Any, seen: set[int]) -> int:
    """How many lines torch prints for a guard: one per expression.

    A guard on a relation of several values is in the tree once per value, and torch prints its
    expressions only the first time; ``seen`` holds the guards printed so far.
    """
    if isinstance(leaf, guards.RelationalGuard):
        if id(leaf) in seen:
            return 1
        seen.add(id(leaf))
    return len(leaf.verbose_code_parts())


class Clone:
    """A clone of the path to one node and of a range of subtrees below that node.

    Parameters
    ----------
    root
        The clone's root.
    way
        Indices of the nodes from the root to the parent of the range.
    start, end
        The range of indices, which covers whole subtrees.
    """

    def __init__(
        self, nodes: Sequence[TreeNode], root: Any, way: Sequence[int], start: int, end: int
    ) -> None:
        self._nodes = nodes
        self.root = root
        self.way, self.start, self.end = list(way), start, end

    @classmethod
    def whole(cls, nodes: Sequence[TreeNode]) -> Clone:
        """A clone of the whole tree.

        Raises
        ------
        ValueError
            This version of torch clones nodes in another order.
        """
        cloned: list[Any] = []

        def note(manager: Any) -> bool:
            cloned.append(manager)
            return True

        root = nodes[0].manager.clone_manager(note)
        if len(cloned) != len(nodes) or any(
            manager is not node.manager for manager, node in zip(cloned, nodes, strict=True)
        ):
            raise ValueError("This torch clones guard trees in another order.")
        return cls(nodes, root, [0], 1, len(nodes))

    def part(self, start: int, end: int) -> Clone:
        """A clone of this one with only the subtrees from ``start`` to ``end``."""
        answers = [True] * len(self.way)
        place = self.start
        while place < self.end:
            size = self._nodes[place].size
            inside = start <= place < end
            answers += itertools.repeat(inside, size if inside else 1)
            place += size
        following = iter(answers)
        root = self.root.clone_manager(lambda _: next(following))
        return Clone(self._nodes, root, self.way, start, end)

    def below(self) -> Clone:
        """The same clone of a single subtree, as the path to its top node and its subtrees."""
        return Clone(self._nodes, self.root, [*self.way, self.start], self.start + 1, self.end)
