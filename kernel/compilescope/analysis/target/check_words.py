"""The check of a target's kernels, in words: for the panel, a cell and a terminal."""

from __future__ import annotations

from ...report import KernelCheck, VariantReport
from ...report.units import difference
from ..figures.wording import count

_OUTCOMES = {"agrees": "agree", "differs": "differ", "not checked": "not checked"}
"""Outcome → the words for several."""


def add_check_words(variant: VariantReport) -> None:
    """Word the check of each kernel of a variant."""
    for check in _checks(variant):
        check.text = _text(check)


def checked(variant: VariantReport) -> str:
    """Return how many kernels were checked, and the outcomes; empty if none was."""
    checks = _checks(variant)
    if not checks:
        return ""
    outcomes = [check.outcome for check in checks]
    counts = [
        f"{outcomes.count(outcome)} {words}"
        for outcome, words in _OUTCOMES.items()
        if outcome in outcomes
    ]
    how = next((check.how for check in checks if check.how), "")
    return f"Kernels checked without the device: {', '.join(counts)}" + (f" ({how})" if how else "")


def outcome(check: KernelCheck | None) -> str:
    """Return the outcome in a few words: ``agrees, within 1.2e-07``; empty without a check."""
    if check is None:
        return ""
    if check.outcome == "agrees":
        return "agrees" if check.error is None else f"agrees, within {difference(check.error)}"
    return f"{check.outcome}: {check.why}" if check.why else check.outcome


def _text(check: KernelCheck) -> str:
    launches = count(check.launches, "launch", "launches")
    error = "" if check.error is None else f"largest error {difference(check.error)}"
    if error and check.tolerance is not None:
        error += f", tolerance {difference(check.tolerance)}"
    compared = f"{launches} compared" if check.launches else ""
    return " · ".join(filter(None, [check.why, check.how, compared, error]))


def _checks(variant: VariantReport) -> list[KernelCheck]:
    return [
        kernel.check
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if kernel.check is not None
    ]
