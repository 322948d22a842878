"""Splits the records of a compilation into units, one for each graph that Inductor compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...capture.records import Record
from ...torch_api.trace.artifact_names import BUFFERS
from ...torch_api.trace.record_names import OUTPUT_CODE

_MAPPING = "inductor_provenance_tracking_node_mappings"
_STACKS = "inductor_provenance_tracking_kernel_stack_traces"
_POST_GRAD = "inductor_post_grad_graph"
_POST_GRAD_OLDER = "after_post_grad_graph"
"""The same graph, under the only name that some earlier versions of torch log it by."""
_ORDER = {
    "before_post_grad_graph": 0,
    _POST_GRAD: 1,
    _POST_GRAD_OLDER: 1,
    BUFFERS: 1,
    OUTPUT_CODE: 2,
    _MAPPING: 3,
    _STACKS: 3,
}


@dataclass
class Unit:
    """The records of one graph on its way through Inductor."""

    records: dict[str, Record] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """The payload of a record, None if there is none."""
        record = self.records.get(name)
        return record.payload if record else None

    @property
    def code(self) -> str | None:
        """The generated code."""
        return self.text(OUTPUT_CODE)

    @property
    def post_grad(self) -> str | None:
        """The graph after the post-grad passes."""
        return self.text(_POST_GRAD) or self.text(_POST_GRAD_OLDER)

    @property
    def mapping(self) -> str | None:
        """The node mappings, in JSON."""
        return self.text(_MAPPING)

    @property
    def stacks(self) -> str | None:
        """The kernels' stack traces, in JSON."""
        return self.text(_STACKS)

    @property
    def buffers(self) -> str | None:
        """Which node's value each buffer holds, in JSON."""
        return self.text(BUFFERS)

    @property
    def path(self) -> str | None:
        """Where torch wrote the code."""
        record = self.records.get(OUTPUT_CODE)
        detail = record.metadata.get(OUTPUT_CODE) if record else None
        if not isinstance(detail, dict):
            return None
        path = detail.get("file_path") or detail.get("filename")
        return str(path) if path else None


def gather(records: Sequence[Record]) -> list[Unit]:
    """Part a compilation's records into units, in order: in training, forward then backward.

    torch does not name the graphs, but its steps have a fixed order, so a record of an earlier step
    begins the next unit.
    """
    units: list[Unit] = []
    step = 0
    for record in records:
        name = record.name
        if name not in _ORDER:
            continue
        # For a GPU torch generates the C++ wrapper's graph twice: the second counts.
        is_repeated = name in units[-1].records and name != BUFFERS if units else False
        begins_unit = not units or _ORDER[name] < step or is_repeated
        if begins_unit:
            units.append(Unit())
        step = _ORDER[name]
        units[-1].records[name] = record
    return [unit for unit in units if unit.records.keys() - {_MAPPING, _STACKS}]
