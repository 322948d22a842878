"""Suggests keeping the weights of convolutions in channels_last, if each call copies them there."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import Compilation, LayoutChange, Node, Report, Suggestion, VariantReport
from ....report.break_advice import BEFORE
from ....report.units import percent, size
from ...figures.wording import count
from ...graphs.operation_counts import operator_name
from ...graphs.repeated_blocks import written_path
from ...wrapper.launches import launches_of, nodes_of
from .ranked_suggestion import Ranked

_NOTICEABLE = 0.1
"""The share of the kernels' memory traffic from which on the copies are worth a change."""
_PARAMETER = "_parameters_"
"""Part of the name that Dynamo gives to a parameter of a module."""


def against_weight_copies(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Suggests the other layout if the copies are a noticeable share of the memory traffic.

    Of a training step only the forward counts.
    """
    number, copied, moved = 0, 0.0, 0.0
    # A call uses one compilation of each frame.
    latest = {compilation.id.rpartition("/")[0]: compilation for compilation in now.compilations}
    for compilation in latest.values():
        copies = list(_copies(compilation))
        number += len(copies)
        # Each copy is read and written.
        copied += sum(2 * (change.bytes or 0.0) for change in copies)
        moved += sum(
            launch.estimated_bytes or 0.0
            for kernel, launch in launches_of(compilation)
            if kernel.direction != "backward"
        )
    if moved <= 0 or copied / moved < _NOTICEABLE:
        return
    compilation = next(each for each in latest.values() if any(_copies(each)))
    yield Ranked(
        0.3 * copied / moved,
        Suggestion(
            what="Keep the weights of convolutions in channels_last",
            why=(
                f"Each call copies {count(number, 'weight')} into this layout, which the "
                f"convolutions read: {percent(copied / moved)} of what the kernels read and write."
            ),
            gain=f"{size(copied)} less memory traffic per call",
            basis="estimated",
            code=f"{written_path('', compilation, report.subject)}"
            ".to(memory_format=torch.channels_last)",
            place=BEFORE,
            view="memory",
            of=now.name,
        ),
    )


def _copies(compilation: Compilation) -> Iterator[LayoutChange]:
    """The copies of 2D convolutions' parameters into channels_last, in a forward."""
    graphs = nodes_of(compilation)
    for change in compilation.layouts:
        nodes = graphs.get(change.direction, {})
        node = nodes.get(change.node)
        if (
            change.inserted
            and change.bytes
            and change.direction != "backward"
            and node is not None
            and _is_weight(node, nodes)
            and change.new.strip("()").split(", ")[1] == "1"
        ):
            yield change


def _is_weight(node: Node, nodes: dict[str, Node]) -> bool:
    is_parameter = any(_PARAMETER in origin for origin in node.origins)
    users = [nodes[name] for name in node.users if name in nodes]
    return (
        is_parameter
        and len(node.shape or ()) == 4
        and any(
            operator_name(user.target) == "convolution" and user.inputs[1:2] == [node.name]
            for user in users
        )
    )
