"""Converts graph records to graphs by stage."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from ...capture.records import Record
from ...report import Graph, Node
from ...torch_api.trace.record_names import DYNAMO_GRAPH
from .graph_text import NO_MODULES, parse_graph

STAGE_OF = {
    DYNAMO_GRAPH: "dynamo",
    "before_pre_grad_graph": "before_pre_grad",
    "after_pre_grad_graph": "pre_grad",
    "aot_joint_graph": "joint",
    "before_joint_graph": "before_joint",
    "after_joint_graph": "after_joint",
    "aot_inference_graph": "inference",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
}
"""Event or artifact → stage. The graphs around the post-grad passes are read by
`kernels.inductor_units`."""

_GRAPH_ID = re.compile(r"\n\n # graph id: \d+$")
"""The text that torch appends to the graphs around the pre-grad passes."""


@functools.lru_cache(maxsize=32)
def _lines(text: str) -> dict[str, int | None]:
    """Node → its line in a graph's text. Variants of one capture have the same graphs."""
    return {node.name: node.line for node in parse_graph(text)}


class GraphReader:
    """Creates graphs; parses a text that torch logs twice (before and after a pass) only once."""

    def __init__(self, live: Mapping[str, list[Node]]) -> None:
        self._live = live
        self._read: dict[str, list[Node]] = {}
        self._same: Mapping[str, Graph] = {}
        self.is_same = True
        """Whether all graphs were those that `beside` was given: their nodes have their origins."""

    def beside(self, graphs: Mapping[str, Graph]) -> GraphReader:
        """A reader that takes graphs from another compilation, where stage and text are the same.

        Parameters
        ----------
        graphs
            Those of a compilation of the same lowering, with the origins of their nodes.
        """
        reader = GraphReader(self._live)
        reader._read, reader._same = self._read, graphs
        return reader

    def __call__(self, stage: str, text: str) -> Graph:
        """Make the graph of a stage from its text."""
        same = self._same.get(stage)
        if same is not None and same.text == text:
            return Graph(stage=stage, text=text, nodes=same.nodes, absent=dict(same.absent))
        self.is_same = False
        live = self.collected(text)
        if live is not None:
            if any(node.line is None for node in live):
                lines = _lines(_GRAPH_ID.sub("", text))
                for node in live:
                    node.line = node.line or lines.get(node.name)
            return Graph(stage=stage, text=text, nodes=[*live, *self._inner(text, live)])
        nodes = self._parsed(text)
        return Graph(stage=stage, text=text, nodes=nodes, absent={"modules": NO_MODULES})

    def collected(self, text: str) -> list[Node] | None:
        """The nodes that a live hook collected for the graph with this text."""
        return self._live.get(text) or self._live.get(_GRAPH_ID.sub("", text))

    def _inner(self, text: str, live: Sequence[Node]) -> list[Node]:
        """The nodes of subgraphs, which a hook on the outer graph does not see."""
        if text.count("class ") < 2:
            return []
        names = {node.name for node in live}
        return [node for node in self._parsed(text) if "." in node.name and node.name not in names]

    def _parsed(self, text: str) -> list[Node]:
        if text not in self._read:
            self._read[text] = parse_graph(text)
        return self._read[text]


def read_stages(records: Sequence[Record], reader: GraphReader) -> dict[str, Graph]:
    """Make the graphs up to the post-grad passes; the last of several at one stage counts."""
    texts: dict[str, str] = {}
    for record in records:
        stage = STAGE_OF.get(record.name)
        if stage and record.payload:
            texts[stage] = record.payload
    return {stage: reader(stage, text) for stage, text in texts.items()}
