"""Finds outputs of a graph that torch leaves uninitialized because no code reads them."""

from __future__ import annotations

import operator
from typing import Any

import torch

from ...operators.arguments import by_name

_STATE = frozenset({"philox_seed", "philox_offset", "rng_state", "unused", "debug_attn_mask"})
"""What attention returns for the dropout of its backward: see ``native_functions.yaml``, and
``attention.cu``, which allocates these and writes to them only where there is dropout."""


def undefined_outputs(graph: torch.fx.GraphModule) -> frozenset[int]:
    """The outputs, by number, that hold the random state of an attention without dropout.

    A training graph saves them for its backward. Two runs give different values.

    Parameters
    ----------
    graph
        A graph of ATen's operators, as Inductor takes it.
    """
    outputs = next(node for node in reversed(graph.graph.nodes) if node.op == "output").args[0]
    return frozenset(
        place
        for place, node in enumerate(outputs if isinstance(outputs, (tuple, list)) else [outputs])
        if isinstance(node, torch.fx.Node) and _is_undefined(node)
    )


def _is_undefined(node: torch.fx.Node) -> bool:
    if node.target is not operator.getitem:
        return False
    source, place = node.args
    if not isinstance(source, torch.fx.Node) or not isinstance(place, int):
        return False
    returns = getattr(getattr(source.target, "_schema", None), "returns", ())
    # The parts of a list, such as of `chunk`, are more than the results that a schema names.
    if not 0 <= place < len(returns) or returns[place].name not in _STATE:
        return False
    return argument(source, "dropout_p") == 0


def argument(node: torch.fx.Node, name: str) -> object:
    """The value of a call's argument; None if the operator has none of that name."""
    schema: Any = getattr(node.target, "_schema", None)
    return None if schema is None else by_name(schema, node.args, node.kwargs).get(name)
