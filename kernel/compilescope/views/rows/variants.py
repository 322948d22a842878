"""The table of variants: requested settings, stage, and accuracy."""

from __future__ import annotations

from ...report import Report
from .. import wording
from ..wrapper_pairs import compared
from . import target

HEAD = ("variant", "switches", "compile", "estimated", "outputs", "stage")


def rows(report: Report) -> list[tuple[str, ...]]:
    """Return the variants in the order of `HEAD`."""
    return [
        (
            variant.name,
            wording.settings(report, variant),
            wording.seconds(variant),
            target.estimated(variant),
            wording.accuracy(variant),
            wording.stage(variant),
        )
        for variant in compared(report)
    ]
