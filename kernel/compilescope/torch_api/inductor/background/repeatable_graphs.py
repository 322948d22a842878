"""Whether a graph can run again concurrently with the user's calls without side effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload

from .undefined_outputs import argument

_NAMESPACES = ("aten", "prims", "inductor_prims")
"""Of operators that keep no state of their own."""


def is_repeatable(graph: torch.fx.GraphModule) -> bool:
    """Whether a graph draws no random numbers and calls nothing but torch's own operators.

    An operator of the user's may keep a state, or not be made for several threads; a higher-order
    operator may have effects.

    Parameters
    ----------
    graph
        A graph of ATen's operators, as Inductor takes it.
    """
    return all(_is_plain(node) for node in _calls(graph))


def _calls(graph: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    for module in graph.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from (node for node in module.graph.nodes if node.op.startswith("call_"))


def _is_plain(node: torch.fx.Node) -> bool:
    target: Any = node.target
    if isinstance(target, OpOverload):
        is_random = torch.Tag.nondeterministic_seeded in target.tags
        return target.namespace in _NAMESPACES and (not is_random or _drops_nothing(node))
    # What else is called are functions of Python on sizes.
    return node.op == "call_function" and not isinstance(target, HigherOrderOperator)


def _drops_nothing(node: torch.fx.Node) -> bool:
    """Whether it is an attention without dropout: it draws nothing."""
    return argument(node, "dropout_p") == 0
