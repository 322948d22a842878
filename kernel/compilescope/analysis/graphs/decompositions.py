"""Decomposed operators: through dispatch, Inductor's table, autograd, or a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from ...report import Decomposition, Graph, Node
from ...torch_api.trace.node_origins import NodeOrigins, NodesWithOrigins
from .operation_counts import ITEM

Mechanism = Literal["autograd", "decomposition", "dispatch", "pass", "unknown"]
UNKNOWN = (
    "The report was read from a trace, which records where nodes come from, but not whether "
    "the operator's own code or a decomposition added them."
)
REMOVED = "A pass removed it: its result is unused, or was already computed."
ADDED = "A pass added it; torch records no operator for it."
_STAGES = ("inference", "forward", "backward")
_PASSES = (
    ("before_pre_grad", "pre_grad"),
    ("before_joint", "after_joint"),
    ("before_post_grad", "post_grad"),
    ("backward_before_post_grad", "backward_post_grad"),
)


def find_decompositions(
    graphs: Mapping[str, Graph], collected: Callable[[str], Sequence[Node] | None]
) -> list[Decomposition]:
    """The decomposition of each operator, stage by stage.

    Parameters
    ----------
    graphs
        Stage → graph, with the nodes' origins.
    collected
        Returns, for a graph's text, the nodes that a live hook collected, with torch's metadata.

    Notes
    -----
    Only torch's own metadata counts: the operator whose decomposition produced a node
    (``original_aten``), and the node of Dynamo's graph that it comes from. Passes are read from the
    graphs before and after them.
    """
    collector = _Collector()
    dynamo = {node.name: node for node in graphs["dynamo"].nodes} if "dynamo" in graphs else {}
    for stage in _STAGES:
        if stage in graphs:
            nodes = collected(graphs[stage].text)
            node_origins = nodes.node_origins if isinstance(nodes, NodesWithOrigins) else {}
            _traced(stage, _calls(graphs[stage].nodes), node_origins, dynamo, collector)
    for before, after in _PASSES:
        if before in graphs and after in graphs:
            _passed(graphs[before], graphs[after], collector)
    return collector.all()


class _Collector:
    """Collects decompositions; equal ones count as one in several places."""

    def __init__(self) -> None:
        self._by_kind: dict[tuple[object, ...], Decomposition] = {}

    def add(
        self,
        operator: str,
        into: Iterable[str],
        by: Mechanism,
        stage: str,
        nodes: Sequence[Node],
        became: Sequence[Node],
        why: str = "",
    ) -> None:
        names = list(dict.fromkeys(into))
        key = (operator, tuple(names), by, stage)
        decomposition = self._by_kind.get(key)
        if decomposition is None:
            decomposition = Decomposition(
                operator=operator, into=names, count=0, by=by, stage=stage, why=why
            )
            self._by_kind[key] = decomposition
        decomposition.count += 1
        decomposition.nodes += [node.name for node in nodes]
        decomposition.became += [node.name for node in became]
        lines = [line for node in (*nodes, *became) for line in node.sources[-1:]]
        decomposition.sources = list(dict.fromkeys((*decomposition.sources, *lines)))

    def all(self) -> list[Decomposition]:
        return list(self._by_kind.values())


def _calls(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if node.op.startswith("call") and node.target not in ITEM]


def _traced(
    stage: str,
    nodes: Sequence[Node],
    node_origins: Mapping[str, NodeOrigins],
    dynamo: Mapping[str, Node],
    collector: _Collector,
) -> None:
    """The decompositions of AOTAutograd's tracing."""
    backward = stage == "backward"
    groups: dict[tuple[tuple[str, ...], str], list[Node]] = {}
    by_origin: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        origin = node_origins.get(node.name)
        if backward and origin is not None and not origin.backward:
            continue  # the forward's, recomputed
        origins = tuple(node.origins)
        if origins:
            by_origin.setdefault(origins, []).append(node)
        if origin is not None and origin.original:
            groups.setdefault((origins, origin.original), []).append(node)
    for origins, group in by_origin.items():
        sources = [dynamo[name] for name in origins if name in dynamo]
        originals = [
            node_origins[node.name].original for node in group if node.name in node_origins
        ]
        into = [_short(original) for original in originals if original] or [
            _short(node.target) for node in group
        ]
        operator = " + ".join(dict.fromkeys(node.target for node in sources))
        if not sources or (not backward and _alike(operator, into)):
            continue
        by: Mechanism = "autograd" if backward else "dispatch" if any(originals) else "unknown"
        collector.add(operator, into, by, stage, sources, group, UNKNOWN if by == "unknown" else "")
    for (_, original), group in groups.items():
        into = list(dict.fromkeys(_short(node.target) for node in group))
        if into == [_short(original)]:
            continue
        # Nodes of one operator are separate calls; nodes of several operators are one call.
        for part in [[node] for node in group] if len(into) == 1 else [group]:
            collector.add(_short(original), into, "decomposition", stage, [], part)


def _alike(operator: str, into: Sequence[str]) -> bool:
    """Whether an operator only got its ATen name: ``torch.sigmoid`` is ``aten.sigmoid``."""
    last = operator.rpartition(".")[2].strip("_")
    return {name.rpartition(".")[2].strip("_") for name in into} == {last}


def _passed(before: Graph, after: Graph, collector: _Collector) -> None:
    """The changes of passes: removed nodes and their replacements."""
    old, new = _calls(before.nodes), _calls(after.nodes)
    unchanged = {(n.name, n.target) for n in old} & {(n.name, n.target) for n in new}
    removed_groups = _grouped(n for n in old if (n.name, n.target) not in unchanged)
    added_groups = _grouped(n for n in new if (n.name, n.target) not in unchanged)
    for node in added_groups.pop((), []):
        added_groups.setdefault(_place_of(node, removed_groups), []).append(node)
    for origins in dict.fromkeys((*removed_groups, *added_groups)):
        removed, added = _without_renamed(
            removed_groups.get(origins, []), added_groups.get(origins, [])
        )
        operator = " + ".join(dict.fromkeys(_short(node.target) for node in removed))
        into = [_short(node.target) for node in added]
        if removed or added:
            why = "" if removed and added else REMOVED if removed else ADDED
            collector.add(operator, into, "pass", after.stage, removed, added, why)


def _place_of(
    node: Node, removed_groups: Mapping[tuple[str, ...], Sequence[Node]]
) -> tuple[str, ...]:
    """For a node without origins, the origins of removed nodes that share an input with it."""
    for origins, removed in removed_groups.items():
        if any(set(removed_node.inputs) & set(node.inputs) for removed_node in removed):
            return origins
    return ()


def _grouped(nodes: Iterable[Node]) -> dict[tuple[str, ...], list[Node]]:
    groups: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        groups.setdefault(tuple(node.origins), []).append(node)
    return groups


def _without_renamed(
    removed: Sequence[Node], added: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    """Both lists without nodes that were only renamed."""
    unmatched = list(added)
    result: list[Node] = []
    for node in removed:
        same = next((candidate for candidate in unmatched if candidate.target == node.target), None)
        if same is None:
            result.append(node)
        else:
            unmatched.remove(same)
    return result, unmatched


def _short(target: str) -> str:
    """``torch.ops.aten.gelu.default`` is ``aten.gelu``."""
    parts = target.removeprefix("torch.ops.").split(".")
    is_operator = target.startswith("torch.ops.") or parts[0] in ("aten", "prims")
    return ".".join(parts[:2]) if is_operator else target
