"""Suggests real arithmetic where complex operators run as library calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ....report import Compilation, Node, Report, Suggestion, VariantReport
from ...figures.wording import count
from ...graphs.operation_counts import operator_name
from ...wrapper.launches import artifact_of, groups_of, launches_of, nodes_of
from .code_suggestions import at_place
from .ranked_suggestion import Ranked

_BELOW_BREAKS = 0.79
_VIEWS = ("view_as_real", "view_as_complex")
"""What stays where the arithmetic between them is real."""
_FFT = "_fft"
_PARTS = (
    "Compute with the real and imaginary parts as real tensors: a rotary embedding multiplies the "
    "two halves of the last dimension, x.chunk(2, -1), by cos and sin. Parts that alternate in "
    "memory, as view_as_complex reads them, are slow on a CPU."
)
_KEEP_FFT = (
    "Keep the FFT, and compute with torch.view_as_real of its result: real and imaginary parts as "
    "real tensors. torch.view_as_complex turns them back into the input of the inverse FFT. With "
    "small tensors, this part can be faster in eager, under torch.compiler.disable."
)


def against_complex_operators(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Suggests real arithmetic if the variant's kernels include complex operators besides FFTs."""
    if not now.requested.uses_inductor:
        return
    total = 0
    calls: list[tuple[Node, bool]] = []
    for compilation in now.compilations:
        total += sum(1 for _ in launches_of(compilation))
        calls += _complex_calls(compilation)
    names = [operator_name(node.target) for node, _ in calls]
    replaceable = [
        (node, is_backward)
        for (node, is_backward), name in zip(calls, names, strict=True)
        if name not in _VIEWS and not name.startswith(_FFT)
    ]
    if not replaceable or not total:
        return
    # A node of the backward may have the line of another operator, as of the inverse FFT.
    of_forward = [node for node, is_backward in replaceable if not is_backward]
    nodes = of_forward or [node for node, _ in replaceable]
    lines = Counter(node.sources[-1] for node in nodes if node.sources)
    place = at_place(lines.most_common(1)[0][0] if lines else None, report)
    others = f" and {count(len(lines) - 1, 'other line')}" if len(lines) > 1 else ""
    share = len(calls) / total
    are = "is a library call" if len(calls) == 1 else "are library calls"
    yield Ranked(
        _BELOW_BREAKS * share,
        Suggestion(
            what=f"Compute with real instead of complex numbers{place}{others}",
            why=(
                "Inductor generates no code for complex operators: "
                f"{len(calls)} of {count(total, 'kernel launch', 'kernel launches')} {are}, with "
                "which nothing is fused. "
                + (_KEEP_FFT if any(name.startswith(_FFT) for name in names) else _PARTS)
            ),
            gain="not measured",
            view="kernels",
            of=now.name,
        ),
    )


def _complex_calls(compilation: Compilation) -> Iterator[tuple[Node, bool]]:
    """The node of each library call on complex numbers, and whether it is of a backward."""
    graphs = nodes_of(compilation)
    groups = groups_of(compilation, artifact_of(compilation))
    for kernel, launch in launches_of(compilation):
        if kernel.language != "extern":
            continue
        nodes = graphs.get(kernel.direction, {})
        for name in (groups.get(launch.key) or kernel.nodes)[:1]:
            node = nodes.get(name)
            if node is not None and _is_complex(node, nodes):
                yield node, kernel.direction == "backward"


def _is_complex(node: Node, nodes: dict[str, Node]) -> bool:
    values = (node, *(nodes[name] for name in node.inputs if name in nodes))
    return any((value.dtype or "").startswith("complex") for value in values)
