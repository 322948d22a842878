"""A trace of any size: outlines of all compilations immediately, each complete on demand."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from ..capture.open_log import Log, open_logs
from ..capture.parse_log import DamagedLines, no_trace
from ..capture.record_heads import Blocks
from ..measure.garbage_collection import gc_disabled
from ..report import Compilation, DistinctBreak, Problem, Report, Subject, VariantReport
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..torch_api.trace.record_names import GUARDS
from .log_files import (
    Origin,
    common_path,
    find_logs,
    is_of_rank,
    names_of,
    origin,
    paths_of,
    ranks_of,
    trace_name,
    unreadable,
)
from .outlines import Events, Outlines
from .whole_trace import NO_CALLS, describe, last_written, stage_of

if TYPE_CHECKING:
    from .offsets import Assembled, Offsets

Progress = Callable[[int, int], None]
"""Called with how many bytes were read, and of how many."""


class ProcessLog:
    """What one process logged.

    Attributes
    ----------
    name
        ``rank 0``; ``rank 0, attempt 2`` of a job that was started again.
    size_bytes
        How much there was to read when it was opened.
    """

    def __init__(self, path: Path, folder: Path, log: Log) -> None:
        stat = path.stat()
        year = datetime.datetime.fromtimestamp(stat.st_mtime, datetime.timezone.utc).year
        self.name = path.name
        self.path = path
        # What is read in place is as long as the file; of other files it is a part, unpacked.
        self.size_bytes = stat.st_size if log.grows else log.file.seek(0, os.SEEK_END)
        self._file_bytes = stat.st_size
        self._written_ns = stat.st_mtime_ns
        self._inode = stat.st_ino
        self._folder = folder
        self._log = log
        self._year = year
        self._damages = DamagedLines(path.name, numbered=False)
        self._outlines = Outlines(Blocks(log.file), year, self._damages)
        self._offsets: Offsets | None = None
        self._unindexed: dict[str, None] = {}
        """The compilations with records that are not indexed yet."""
        self._whole = True

    def close(self) -> None:
        """Close the file."""
        self._log.file.close()

    def read(
        self, progress: Callable[[int], None] = lambda position: None, *, whole: bool = True
    ) -> list[Events]:
        """Read what was written since the last time; see `Outlines.read`."""
        changed = self._outlines.read(progress, whole=whole)
        self._whole = whole
        self._unindexed.update((events.id, None) for events in changed)
        return changed

    @property
    def is_whole(self) -> bool:
        """Whether the log is taken to be finished."""
        return self._whole

    @property
    def grows(self) -> bool:
        """Whether records that are appended later can be read."""
        return self._log.grows

    @property
    def is_replaced(self) -> bool:
        """Whether the file no longer exists, or no longer begins with what was read."""
        try:
            stat = self.path.stat()
        except OSError:
            return True
        if not self._log.grows:
            return (stat.st_size, stat.st_mtime_ns) != (self._file_bytes, self._written_ns)
        return stat.st_ino != self._inode or stat.st_size < self._outlines.position

    @property
    def file(self) -> BinaryIO:
        """The log, open for reading; each reader seeks first."""
        return self._log.file

    @property
    def origin(self) -> Origin:
        """Which process it is."""
        return origin(self.path, self._folder, self._log.rank, self._outlines.first_s)

    @property
    def events(self) -> dict[str, Events]:
        """What the log's heads say of each compilation."""
        return self._outlines.events

    def outline(self, events: Events) -> Compilation:
        """A compilation without what only its texts tell."""
        return self._outlines.outline(events)

    def compilation(self, compile_id: str) -> Assembled:
        """A compilation, whole.

        Raises
        ------
        CompilescopeError
            There is none of that id; the message lists those there are.
        """
        if compile_id not in self.events:
            raise CompilescopeError(
                f"{self.name} has no compilation {compile_id!r}.",
                remedy=f"It has {_listed(list(self.events))}.",
            )
        assembled = self.offsets.assembled(compile_id, self.name)
        outline = self.outline(self.events[compile_id])
        for graph_break, outlined in zip(
            assembled.compilation.breaks, outline.breaks, strict=False
        ):
            # A problem of another compilation does not concern this one.
            graph_break.resumed = outlined.resumed
        return assembled

    @property
    def offsets(self) -> Offsets:
        """The offsets of the records, up to where the log has been read."""
        if self._offsets is None:
            from .offsets import Offsets  # a summary needs none of it

            self._offsets = Offsets(self._log.file, self._year, self.path.name)
        if self._unindexed:
            self._offsets.read(whole=self._whole, changed=self._unindexed)
            self._unindexed.clear()
        return self._offsets

    def report(self) -> VariantReport:
        """Its compilations in outline, and its problems."""
        compilations = [self.outline(events) for events in self.events.values()]
        problems = self.problems
        texts = {text.name for events in self.events.values() for text in events.texts}
        return VariantReport(
            name=self.name,
            requested=Variant(),
            stage=stage_of(problems, has_results=GUARDS in texts),
            compilations=compilations,
            problems=problems,
            breaks=_distinct(compilations),
            absent={"timing": NO_CALLS},
        )

    @property
    def problems(self) -> list[Problem]:
        """Compilations that failed, and what compilescope could not analyze of those it read."""
        unanalyzed = self._offsets.failures.problems() if self._offsets is not None else []
        return [*self._outlines.failures(), *unanalyzed]

    @property
    def damages(self) -> list[Problem]:
        """The parts of the log that cannot be read."""
        return self._damages.problems()

    def text_at(self, offset: int) -> str:
        """The text of the record that begins there."""
        return self.offsets.text_at(offset)

    @property
    def outlines(self) -> Outlines:
        """What was read of the log."""
        return self._outlines


class Trace:
    """Files or folders of torch's logs, read on demand.

    Opening it reads the heads of all records once; a compilation's texts are read when it is asked
    for. `compilescope.read_trace` reads all of it instead.

    Parameters
    ----------
    path
        A log, plain or compressed, or a folder of logs; or several of them.
    progress
        Called with the bytes that were read, and of how many.
    whole
        Whether the logs are finished. Else `read_on` reads what is written later.

    Raises
    ------
    CompilescopeError
        There is no trace there.

    Examples
    --------
    >>> from compilescope.readers.lazy_trace import Trace
    >>> with Trace("traces/") as trace:                        # doctest: +SKIP
    ...     slowest = max(trace.report().compilations, key=lambda c: c.duration_s or 0.0)
    ...     print(trace.process("rank 0").compilation(slowest.id).compilation.code.python)
    """

    def __init__(
        self,
        path: str | Path | Sequence[Path],
        progress: Progress = lambda done, total: None,
        *,
        whole: bool = True,
    ) -> None:
        self._paths = paths_of(path)
        self.path = common_path(self._paths)
        self.name = trace_name(self._paths)
        self._logs: list[ProcessLog] = []
        self._problems: list[Problem] = []
        self._opened: set[Path] = set()
        self._whole = whole
        self._read(progress)

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        for log in self._logs:
            log.close()

    @property
    def processes(self) -> list[ProcessLog]:
        """Those that logged a compilation: ranks by number, attempts by time."""
        return [log for log in self._logs if log.events]

    def processes_of(self, rank: str | None) -> list[ProcessLog]:
        """Those of one rank (``rank 1``), in all its attempts; None: all."""
        return [log for log in self.processes if is_of_rank(log.name, rank)]

    @property
    def position(self) -> int:
        """How many bytes were read."""
        return sum(log.outlines.position for log in self._logs)

    @property
    def grows(self) -> bool:
        """Whether records that are appended later can be read: no log is compressed."""
        return any(log.grows for log in self._logs)

    @property
    def is_replaced(self) -> bool:
        """Whether a log that was read no longer exists or was replaced."""
        return any(log.is_replaced for log in self._logs)

    def read_on(self) -> list[tuple[ProcessLog, Events]]:
        """Read what was written since the last time: the compilations with something new."""
        return self._read(lambda done, total: None)

    def finish(self) -> list[tuple[ProcessLog, Events]]:
        """Read to the end, including the last record: nothing writes to the logs any more."""
        self._whole = True
        return self.read_on()

    def process(self, name: str | None = None) -> ProcessLog:
        """The log of the process of that name, or the first one.

        Raises
        ------
        CompilescopeError
            There is none of that name; the message lists those there are.
        """
        for process in self.processes:
            if name in (None, process.name):
                return process
        names = [process.name for process in self.processes]
        raise CompilescopeError(
            f"{self.name} has no process {name!r}." if name else f"{self.path} holds no trace.",
            remedy=f"It has {_listed(names)}." if names else "",
        )

    @property
    def problems(self) -> list[Problem]:
        """The parts of the files that cannot be read."""
        return self._problems_of(None)

    def _problems_of(self, rank: str | None) -> list[Problem]:
        problems = list(self._problems)
        for log in self._logs:
            number = log.origin.rank
            may_be = number is None and not log.events
            if rank is not None and rank != f"rank {number}" and not may_be:
                continue
            if log.damages and not log.events:
                problems.append(no_trace(log.path.name))
            problems += log.damages
        return problems

    @gc_disabled()
    def report(self, rank: str | None = None) -> Report:
        """Every compilation in outline, a variant for each process; of one rank, or of all."""
        processes = self.processes_of(rank)
        report = Report(
            created=last_written(self._opened),
            subject=Subject(id=f"trace:{self.name}", name=self.name, kind="trace"),
            problems=self._problems_of(rank),
        )
        report.subject.device = ""
        for process in processes:
            report.variants.append(process.report())
            describe(report, process.outlines.environment, "")
        report.subject.name += ranks_of([process.origin for process in processes])
        return report

    @gc_disabled()
    def _read(self, progress: Progress) -> list[tuple[ProcessLog, Events]]:
        self._open_new()
        total = sum(log.size_bytes for log in self._logs)
        done = 0
        changed: list[tuple[ProcessLog, Events]] = []
        for log in self._logs:
            events = log.read(_offset_progress(progress, done, total), whole=self._whole)
            changed += [(log, compilation_events) for compilation_events in events]
            done += log.size_bytes
            progress(done, total)  # a log's last block was not counted
        self._name()
        return changed

    def _open_new(self) -> None:
        try:
            log_files = find_logs(self._paths)
        except CompilescopeError:
            if not self._opened:
                raise
            return  # they were deleted: what was read of them remains
        if not self._opened:
            self._problems += log_files.problems
        for path in log_files.logs:
            if path in self._opened:
                continue
            self._opened.add(path)
            try:
                opened = open_logs(path)
            except OSError as error:
                self._problems.append(unreadable(path, error))
                continue
            if opened.problem is not None:
                self._problems.append(opened.problem)
            self._logs += [ProcessLog(path, self.path, log) for log in opened.logs]

    def _name(self) -> None:
        self._logs.sort(key=lambda log: log.origin.order)
        names = names_of([process.origin for process in self.processes])
        for process, name in zip(self.processes, names, strict=True):
            process.name = name


def _offset_progress(progress: Progress, done: int, total: int) -> Callable[[int], None]:
    return lambda position: progress(done + position, total)


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:12]))
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown or "none"


def _distinct(compilations: Sequence[Compilation]) -> list[DistinctBreak]:
    """`distinct_breaks`, whose import a trace without breaks does not need."""
    if not any(compilation.breaks for compilation in compilations):
        return []
    from ..analysis.problems.distinct_breaks import distinct_breaks

    return distinct_breaks(compilations)
