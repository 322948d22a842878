"""The differences of each variant in sentences, shared by text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...report import Changes, KernelChange, Report, VariantReport
from .. import wording
from .table import Column, Table

OUTCOMES = {
    "identical": "identical",
    "renamed": "renamed",
    "differs": "differs",
    "added": "new",
    "removed": "removed",
}
KERNELS = Table(
    "changed_kernels",
    (
        Column("outcome", "change", "renamed: identical except for its name", words=OUTCOMES),
        Column("kernel", "kernel"),
        Column("baseline", "in the baseline"),
        Column("lines", "lines", "How many lines differ", "figure"),
        Column("why", "why"),
    ),
)
_SAME = ("identical", "renamed")


class Row(NamedTuple):
    """A line about a kernel or another difference, with the reason."""

    what: str
    why: str


def changed(report: Report) -> Iterator[tuple[VariantReport, Changes]]:
    """Yield the variants that are compared with another."""
    for variant in report.variants:
        if variant.changes is not None:
            yield variant, variant.changes


def kernels(changes: Changes) -> list[Row]:
    """Return the kernels that are not the same, a line each."""
    return [
        Row(_kernel(kernel), kernel.why)
        for kernel in changes.kernels
        if kernel.outcome not in _SAME
    ]


def other_lines(changes: Changes) -> list[Row]:
    """Return differences other than kernels, a line each."""
    return [
        Row(
            f"{change.what}: {change.here or 'none'} instead of {change.baseline or 'none'}",
            change.why,
        )
        for change in changes.changes
    ]


def lines(variant: VariantReport, changes: Changes, most: int) -> list[str]:
    """Return a variant's differences, a line each, and how many lines are left out."""
    rows = [*kernels(changes), *other_lines(changes)]
    left_out = len(rows) - most
    return [
        *filter(None, [changes.backend_words]),
        *filter(None, (f"{row.what}. {row.why}".strip() for row in rows[:most])),
        *(
            [f"and {wording.whole_number(left_out)} more: .variant({variant.name!r}).changes"]
            if left_out > 0
            else []
        ),
    ]


def _kernel(change: KernelChange) -> str:
    name = change.kernel or change.baseline
    text = f"{name}: {OUTCOMES[change.outcome]}"
    if change.lines:
        text += f" in {wording.count(change.lines, 'line')}"
    if change.kernel and change.baseline and change.kernel != change.baseline:
        text += f" from {change.baseline}"
    return text
