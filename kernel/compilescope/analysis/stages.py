"""Graph records → graphs by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..capture.records import Record
from ..report import Graph, Node
from .graphs import NO_MODULES, parse_graph

STAGE_OF = {
    "dynamo_output_graph": "dynamo",
    "before_pre_grad_graph": "before_pre_grad",
    "after_pre_grad_graph": "pre_grad",
    "aot_joint_graph": "joint",
    "before_joint_graph": "before_joint",
    "after_joint_graph": "after_joint",
    "aot_inference_graph": "inference",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
}
"""Event or artifact → stage. The graphs around the post-grad passes come by `units`."""


class GraphReader:
    """Makes graphs; reads a text that torch logs twice (before and after a pass) once."""

    def __init__(self, live: Mapping[str, list[Node]]) -> None:
        self._live = live
        self._read: dict[str, list[Node]] = {}

    def __call__(self, stage: str, text: str) -> Graph:
        parsed = self._read.get(text)
        if parsed is None:
            parsed = self._read[text] = parse_graph(text)
        live = self._live.get(text)
        if live is None:
            return Graph(stage=stage, text=text, nodes=parsed, absent={"modules": NO_MODULES})
        lines = {node.name: node.line for node in parsed}
        for node in live:
            if node.line is None:
                node.line = lines.get(node.name)
        return Graph(stage=stage, text=text, nodes=live)


def read_stages(records: Sequence[Record], reader: GraphReader) -> dict[str, Graph]:
    """Make the graphs up to the post-grad passes; of several at one stage the last."""
    texts: dict[str, str] = {}
    for record in records:
        stage = STAGE_OF.get(record.name)
        if stage and record.payload:
            texts[stage] = record.payload
    return {stage: reader(stage, text) for stage, text in texts.items()}
