"""Differences between two reports: before and after a change of code, or of torch's version."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import PurePath
from typing import NamedTuple

from ...report import Environment, Kernel, Report, SourceLine, Struct, VariantReport
from ...report.subjects.traces import FigureChange
from ..figures.counts import FIGURES, WRONG, counts
from .latency import LatencyChange, latency_change

_LANGUAGES = {"cpp": "C++", "triton": "Triton", "extern": "extern"}

BACKEND_HASH = re.compile(r"'backend_hash': '\w*'")
"""In a Triton kernel's source: the hash of the installed Triton, which changes with its version."""


class _Contents(NamedTuple):
    """What a variant contains."""

    items: Counter[tuple[str, str]]
    """The label of each item without a renamed file, and the key that identifies it."""
    shown: dict[str, str]
    """Each of these labels → the label with every file."""


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
    """Kernels of the same operators with other code, and how many there were and are."""


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
    both = files_of(_places(before)) & files_of(_places(after))
    contents = [_contents(variant, both) for variant in (before, after)]
    gone, new, changed = _sorted(*contents)
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
        gone=gone,
        new=new,
        changed=changed,
    )


def _has_results(before: VariantReport, after: VariantReport) -> bool:
    """Whether both were compared with eager, or what was compared is wrong."""
    results = before.accuracy, after.accuracy
    return all(results) or any(not error.ok for errors in results for error in errors)


def _sorted(before: _Contents, after: _Contents) -> tuple[list[str], list[str], list[str]]:
    """What only the first has, what only the second has, and what both have with other code."""
    gone, new = _labels(before.items - after.items), _labels(after.items - before.items)
    return (
        [_times(before.shown[label], gone[label]) for label in gone if label not in new],
        [_times(after.shown[label], new[label]) for label in new if label not in gone],
        [_times(after.shown[label], gone[label], new[label]) for label in gone if label in new],
    )


def _labels(items: Counter[tuple[str, str]]) -> Counter[str]:
    labels = Counter[str]()
    for (label, _), number in items.items():
        labels[label] += number
    return labels


def _times(label: str, before: int, after: int | None = None) -> str:
    """A label with its number, or with the two numbers if they differ."""
    if after not in (None, before):
        return f"{label}, {before} → {after} times"
    return label + (f", {before} times" if before > 1 else "")


def _places(variant: VariantReport) -> Iterator[SourceLine | None]:
    for compilation in variant.compilations:
        yield compilation.frame
    for graph_break in variant.breaks:
        yield graph_break.cause.where


def files_of(places: Iterable[SourceLine | None]) -> set[str]:
    """The names of files, without folders, which differ from machine to machine."""
    return {PurePath(place.file).name for place in places if place is not None}


def _contents(variant: VariantReport, both: Set[str]) -> _Contents:
    """What a variant contains.

    Parameters
    ----------
    both
        The files that both reports have. Functions of others are paired by name: the script may
        have been copied to another file.
    """
    contents: list[tuple[str, str]] = []
    shown: dict[str, str] = {}

    def add(where: SourceLine | None, before: str, after: str = "") -> None:
        label = f"{before}{_place(where, both)}{after}"
        shown.setdefault(label, f"{before}{_place(where)}{after}")
        contents.append((label, ""))

    if variant.stage == "failed":
        errors = [problem.what for problem in variant.problems if problem.severity == "error"]
        first_line = errors[0].partition("\n")[0] if errors else "for an unknown reason"
        contents.append((f"failed: {first_line}", ""))
    for compilation in variant.compilations:
        if compilation.recompile is not None:
            changed = compilation.recompile.cause
            add(compilation.frame, "recompile of ", f": {changed}" if changed else "")
        elif compilation.frame is not None:
            add(compilation.frame, "compiled ")
        contents += [(_kernel_label(kernel), _code(kernel)) for kernel in compilation.kernels]
    for graph_break in variant.breaks:
        cause = graph_break.cause
        add(cause.where, "graph break in ", f": {cause.reason}")
    return _listed(contents, shown)


def _listed(contents: Sequence[tuple[str, str]], shown: Mapping[str, str]) -> _Contents:
    return _Contents(Counter(contents), {label: shown.get(label, label) for label, _ in contents})


def kernel_differences(
    before: Sequence[Kernel], after: Sequence[Kernel]
) -> tuple[list[str], list[str], list[str]]:
    """Kernels that only the first compilation has, only the second has, and whose code changed."""
    sides = [
        _listed([(_kernel_label(kernel), _code(kernel)) for kernel in side], {})
        for side in (before, after)
    ]
    return _sorted(*sides)


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


def _place(where: SourceLine | None, files: Set[str] | None = None) -> str:
    """A function with its file, if that is one of ``files``; None: with its file."""
    if where is None:
        return "an unknown place"
    # The line moves with every edit above it; the folder differs from machine to machine.
    file = PurePath(where.file).name
    if not where.function:
        return file
    return f"{where.function} in {file}" if files is None or file in files else where.function
