"""Differences between two reports: before and after a change of code, or of torch's version."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ...report import Environment, Kernel, Report, SourceLine, Struct, VariantReport
from ...report.subjects.traces import FigureChange
from ..figures.counts import FIGURES, WRONG, counts
from .latency import LatencyChange, latency_change

_LANGUAGES = {"cpp": "C++", "triton": "Triton", "extern": "extern"}

BACKEND_HASH = re.compile(r"'backend_hash': '\w*'")
"""In a Triton kernel's source: the hash of the installed Triton, which changes with its version."""
_Contents = Counter[tuple[str, str]]


class VariantDifference(Struct):
    """What differs between a variant of the one report and its partner in the other."""

    before: str
    after: str
    figures: list[FigureChange] = []
    latency: LatencyChange | None = None
    gone: list[str] = []
    """Failures, graph breaks, recompiles, functions and kernels that only the first report has."""
    new: list[str] = []
    """The same, of the second report."""
    changed: list[str] = []
    """Kernels of the same operators with other code."""


class ReportDifference(Struct):
    """What differs between two reports."""

    variants: list[VariantDifference] = []
    only_before: list[str] = []
    """Variants without a partner."""
    only_after: list[str] = []


def report_difference(before: Report, after: Report) -> ReportDifference:
    """Compare two reports, variant by variant.

    Variants of the same name are paired; if each report has a single variant, those two are.

    Parameters
    ----------
    before, after
        Two reports of the same script or call.

    Returns
    -------
    ReportDifference
        Counts of both, and what only one has.
    """
    pairs = list(_pairs(before, after))
    paired = {id(variant) for pair in pairs for variant in pair}
    return ReportDifference(
        variants=[
            _variant_difference(*pair, before.environment, after.environment) for pair in pairs
        ],
        only_before=[variant.name for variant in before.variants if id(variant) not in paired],
        only_after=[variant.name for variant in after.variants if id(variant) not in paired],
    )


def _pairs(before: Report, after: Report) -> Iterator[tuple[VariantReport, VariantReport]]:
    if len(before.variants) == len(after.variants) == 1:
        yield before.variants[0], after.variants[0]
        return
    partners = {variant.name: variant for variant in after.variants}
    for variant in before.variants:
        if variant.name in partners:
            yield variant, partners[variant.name]


def _variant_difference(
    before: VariantReport, after: VariantReport, *environments: Environment
) -> VariantDifference:
    first, second = counts(before), counts(after)
    gone, new = _only_in_one(_contents(before), _contents(after))
    changed = gone & new
    return VariantDifference(
        before=before.name,
        after=after.name,
        figures=[
            FigureChange(name=name, before=first[name], after=second[name])
            for name in FIGURES
            if name != WRONG or _has_results(before, after)
        ],
        latency=None
        if before.timing is None or after.timing is None
        else latency_change(before.timing, after.timing, *environments),
        gone=_listed(gone - changed),
        new=_listed(new - changed),
        changed=_listed(changed),
    )


def _has_results(before: VariantReport, after: VariantReport) -> bool:
    """Whether both were compared with eager, or what was compared is wrong."""
    results = before.accuracy, after.accuracy
    return all(results) or any(not error.ok for errors in results for error in errors)


def _only_in_one(before: _Contents, after: _Contents) -> tuple[Counter[str], Counter[str]]:
    return _labels(before - after), _labels(after - before)


def _labels(contents: _Contents) -> Counter[str]:
    labels = Counter[str]()
    for (label, _), number in contents.items():
        labels[label] += number
    return labels


def _listed(labels: Counter[str]) -> list[str]:
    return [label + (f", {number} times" if number > 1 else "") for label, number in labels.items()]


def _contents(variant: VariantReport) -> _Contents:
    """What a variant contains: the label of each item, and the key that identifies it."""
    contents: list[tuple[str, str]] = []
    if variant.stage == "failed":
        errors = [problem.what for problem in variant.problems if problem.severity == "error"]
        first_line = errors[0].partition("\n")[0] if errors else "for an unknown reason"
        contents.append((f"failed: {first_line}", ""))
    for compilation in variant.compilations:
        frame = _place(compilation.frame)
        if compilation.recompile is not None:
            changed = compilation.recompile.cause
            contents.append((f"recompile of {frame}" + (f": {changed}" if changed else ""), ""))
        elif compilation.frame is not None:
            contents.append((f"compiled {frame}", ""))
        contents += [(_kernel_label(kernel), _code(kernel)) for kernel in compilation.kernels]
    for graph_break in variant.breaks:
        cause = graph_break.cause
        contents.append((f"graph break in {_place(cause.where)}: {cause.reason}", ""))
    return Counter(contents)


def kernel_differences(
    before: Sequence[Kernel], after: Sequence[Kernel]
) -> tuple[list[str], list[str], list[str]]:
    """Kernels that only the first compilation has, only the second has, and whose code changed."""
    sides = [
        Counter((_kernel_label(kernel), _code(kernel)) for kernel in side)
        for side in (before, after)
    ]
    gone, new = _only_in_one(*sides)
    changed = gone & new
    return _listed(gone - changed), _listed(new - changed), _listed(changed)


def _kernel_label(kernel: Kernel) -> str:
    if not kernel.ops:
        return kernel.name
    operators = ", ".join(map(_operator, kernel.ops))
    return f"{_LANGUAGES.get(kernel.language, kernel.language)} kernel of {operators}"


def _operator(name: str) -> str:
    """``aten.add.Tensor`` → ``add``: an overload says nothing here."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[0] in ("aten", "prims") else name


def _code(kernel: Kernel) -> str:
    """A kernel's code without its name and without the hash of the installed Triton.

    The name contains a number, which changes when a kernel is added before it.
    """
    return BACKEND_HASH.sub("", kernel.source.replace(kernel.name, ""))


def _place(where: SourceLine | None) -> str:
    if where is None:
        return "an unknown place"
    # The line moves with every edit above it; the folder differs from machine to machine.
    function = f"{where.function} in " if where.function else ""
    return f"{function}{PurePath(where.file).name}"
