"""Equal blocks in a graph: what could be compiled once instead of again and again."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...report import Compilation, Node

_LEAST = 4
"""Fewer equal blocks are not worth a change."""
_INDEX = re.compile(r"(?:^|\.)(\d+)(?=\.|$)")
_STAGES = ("dynamo", "pre_grad")


class Blocks(NamedTuple):
    """Equal blocks of a model."""

    path: str
    """Where they are: ``transformer.h``."""
    type: str
    """Their class's name; empty where no node tells it."""
    number: int
    share: float
    """Of the graph's nodes."""


def repeated_blocks(compilation: Compilation) -> Blocks | None:
    """The largest run of equal blocks in a compilation's graph; None where there is none.

    Blocks are modules in one list whose nodes do the same, in the same order.
    """
    graph = next(
        (compilation.graphs[STAGE] for STAGE in _STAGES if STAGE in compilation.graphs), None
    )
    if graph is None:
        return None
    nodes = [one for one in graph.nodes if one.op not in ("placeholder", "output", "get_attr")]
    found: dict[str, dict[int, list[Node]]] = {}
    for node in nodes:
        for match in _INDEX.finditer(node.module or ""):
            path = (node.module or "")[: match.start(1)].rstrip(".")
            found.setdefault(path, {}).setdefault(int(match[1]), []).append(node)
    best: Blocks | None = None
    for path, blocks in found.items():
        alike: dict[tuple[str, ...], list[int]] = {}
        for index, own in blocks.items():
            does = tuple(f"{one.target} {_within(one, path, index)}" for one in own)
            alike.setdefault(does, []).append(index)
        same = max(alike.values(), key=len)
        own = [node for index in same for node in blocks[index]]
        share = len(own) / len(nodes)
        if len(same) >= _LEAST and (best is None or share > best.share):
            best = Blocks(path, _type(own, path, same[0]), len(same), share)
    return best


def _within(node: Node, path: str, index: int) -> str:
    """Where a node is in its block, the same for all blocks."""
    prefix = f"{path}.{index}" if path else str(index)
    return (node.module or "").removeprefix(prefix)


def _type(nodes: list[Node], path: str, index: int) -> str:
    whole = f"{path}.{index}" if path else str(index)
    kinds = (node.module_type for node in nodes if node.module == whole and node.module_type)
    return next(kinds, "").rpartition(".")[2]
