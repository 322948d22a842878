"""Differences between each variant of a report and the variant that is most similar to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...report import Change, Changes, KernelChange, Report, VariantReport, is_record
from ...report.units import whole_number
from ..figures.wording import count
from ..wrapper.launches import codes_of
from .kernels import kernel_changes
from .other_changes import other_changes, switches, unapplied_settings
from .same_code import wrapper_texts

_INDUCTOR = {
    "wrappers": "the wrappers",
    "kernels": "the kernels",
    "stages": "the graphs after AOTAutograd",
    "autotunings": "autotuning",
    "crossings": "operators that are called through Python",
}
"""What only Inductor provides."""


def note_changes(report: Report, name: str) -> None:
    """Recompute the changes of a variant, and of those that are compared with it.

    Parameters
    ----------
    name
        Which variant is new.
    """
    for variant in report.variants:
        baseline = baseline_of(variant, report.variants)
        if baseline is None:
            variant.changes = None
        elif (
            name in (variant.name, baseline.name)
            or variant.changes is None
            or variant.changes.baseline != baseline.name
        ):
            variant.changes = compare(baseline, variant)


def baseline_of(variant: VariantReport, variants: Sequence[VariantReport]) -> VariantReport | None:
    """The variant to compare with: the most similar earlier one for the same device.

    Among equally similar ones, the one that differs only in ``cpp_wrapper``, then the first.
    """
    if not _is_comparable(variant):
        return None
    best: VariantReport | None = None
    least: tuple[int, bool] | None = None
    for candidate in variants:
        if candidate is variant:
            break
        if _is_comparable(candidate) and candidate.requested.target == variant.requested.target:
            differing = switches(candidate.requested, variant.requested)
            distance = (len(differing), differing != ["cpp_wrapper"])
            if least is None or distance < least:
                best, least = candidate, distance
    return best


def _is_comparable(variant: VariantReport) -> bool:
    compiled = variant.requested.backend is not None and bool(variant.compilations)
    # One that failed before it had code has nothing to compare; some backends never have code.
    is_whole = variant.stage != "failed" or any(
        compilation.code.python or compilation.code.cpp for compilation in variant.compilations
    )
    return compiled and is_whole and not is_record(variant)


def compare(baseline: VariantReport, variant: VariantReport) -> Changes:
    """What a variant changed against another."""
    changes = Changes(
        baseline=baseline.name, switches=switches(baseline.requested, variant.requested)
    )
    changes.changes = list(other_changes(baseline, variant))
    missing = only_inductor(variant)
    if missing or only_inductor(baseline):
        changes.only_inductor = missing
        changes.backend_words = _backend_words(variant, changes)
    else:
        changes.kernels = kernel_changes(baseline, variant)
    changes.summary = _summary(baseline, variant, changes)
    return changes


def only_inductor(variant: VariantReport) -> list[str]:
    """What a variant lacks because its backend is not Inductor; empty for Inductor.

    What ``aot_compile`` returned may be Inductor's, and has a backend of another name.
    """
    has_kernels = any(compilation.kernels for compilation in variant.compilations)
    is_inductor = variant.requested.uses_inductor or has_kernels
    return [] if is_inductor else list(_INDUCTOR.values())


def add_backend_words(variant: VariantReport) -> None:
    """Fill `Changes.backend_words` of a variant from a file of an earlier version."""
    if variant.changes is not None and not variant.changes.backend_words:
        variant.changes.backend_words = _backend_words(variant, variant.changes)


def _backend_words(variant: VariantReport, changes: Changes) -> str:
    if not changes.only_inductor:
        return ""
    return (
        f"Inductor only: {', '.join(changes.only_inductor)}. "
        f"The backend {variant.requested.backend} does not produce them."
    )


def _summary(baseline: VariantReport, variant: VariantReport, changes: Changes) -> str:
    start = f"Compared with {baseline.name}: "
    if changes.only_inductor:
        return start + (
            f"the backend {variant.requested.backend} generates no kernels and no wrapper; "
            f"{_graphs(changes.changes)}."
        )
    if only_inductor(baseline):
        kernels = sum(len(compilation.kernels) for compilation in variant.compilations)
        return start + (
            f"Inductor generates {count(kernels, 'kernel')} and the wrapper; the backend "
            f"{baseline.requested.backend} generates neither."
        )
    parts = [_kernels(changes.kernels), _wrapper(baseline, variant), _rest(changes.changes)]
    if useless := unapplied_settings(variant, changes.switches):
        parts.append(f"not as requested: {', '.join(useless)}")
    return start + "; ".join(part for part in parts if part) + "."


def _kernels(kernels: Sequence[KernelChange]) -> str:
    if not kernels:
        return "no kernels in either"
    counts = Counter[str](kernel.outcome for kernel in kernels)
    same = counts["identical"] + counts["renamed"]
    present = len(kernels) - counts["removed"]
    for outcome, number in (("identical", same), *counts.items()):
        if number == len(kernels):
            return f"{_all(number)} {_OUTCOMES[outcome][number > 1]}"
    if present == 1:
        only = next(kernel.outcome for kernel in kernels if kernel.outcome != "removed")
        counted = [f"{_all(1)} {_OUTCOMES[only][0]}"]
        listed: tuple[str, ...] = ("removed",)
    else:
        verb = _OUTCOMES["identical"][same != 1]
        counted = [f"{whole_number(same)} of {count(present, 'kernel')} {verb}"]
        listed = ("differs", "added", "removed")
    counted += [
        f"{counts[outcome]} {_OUTCOMES[outcome][counts[outcome] > 1]}"
        for outcome in listed
        if counts[outcome]
    ]
    return ", ".join(counted)


def _all(number: int) -> str:
    if number == 1:
        return "the only kernel"
    return "both kernels" if number == 2 else f"all {whole_number(number)} kernels"


_OUTCOMES = {
    "identical": ("is identical", "are identical"),
    "renamed": ("is identical", "are identical"),
    "differs": ("differs", "differ"),
    "added": ("is new", "are new"),
    "removed": ("is removed", "are removed"),
}
"""Outcome of a comparison → its words for one kernel, and for several."""


def _wrapper(baseline: VariantReport, variant: VariantReport) -> str:
    kinds = [
        {
            ("C++" if code.cpp else "Python")
            for compilation in side.compilations
            for code in codes_of(compilation)
            if code.cpp or code.python
        }
        for side in (baseline, variant)
    ]
    if kinds[0] != kinds[1] and all(len(kind) == 1 for kind in kinds):
        return f"the wrapper is {next(iter(kinds[1]))} instead of {next(iter(kinds[0]))}"
    return "the wrapper is the same" if wrapper_texts(baseline) == wrapper_texts(variant) else ""


def _rest(changes: Sequence[Change]) -> str:
    kinds = {change.kind for change in changes}
    differing = [words for kind, words in _PARTS.items() if kind in kinds]
    listed = " and ".join(filter(None, [", ".join(differing[:-1]), *differing[-1:]]))
    return f"the {listed} differ" if listed else ""


_PARTS = {
    "compilations": "compilations",
    "graph": "graphs",
    "guards": "guards",
    "breaks": "graph breaks",
}
"""Kind of a change → what differs."""


def _graphs(changes: Sequence[Change]) -> str:
    if any(change.kind in ("graph", "compilations") for change in changes):
        return "its graphs differ too"
    return "the graphs that both have are the same"
