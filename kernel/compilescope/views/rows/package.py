"""Packages compiled ahead of time, in words and rows."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Package, Report, VariantReport
from .. import wording
from .table import Column, Table

_KINDS = {
    "source": "source",
    "kernel": "kernel",
    "library": "library",
    "constants": "constants",
    "metadata": "metadata",
    "build": "build",
    "other": "other",
}

ENTRIES = Table(
    "entries",
    (
        Column("entry", "entry point"),
        Column("median", "median", kind="figure"),
        Column("bar", "median", kind="drawing", where="panel"),
        Column("interval", "95 % interval", "Of the median", "figure"),
        Column("speedup", "over eager", "Interleaved with eager, in the same process", "figure"),
    ),
)
FILES = Table(
    "files",
    (
        Column("file", "file"),
        Column("kind", "kind", words=_KINDS),
        Column("size", "size", kind="figure"),
    ),
)
_FILES = 40
"""Rows of the table of files."""


def packaged(report: Report) -> Iterator[VariantReport]:
    """Yield the variants that have a package."""
    yield from (variant for variant in report.variants if variant.package is not None)


def headline(variant: VariantReport, package: Package) -> str:
    """Return a description of the package, in a line."""
    start = f"{variant.name}: ahead of time"
    if package.problem is not None and not package.files:
        return f"{start}, {package.problem.what}"
    parts = [
        f"{package.state[:1].lower()}{package.state[1:]}",
        wording.count(len(package.files), "file"),
        wording.count(len(package.constants), "constant"),
        package.results,
    ]
    return f"{start}, {', '.join(filter(None, parts))}"


def lines(package: Package) -> Iterator[str]:
    """Yield lines about a package besides its entries."""
    if package.problem is not None:
        yield package.problem.why or package.problem.what
        if package.problem.remedy:
            yield package.problem.remedy
    if package.inputs:
        yield f"takes {', '.join(package.inputs)}"
    if package.outputs:
        yield f"gives {', '.join(package.outputs)}"
    if package.dynamic:
        yield f"sizes: {', '.join(package.dynamic)}"
    if package.parts:
        yield ", ".join(f"{name} {seconds:.2g} s" for name, seconds in package.parts.items())
    files = {file.path for file in package.files}
    yield from (why for name, why in package.absent.items() if name not in files)


def entries(package: Package) -> list[tuple[str, ...]]:
    """Return the ways to call it, in the order of `ENTRIES`."""
    return [
        ENTRIES.row(entry=entry.name, median=entry.why or "not measured", interval="", speedup="")
        if entry.timing is None
        else ENTRIES.row(
            entry=entry.name,
            median=wording.duration(entry.timing.median_us),
            interval=entry.timing.interval,
            speedup=wording.speedup(entry.timing),
        )
        for entry in package.entries
    ]


def files(package: Package) -> list[tuple[str, ...]]:
    """Return the files in the order of `FILES`, and how many are left out."""
    left_out = len(package.files) - _FILES
    return [
        *(
            FILES.row(file=file.path, kind=_KINDS[file.kind], size=wording.size(file.bytes))
            for file in package.files[:_FILES]
        ),
        *([(f"… and {wording.whole_number(left_out)} more", "", "")] if left_out > 0 else []),
    ]
