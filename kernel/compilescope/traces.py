"""Reports of what torch logged elsewhere: a ``TORCH_TRACE`` file or a folder of them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from .analysis.assemble import assemble
from .analysis.cpp_errors import told
from .analysis.distinct import distinct_breaks
from .analysis.epochs import epochs
from .analysis.links import pair
from .capture.records import Record
from .capture.renumber import renamed
from .capture.tracelog import read
from .errors import CompilescopeError
from .report import Report, Subject, VariantReport
from .variant import Variant
from .version import __version__

_RANK = re.compile(r"rank_?(\d+)")


def report_of(path: str | Path) -> Report:
    """See `compilescope.read_trace`."""
    path = Path(path)
    files = sorted(path.glob("*.log*")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise CompilescopeError(
            f"There is no trace at {str(path)!r}.",
            "It is neither a file nor a folder with files that end in .log or .log.gz.",
            "Give the file that torch wrote, or the folder that TORCH_TRACE named.",
        )
    report = Report(
        created=_written(files[-1]),
        subject=Subject(id=f"trace:{path.name}", name=path.name, kind="trace"),
    )
    report.environment.compilescope = __version__
    for file in files:
        log = read(file)
        compilations = assemble(_distinguished(log.records), variant=_name(file, report))
        report.problems += log.problems
        report.variants.append(
            VariantReport(
                name=_name(file, report),
                requested=Variant(cpp_wrapper=any(one.code.cpp for one in compilations)),
                stage="built",
                compilations=compilations,
                problems=told(log.records, compilations),
                breaks=distinct_breaks(compilations),
                absent={"timing": "A trace holds what was compiled, and no calls."},
            )
        )
    _pair(report.variants)
    return report


def _distinguished(records: Sequence[Record]) -> list[Record]:
    """The records under ids that occur once: torch counts anew after ``torch._dynamo.reset()``.

    Ids of the first count stay torch's own; frames of a later one are numbered on.
    """
    renumbered: list[Record] = []
    offset = 0
    for epoch in epochs(records):
        known = {record.compile_id for record in epoch if record.compile_id is not None}
        frames = {name: int(name.partition("/")[0]) for name in known}
        ids = {name: f"{frame + offset}/{name.partition('/')[2]}" for name, frame in frames.items()}
        renumbered += [renamed(record, ids) for record in epoch]
        offset += max(frames.values(), default=-1) + 1
    return renumbered


def _name(file: Path, report: Report) -> str:
    rank = _RANK.search(file.name)
    name = f"rank {rank.group(1)}" if rank else file.name.removesuffix(".gz").removesuffix(".log")
    taken = {variant.name for variant in report.variants}
    return name if name not in taken else f"{name} ({len(taken)})"


def _written(file: Path) -> str:
    stamp = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.timezone.utc)
    return stamp.isoformat(timespec="seconds")


def _pair(variants: list[VariantReport]) -> None:
    """Link a trace of the Python wrapper with one of the C++ wrapper."""
    if len(variants) == 2 and variants[0].requested != variants[1].requested:
        python, cpp = sorted(variants, key=lambda variant: variant.requested.cpp_wrapper)
        partners = {one.id: one for one in cpp.compilations}
        for compilation in python.compilations:
            if compilation.id in partners:
                pair(compilation, partners[compilation.id])
