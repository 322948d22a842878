"""The names that a graph's inputs have in the model: ``layers.0.weight`` for ``arg3_1``."""

from __future__ import annotations

import re

from ...report import Compilation, Node

_STATE = re.compile(
    r"[LG]_(?P<variable>\w+?)_(?:modules_(?P<path>\w+)_)?(?:parameters|buffers)_(?P<name>\w+)_"
)
_COMPILED = ("self", "fn")
"""Variables that hold the compiled model: of its ``forward``, and of torch's wrapper of it."""
_ARGUMENT = re.compile(r"[LG]_(?P<name>\w+)_")


def input_names(compilation: Compilation) -> dict[str, str]:
    """Name of an input in Dynamo's graph → its name in the model, or among the arguments."""
    graph = compilation.graphs.get("dynamo")
    if graph is None:
        return {}
    return {
        node.name: name
        for node in graph.nodes
        if node.op == "placeholder" and (name := model_name(node.target))
    }


def name_of_input(node: Node | None, names: dict[str, str]) -> str:
    """Return what an input of a later graph is called in the model; empty if that is unknown."""
    if node is None or node.op != "placeholder" or len(node.origins) != 1:
        return ""
    return names.get(node.origins[0], "")


def model_name(target: str) -> str:
    """Read the name of a parameter, a buffer or an argument from Dynamo's name of an input.

    Examples
    --------
    >>> model_name("L_self_modules_layers_modules_3_modules_c2_parameters_weight_")
    'layers.3.c2.weight'
    >>> model_name("L_self_modules_log_parameters_modules_fc_parameters_weight_")
    'log_parameters.fc.weight'
    >>> model_name("L_self_buffers_mask_")
    'mask'
    >>> model_name("G_model_parameters_weight_")
    'model.weight'
    >>> model_name("L_x_")
    'x'
    """
    state = _STATE.fullmatch(target)
    if state is not None:
        model = "" if state["variable"] in _COMPILED else state["variable"]
        path = (state["path"] or "").replace("_modules_", ".")
        return ".".join(filter(None, [model, path, state["name"]]))
    argument = _ARGUMENT.fullmatch(target)
    return argument["name"] if argument is not None else ""
