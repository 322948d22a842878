"""What was compiled ahead of time, in words and rows."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Package, Report, VariantReport
from .. import wording

ENTRIES = ("entry", "median", "95 % interval", "vs eager")
FILES = ("file", "kind", "size")
_FILES = 40
"""Rows of the table of files."""


def packaged(report: Report) -> Iterator[VariantReport]:
    """Yield the variants that have a package."""
    yield from (variant for variant in report.variants if variant.package is not None)


def headline(variant: VariantReport, made: Package) -> str:
    """Return what the package is, in a line."""
    told = f"{variant.name}: ahead of time"
    if made.problem is not None and not made.files:
        return f"{told}, {made.problem.what}"
    parts = [
        "a library" if made.built else "sources, not built",
        wording.count(len(made.files), "file"),
        wording.count(len(made.constants), "constant"),
    ]
    if made.accurate is not None:
        parts.append("eager's results" if made.accurate else "its results differ from eager's")
    return f"{told}, {', '.join(parts)}"


def lines(made: Package) -> Iterator[str]:
    """Yield what is to be said of a package beside its entries."""
    if made.problem is not None:
        yield made.problem.why or made.problem.what
        if made.problem.remedy:
            yield made.problem.remedy
    if made.inputs:
        yield f"takes {', '.join(made.inputs)}"
    if made.outputs:
        yield f"gives {', '.join(made.outputs)}"
    if made.dynamic:
        yield f"sizes: {', '.join(made.dynamic)}"
    if made.parts:
        yield ", ".join(f"{name} {seconds:.2g} s" for name, seconds in made.parts.items())
    files = {file.path for file in made.files}
    yield from (why for name, why in made.absent.items() if name not in files)


def entries(made: Package) -> list[tuple[str, ...]]:
    """Return the ways to call it, in the order of `ENTRIES`."""
    return [
        (entry.name, entry.why or "not measured", "", "")
        if entry.timing is None
        else (
            entry.name,
            wording.duration(entry.timing.median_us),
            wording.interval(entry.timing),
            wording.speedup(entry.timing),
        )
        for entry in made.entries
    ]


def files(made: Package) -> list[tuple[str, ...]]:
    """Return the files in the order of `FILES`, and how many are left out."""
    left_out = len(made.files) - _FILES
    return [
        *((file.path, file.kind, f"{file.bytes:,} bytes") for file in made.files[:_FILES]),
        *([(f"… and {left_out} more", "", "")] if left_out > 0 else []),
    ]
