"""Reports of what torch logged elsewhere: a ``TORCH_TRACE`` file or a folder of them."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ..analysis.assemble import assemble
from ..analysis.packages.trace_header import device_of, environment_of
from ..analysis.phases.compilations import epochs
from ..analysis.problems.compile_failures import read_failures
from ..analysis.problems.distinct_breaks import distinct_breaks
from ..analysis.wrapper.links import pair
from ..capture.records import LOOSE, Record
from ..capture.renumber import renamed
from ..capture.tracelog import TraceLog, read
from ..measure.garbage_collection import gc_disabled
from ..report import Compilation, Problem, Report, Subject, VariantReport
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..version import __version__

_RANK = re.compile(r"rank_?(\d{1,9})")
_LOG = re.compile(r"\.log(\.\d+)?(\.gz|\.zst)?$")


class _Trace(NamedTuple):
    """What one process logged into one file."""

    file: str
    """Relative to the folder that was opened."""
    rank: int | None
    records: list[Record]

    @property
    def order(self) -> tuple[float, float, str]:
        """Ranks by number, and the files of a restarted one by time; then those without a rank."""
        begun = self.records[0].time_s
        return (float("inf"), 0.0, self.file) if self.rank is None else (self.rank, begun, "")


@gc_disabled()
def report_of(path: str | Path) -> Report:
    """See `compilescope.read_trace`."""
    path = Path(path)
    files, problems = _files(path)
    if not files:
        raise CompilescopeError(
            f"There is no trace at {str(path)!r}.",
            "It is neither a file nor a folder with files that end in .log or .log.gz.",
            "Give the file that torch wrote, or the folder that TORCH_TRACE named.",
        )
    report = Report(
        created=_written(files[-1]),
        subject=Subject(id=f"trace:{path.name}", name=path.name, kind="trace", device=""),
        problems=problems,
    )
    traces: list[_Trace] = []
    for file in files:
        try:
            log = read(file)
        except OSError as error:
            report.problems.append(_unreadable(file, error))
            continue
        report.problems += log.problems
        for each in (log, *log.others):
            report.problems += each.problems if each is not log else []
            if each.records:
                traces.append(_Trace(_relative(file, path), _rank(file, each), each.records))
    traces.sort(key=lambda trace: trace.order)
    for trace, name in zip(traces, _names(traces), strict=True):
        report.variants.append(_variant(trace, name))
    _describe(report, traces)
    _pair(report.variants)
    return report


def _files(path: Path) -> tuple[list[Path], list[Problem]]:
    """The traces at a path, and what stands there and cannot be one."""
    if not path.is_dir():
        return ([path] if path.is_file() else []), []
    files, problems = [], []
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            file = Path(folder, name)
            if not _LOG.search(name):
                continue
            if file.is_file():
                files.append(file)
            else:
                problems.append(_no_file(file, path))
    return files, problems


def _no_file(file: Path, folder: Path) -> Problem:
    link = file.is_symlink()
    return Problem(
        severity="warning",
        what=f"{_relative(file, folder)} is not read.",
        why=f"It is a link to {file.readlink()}, which is not there." if link else "It is no file.",
        remedy="The other files are shown.",
    )


def _unreadable(file: Path, error: OSError) -> Problem:
    return Problem(
        severity="error",
        what=f"{file.name} cannot be read: {error.strerror or error}.",
        why="The operating system refused it.",
        remedy="Look at who may read the file.",
    )


def _relative(file: Path, folder: Path) -> str:
    return file.name if file == folder else file.relative_to(folder).as_posix()


def _rank(file: Path, log: TraceLog) -> int | None:
    named = _RANK.search(file.name)
    if log.rank is not None:
        return log.rank
    return int(named[1]) if named else None


def _names(traces: Sequence[_Trace]) -> list[str]:
    """Each trace's name, as each of the report's variants has one of its own."""
    names: list[str] = []
    attempts: dict[int, int] = {}
    for trace in traces:
        if trace.rank is None:
            names.append(_LOG.sub("", trace.file))
            continue
        attempt = attempts[trace.rank] = attempts.get(trace.rank, 0) + 1
        # A job that is started again writes another file for each rank.
        names.append(f"rank {trace.rank}" + (f", attempt {attempt}" if attempt > 1 else ""))
    taken: set[str] = set()
    for index, name in enumerate(names):
        if name in taken:
            names[index] = traces[index].file
        taken.add(names[index])
    return names


def _variant(trace: _Trace, name: str) -> VariantReport:
    records = _distinguished(trace.records)
    compilations = assemble(records, variant=name, raw=True)
    problems = read_failures(records, compilations)
    return VariantReport(
        name=name,
        requested=Variant(cpp_wrapper=any(one.code.cpp for one in compilations)),
        stage=_stage(compilations, problems),
        compilations=compilations,
        problems=problems,
        breaks=distinct_breaks(compilations),
        absent={"timing": "A trace holds what was compiled, and no calls."},
    )


def _stage(
    compilations: Sequence[Compilation], problems: Sequence[Problem]
) -> Literal["sources", "built", "failed"]:
    if any(problem.severity == "error" for problem in problems):
        return "failed"
    # What torch keeps and runs has guards.
    return "built" if any(one.guards or one.code.path for one in compilations) else "sources"


def _distinguished(records: Sequence[Record]) -> list[Record]:
    """The records under ids that occur once: torch counts anew after ``torch._dynamo.reset()``.

    Ids of the first count stay torch's own; frames of a later one are numbered on. Records without
    an id get `LOOSE`, but for those that are of the whole process.
    """
    distinguished: list[Record] = []
    frames = graphs = 0
    for epoch in epochs(records):
        ids = {
            record.compile_id: _moved(record.compile_id, frames, graphs)
            for record in epoch
            if record.compile_id is not None
        }
        distinguished += [_with_id(renamed(record, ids)) for record in epoch]
        frames = _count(frames, (name.split("/")[-2] for name in ids.values() if "/" in name))
        graphs = _count(graphs, (name[1:].split("/")[0] for name in ids.values() if name[0] == "!"))
    return distinguished


def _moved(name: str, frames: int, graphs: int) -> str:
    """A compile id as counted from other numbers of frames and compiled autograd's graphs."""
    parts = name.split("/")
    if len(parts) > 1:
        parts[-2] = str(int(parts[-2]) + frames)
    if parts[0].startswith("!"):
        parts[0] = f"!{int(parts[0][1:]) + graphs}"
    return "/".join(parts)


def _count(before: int, numbers: Iterable[str]) -> int:
    return max((int(number) + 1 for number in numbers), default=before)


def _with_id(record: Record) -> Record:
    whole = record.event in ("str", "chromium_event") or record.name == "torch_version"
    if record.compile_id is not None or whole:
        return record
    return msgspec.structs.replace(record, compile_id=LOOSE)


def _describe(report: Report, traces: Sequence[_Trace]) -> None:
    """Say where the traces were written, and by which ranks."""
    subject = report.subject
    for trace in traces:
        found = environment_of(trace.records)
        for field in found.__struct_fields__:
            value = getattr(report.environment, field) or getattr(found, field)
            setattr(report.environment, field, value)
        subject.device = subject.device or device_of(trace.records)
    report.environment.compilescope = __version__
    ranks = sorted({trace.rank for trace in traces if trace.rank is not None})
    if len(ranks) == 1:
        subject.name += f", rank {ranks[0]}"
    elif ranks:
        together = ranks == list(range(ranks[0], ranks[-1] + 1))
        listed = f"{ranks[0]} to {ranks[-1]}" if together else ", ".join(map(str, ranks))
        subject.name += f", ranks {listed}"


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
