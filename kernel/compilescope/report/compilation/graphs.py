"""The graphs of a compilation, and their stages.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from ..problem import SourceLine, Struct


class Node(Struct):
    """An FX node."""

    name: str
    """Its name in the graph: ``add_1``."""
    op: str
    """``placeholder``, ``get_attr``, ``call_function``, ``call_method``, ``call_module``,
    ``output``."""
    target: str
    """What it calls or reads: ``aten.add.Tensor``."""
    args: str = ""
    """Its arguments as text."""
    inputs: list[str] = []
    """Names of the nodes that it reads."""
    users: list[str] = []
    """Names of the nodes that read it."""
    shape: list[str] | None = None
    """Sizes as text, since a size may be a symbol (``s0``)."""
    stride: list[str] | None = None
    """Strides as text, in elements."""
    dtype: str | None = None
    """The dtype of its value: ``float32``."""
    device: str | None = None
    """The device of its value: ``cuda:0``."""
    sources: list[SourceLine] = []
    """Innermost frame last, as in a traceback."""
    module: str | None = None
    """The path of the owning ``nn.Module`` (``layers.0.attn``)."""
    module_type: str | None = None
    """The class of that module: ``torch.nn.modules.linear.Linear``."""
    line: int | None = None
    """The line of the node in the graph's text."""
    stack: int | None = None
    """In a file or a message: the index of its ``sources`` in `Graph.stacks`."""
    origins: list[str] = []
    """Names of the ``dynamo`` stage's nodes that it was lowered from, if torch reports them."""


class Graph(Struct):
    """An FX graph at one stage."""

    stage: str
    """One of `STAGES`: ``dynamo``, ``post_grad``."""
    text: str
    """The graph as torch prints it."""
    nodes: list[Node] = []
    """Its nodes, in topological order."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    stacks: list[list[SourceLine]] = []
    """In a file or a message: the nodes' sources, each once. See `report.saving.packed_graphs`."""
    same_as: tuple[str, str] | None = None
    """In a file: the variant and the stage whose graph of this compilation equals this one; this
    graph is then stored empty."""


STAGES: dict[str, str] = {
    "dynamo": "Dynamo",
    "before_pre_grad": "before pre-grad passes",
    "pre_grad": "after pre-grad passes",
    "joint": "joint",
    "before_joint": "before joint passes",
    "after_joint": "after joint passes",
    "inference": "inference",
    "forward": "forward",
    "backward": "backward",
    "before_post_grad": "before post-grad passes",
    "post_grad": "after post-grad passes",
    "backward_before_post_grad": "backward, before post-grad passes",
    "backward_post_grad": "backward, after post-grad passes",
}
"""Stage → title, in the order in which torch makes them."""
