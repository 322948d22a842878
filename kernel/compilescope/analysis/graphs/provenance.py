"""Finds the origin of kernels: torch's own mapping, its stack traces, or wrapper comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...capture.logged_values import json_object
from ...report import Graph, Node, SourceLine
from ..text.stacks import read_stack
from ..text.wrapper_marks import Comments, Mark


@dataclass
class Origin:
    """The origin of a launch or a kernel."""

    nodes: list[str] = field(default_factory=list)
    """Post-grad nodes, in the graph's order if the graph is known."""
    ops: list[str] = field(default_factory=list)
    sources: list[SourceLine] = field(default_factory=list)


class Provenance:
    """Everything known of one wrapper's nodes and source lines."""

    def __init__(
        self,
        post_grad: Sequence[Node] = (),
        earlier: Sequence[Node] = (),
        mapping: str | None = None,
        stacks: str | None = None,
    ) -> None:
        self.order = {node.name: place for place, node in enumerate(post_grad)}
        self.nodes = {node.name: node for node in post_grad}
        self.earlier = {node.name: node for node in earlier}
        self.mapping = read_mapping(mapping, "cppCodeToPost")
        self.pre_to_post = read_mapping(mapping, "preToPost")
        self.stacks = _lists(json_object(stacks))
        self._is_backward = any(name.startswith("tangents_") for name in self.nodes)
        places = {node.name: place for place, node in enumerate(earlier)}
        self._places: dict[str, int] = {}
        for before, after in self.pre_to_post.items():
            for name in after:
                place = places.get(before, -1)
                self._places[name] = max(place, self._places.get(name, -1))

    def origin_of(self, mark: Mark) -> Origin:
        """Where a launch or a kernel definition comes from.

        torch's mapping is the best source. If it is empty (backward graphs, provenance off), the
        comments above the kernel name the nodes, or at least the source nodes and the operators.
        """
        comments = mark.comments
        key = ":".join(map(str, comments.handle)) if comments and comments.handle else ""
        names = self.mapping.get(key) or []
        if not names and comments:
            names = comments.nodes or self._named(comments)
        # Before debug handles, torch's tables name kernels: all launches of one together.
        names = names or self.mapping.get(mark.kernel or "", [])
        if mark.scope:
            names = [self._scoped(mark.scope, name) for name in names]
        names = sorted(dict.fromkeys(names), key=lambda name: self.order.get(name, 1 << 30))
        used = [self.nodes[name] for name in names if name in self.nodes]
        ops = [_short(node.target) for node in used if node.op.startswith("call")]
        if not ops and comments:
            ops = comments.aten
        return Origin(names, list(dict.fromkeys(ops)), self._sources(key, names, mark))

    def _main_last(self, names: Sequence[str], kernel: str) -> list[str]:
        """Known nodes, last the one that a kernel is for.

        For a library's kernel, it is the node of its operator: others are of its inputs. For a
        fused kernel, it is the last node, which computes a result. In a forward, the program's
        order decides: what is computed ahead for the backward is at the graph's end.
        """
        known = [name for name in names if name in self.nodes]
        if _FUSED in kernel:
            return known if self._is_backward else sorted(known, key=self._program_order)
        own = [name for name in known if _overload_free(self.nodes[name].target) in kernel]
        return [name for name in known if name not in own[-1:]] + own[-1:]

    def _program_order(self, name: str) -> int:
        """The place of a node's operator in the program; -1 if torch does not map it."""
        return self._places.get(name, -1)

    def _scoped(self, scope: str, name: str) -> str:
        """The node of a subgraph, which torch names without the subgraph's name."""
        whole = f"{scope}.{name}"
        return whole if whole in self.nodes else name

    def _named(self, comments: Comments) -> list[str]:
        """The post-grad nodes of the comments' source nodes.

        Some may be unknown: torch maps a backward only if it is compiled together with the forward.
        The others count only if the last operator is among them; otherwise they are the kernel's
        inputs, not its results.
        """
        names: list[str] = []
        whole = True
        for name in comments.source_nodes:
            post_grad_names = [name] if name in self.nodes else []
            post_grad_names += self.pre_to_post.get(name, ())
            whole = whole and bool(post_grad_names)
            names += post_grad_names
        last = comments.aten[-1] + "." if comments.aten else ""
        targets = (_short(self.nodes[name].target) for name in names if name in self.nodes)
        return names if whole or any(target.startswith(last) for target in targets) else []

    def _sources(self, key: str, names: Sequence[str], mark: Mark) -> list[SourceLine]:
        """The lines of the nodes, first that of the main one, then the lines that called these.

        The calling lines matter for a library's model: only they are the user's own.
        """
        main_last = self._main_last(names, mark.kernel or "")
        stacks = [self.nodes[name].sources for name in main_last]
        logged = self.stacks.get(key) or self.stacks.get(mark.kernel or "") or ()
        traces = [read_stack(trace) for trace in logged]
        if not any(stacks) and not any(traces) and mark.comments:
            named = mark.comments.source_nodes
            stacks = [self.earlier[name].sources for name in named if name in self.earlier]
        inner = [stack[-1:] for stack in stacks if stack] or [stack[-1:] for stack in traces]
        if any(stacks):
            inner = [inner[-1], *inner[:-1]]
        outer = [reversed(stack[:-1]) for stack in (*stacks, *traces)]
        return list(dict.fromkeys(line for stack in (*inner, *outer) for line in stack))


def earlier_nodes(graphs: Mapping[str, Graph]) -> list[Node]:
    """Nodes that comments may name: those of the graphs before AOTAutograd, latest winning."""
    return [
        node
        for stage in ("joint", "dynamo", "before_pre_grad", "pre_grad")
        if stage in graphs
        for node in graphs[stage].nodes
    ]


_FUSED = "fused_"
"""In the names of kernels that Inductor generates, before those of their operators."""


def _overload_free(target: str) -> str:
    """The name of an operator: ``addmm`` for ``torch.ops.aten.addmm.default``."""
    parts = _short(target).split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def merge(origins: Sequence[Origin], order: Mapping[str, int]) -> Origin:
    """The joint origin of several launches of one kernel: first the main line of each."""
    mains = [origin.sources[:1] for origin in origins]
    others = [origin.sources[1:] for origin in origins]
    names = dict.fromkeys(name for origin in origins for name in origin.nodes)
    return Origin(
        sorted(names, key=lambda name: order.get(name, 1 << 30)),
        list(dict.fromkeys(op for origin in origins for op in origin.ops)),
        list(dict.fromkeys(line for lines in (*mains, *others) for line in lines)),
    )


def read_mapping(text: str | None, name: str) -> dict[str, list[str]]:
    """One table of torch's node mappings; empty if torch wrote none.

    Parameters
    ----------
    text
        The payload of ``inductor_provenance_tracking_node_mappings``.
    name
        ``preToPost``, ``postToPre``, ``cppCodeToPost`` or ``postToCppCode``.
    """
    return _lists(json_object(text).get(name))


def _short(target: str) -> str:
    return target.removeprefix("torch.ops.")


def _lists(value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {
        str(key): [str(item) for item in items]
        for key, items in value.items()
        if isinstance(items, list)
    }
