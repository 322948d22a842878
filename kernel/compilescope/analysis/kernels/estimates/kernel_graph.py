"""The kernels of one graph, and what their launches read, write and compute."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....report import Kernel, Node
from ...graphs.operation_counts import UPDATES, operator_name
from ...text.sizes import Hints
from .node_facts import NodeFacts
from .work import Traffic


@dataclass(frozen=True)
class KernelGraph:
    """The kernels of one graph, with the nodes that their launches compute."""

    kernels: Sequence[Kernel]
    groups: Mapping[str, Sequence[str]]
    """A launch's key → the nodes that it computes."""
    nodes: Sequence[Node]
    """The graph's, after the post-grad passes."""
    hints: Hints
    """The values that symbols had when torch compiled."""
    stored: frozenset[str] = frozenset()
    """The nodes whose values are known to be in buffers of the wrapper."""
    facts: NodeFacts = dataclasses.field(default_factory=NodeFacts)

    @functools.cached_property
    def library_nodes(self) -> frozenset[str]:
        """The nodes that calls of libraries compute.

        Torch may also give the name of a call to the kernels that prepare its inputs.
        """
        return frozenset(
            name
            for kernel in self.kernels
            if kernel.language == "extern"
            for launch in kernel.launches
            for name in self._ungrouped.by_library(self.named(launch.key), kernel.name)
        )

    def named(self, key: str) -> list[str]:
        """The nodes that a launch is named for.

        Torch names a kernel in a subgraph also for what computes the subgraph's inputs, and for
        the node that runs it. The nodes of subgraphs have the names of these before a dot.
        """
        named = self._named.get(key)
        if named is None:
            names = [name for name in self.groups.get(key, ()) if name in self._ungrouped.nodes]
            depth = max((name.count(".") for name in names), default=0)
            named = self._named[key] = [name for name in names if name.count(".") == depth]
        return named

    def called(self, key: str, kernel: str) -> list[str]:
        """The node that a launch of a library function computes."""
        return self._ungrouped.called(self.named(key), kernel)

    def node(self, name: str) -> Node:
        """One of its nodes."""
        return self._ungrouped.nodes[name]

    def is_view(self, name: str) -> bool:
        """Whether a value is a view of an existing one; False if it has no such node."""
        return name in self._ungrouped.nodes and self._ungrouped.is_view(self.node(name))

    def traffic(self) -> Traffic:
        """What its launches read, write and compute."""
        library = self.library_nodes
        called = [frozenset([name]) for name in library]
        generated = [
            frozenset(self.named(launch.key)) - library
            for kernel in self.kernels
            if kernel.language != "extern"
            for launch in kernel.launches
        ]
        groups = [*called, *generated]
        updated = self._updated(library)
        return Traffic(self.nodes, groups, self.hints, self.facts, updated, self.stored)

    def traffic_unfused(self) -> Traffic:
        """What launches would read, write and compute if each node had one of its own."""
        alone = [[node.name] for node in self.nodes]
        updated = self._updated(self.library_nodes)
        return Traffic(self.nodes, alone, self.hints, self.facts, updated)

    def _updated(self, library: Iterable[str]) -> frozenset[str]:
        targets = {node.name: operator_name(node.target) for node in self.nodes}
        return frozenset(name for name in library if targets[name] in UPDATES)

    @functools.cached_property
    def _named(self) -> dict[str, list[str]]:
        """A launch's key → the result of `named`."""
        return {}

    @functools.cached_property
    def _ungrouped(self) -> Traffic:
        """The traffic of the nodes without launches, for what only depends on the nodes."""
        return Traffic(self.nodes, (), self.hints, self.facts)
