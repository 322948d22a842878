"""Variants for a GPU that is not present, as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.target.check_words import checked
from ...analysis.target.estimate_words import estimate_lines, nothing_ran
from ...report import TargetReport, VariantReport
from .. import wording
from ..rows import target as target_rows

_SHOWN_DECISIONS = 8
_SHOWN_KERNELS = 12


def head(variant: VariantReport, target: TargetReport) -> str:
    """Return the line over a variant's block."""
    return f"target {target.name}: {target_rows.device(target)}  [{variant.name}]"


def lines(variant: VariantReport, target: TargetReport) -> Iterator[tuple[str, str]]:
    """Yield lines about a variant on its target, each with its indentation."""
    yield "  ", nothing_ran(target)
    for line in estimate_lines(variant):
        yield "  ", line
    if checks := checked(variant):
        yield "  ", checks
    decisions = target_rows.decisions(variant)
    for decision in decisions[:_SHOWN_DECISIONS]:
        yield "  decided: ", target_rows.decided(decision)
        for reason in target_rows.reasons(decision):
            yield "    ", reason
    if len(decisions) > _SHOWN_DECISIONS:
        more = wording.count(len(decisions) - _SHOWN_DECISIONS, "more decision")
        yield "  ", f"… and {more}: .decisions"
    for what, why in target.absent.items():
        yield "  ", f"no {what}: {why}"


def kernels(variant: VariantReport) -> tuple[list[tuple[str, ...]], int]:
    """Return the rows of the kernels' table, its head first, and how many are left out.

    Names of kernels are long, so they come last, where they shift no other column.
    """
    rows = target_rows.kernels(variant)
    shown = [target_rows.TABLE.head, *rows[:_SHOWN_KERNELS]]
    return [(*row[1:], row[0]) for row in shown], max(len(rows) - _SHOWN_KERNELS, 0)
