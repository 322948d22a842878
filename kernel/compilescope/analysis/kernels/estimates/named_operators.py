"""What a node is, and whether a library call is named for it."""

from __future__ import annotations

from collections.abc import Sequence

from ....report import Node
from ...graphs.operation_counts import CONTROL_FLOW, operator_name
from ...wrapper.launch_pairs import operator


def same_operator(nodes: Sequence[Node], kernel: str) -> list[Node]:
    """The nodes whose operator a library function is named for."""
    plain = operator(kernel)
    operators = {node.name: _plain(node) for node in nodes}
    longest = max(filter(plain.startswith, operators.values()), key=len, default=None)
    return [node for node in nodes if operators[node.name] == longest]


def is_named_for(node: Node, kernel: str) -> bool:
    """Whether a call is named for a node's operator, perhaps followed by its overload."""
    return f"{operator(kernel)}_".startswith(f"{_plain(node)}_")


def is_subgraph(node: Node) -> bool:
    """Whether a node runs subgraphs, or is one: torch names it for each kernel in them."""
    return node.target in CONTROL_FLOW or (node.op == "get_attr" and node.shape is None)


def is_number(node: Node) -> bool:
    """Whether a node is a size, not a tensor: it has no shape because it needs none."""
    return node.op == "placeholder" or "sym_" in node.target or "operator." in node.target


def _plain(node: Node) -> str:
    return operator_name(node.target).strip("_")
