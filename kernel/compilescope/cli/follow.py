"""Follows the log of a running job: prints its compilations as they end."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..readers.lazy_trace import ProcessLog, Trace
from ..readers.log_files import is_log, is_of_rank
from ..readers.outlines import Events
from ..readers.trace_summary import backward_line, compilation_lines
from ..report.errors import CompilescopeError
from ..report.subjects.traces import BackwardLine, CompilationLine
from ..torch_api.trace.record_names import BACKWARD_METRICS
from . import files, trace_text
from .terminal import Paint

_INTERVAL_S = 0.5
"""How often the files are checked."""
_CLEAR = "\r\033[K"


def check_growth(paths: Sequence[Path]) -> None:
    """Refuse to follow logs that are compressed: nothing is ever added to them.

    Raises
    ------
    CompilescopeError
        Each path is a compressed file.
    """
    if all(path.is_file() and path.suffix in (".gz", ".zst") for path in paths):
        raise CompilescopeError(
            f"{paths[0].name} cannot be followed: it is compressed.",
            "A running job writes to a plain .log.",
            "Leave out --follow, or give the folder that TORCH_TRACE names.",
        )


def wait_for_logs(paths: Sequence[Path]) -> None:
    """Wait until each folder holds a log: the job may not have compiled anything yet."""
    is_announced = False
    for folder in filter(Path.is_dir, paths):
        while not any(is_log(name) for _, _, names in os.walk(folder) for name in names):
            if not is_announced:
                files.print_note(f"waits for a log in {folder}")
                is_announced = True
            time.sleep(_INTERVAL_S)


def follow(trace: Trace, *, rank: str | None, redact: bool, as_json: bool) -> None:
    """Print each compilation when it ends, until the user presses Ctrl-C.

    Parameters
    ----------
    trace
        A trace opened as incomplete: reading waits for the rest of an unfinished record.
    rank
        The name of one process, to print its compilations alone. None: all.
    redact
        Leave out folders' names, source code and quoted values.
    as_json
        Print each compilation as a line of JSON.
    """
    follower = _Follower(trace, rank, redact=redact, as_json=as_json)
    files.print_note(
        f"follows {trace.path}: each compilation as it ends, with the time since the first one "
        "began, and its own. Ctrl-C ends."
    )
    try:
        changed: Iterable[tuple[ProcessLog, Events]] = (
            (log, events) for log in trace.processes for events in log.events.values()
        )
        while True:
            follower.print_ended(changed)
            follower.show_unfinished()
            time.sleep(_INTERVAL_S)
            changed = trace.read_on()
    except KeyboardInterrupt:
        # New records, including the last one, which no other record completes.
        follower.print_ended(trace.finish())
        if not as_json:
            print()


class _Follower:
    """What was printed of a trace so far. For the parameters, see `follow`."""

    def __init__(self, trace: Trace, rank: str | None, *, redact: bool, as_json: bool) -> None:
        self._trace = trace
        self._rank = rank
        self._redact = redact
        self._as_json = as_json
        self._printed: dict[ProcessLog, set[str]] = {}
        self._without_backward: dict[ProcessLog, set[str]] = {}
        """Those of them whose backward was not compiled when they were printed."""
        self._first_s: float | None = None
        """When the first compilation began."""
        self._is_status_shown = False

    def print_ended(self, changed: Iterable[tuple[ProcessLog, Events]]) -> None:
        """Print those of some compilations that have ended and were not printed yet.

        torch compiles a backward when it first runs: it is printed when it has ended, too.
        """
        ended: dict[str, set[str]] = {}
        backwards: dict[str, dict[str, Events]] = {}
        for log, events in changed:
            if not events.is_done or not self._is_followed(log):
                continue
            printed = self._printed.setdefault(log, set())
            without_backward = self._without_backward.setdefault(log, set())
            has_backward = bool(events.metrics(BACKWARD_METRICS))
            if events.id not in printed:
                printed.add(events.id)
                ended.setdefault(log.name, set()).add(events.id)
                if not has_backward:
                    without_backward.add(events.id)
            elif has_backward and events.id in without_backward:
                without_backward.remove(events.id)
                backwards.setdefault(log.name, {})[events.id] = events
        if not ended and not backwards:
            return
        report = self._trace.report()
        if self._redact:
            report = report.redacted()
        lines: list[CompilationLine] = []
        why: dict[tuple[str, str], str] = {}
        for variant in report.variants:
            ids = ended.get(variant.name, set())
            lines += [line for line in compilation_lines(variant) if line.id in ids]
            later = backwards.get(variant.name, {})
            lines += [
                backward_line(compilation, variant.name, later[compilation.id])
                for compilation in variant.compilations
                if compilation.id in later
            ]
            for problem in variant.problems:
                why.update(((variant.name, name), problem.what) for name in problem.compilations)
        lines.sort(key=lambda line: line.started_s or 0.0)
        self._clear_status()
        for line in lines:
            # A problem with a compiled backward's id belongs to its forward.
            is_its_own = line.outcome != "compiled" or not isinstance(line, BackwardLine)
            self._print(line, why.get((line.process, line.id), "") if is_its_own else "")
        sys.stdout.flush()

    def show_unfinished(self) -> None:
        """Name the compilation that began last and has not ended, on a terminal."""
        if not sys.stderr.isatty():
            return
        self._clear_status()
        unfinished = [
            (log.outline(events).started_s or 0.0, log, events.id)
            for log in self._trace.processes
            if self._is_followed(log)
            for events in log.events.values()
            if events.is_unfinished
        ]
        if not unfinished:
            return
        started_s, log, compile_id = max(unfinished, key=lambda begun: begun[0])
        name = f"{log.name} {compile_id}" if self._is_scoped() else compile_id
        more = f", and {len(unfinished) - 1} more" if len(unfinished) > 1 else ""
        # The clock of another machine may be ahead of this one.
        elapsed_s = max(0.0, time.time() - started_s)
        text = f"{name} not finished after {elapsed_s:.0f} s{more}"
        columns = shutil.get_terminal_size().columns
        print(text[: columns - 1], end="", file=sys.stderr, flush=True)
        self._is_status_shown = True

    def _print(self, line: CompilationLine, why: str) -> None:
        if self._as_json:
            files.print_json_line(line)
            return
        if self._first_s is None:
            self._first_s = line.started_s
        since_s = None
        if self._first_s is not None and line.started_s is not None:
            since_s = max(0.0, line.started_s - self._first_s)
        for text in trace_text.ended(
            line, why, since_s, Paint(sys.stdout), scoped=self._is_scoped()
        ):
            print(text)

    def _clear_status(self) -> None:
        if self._is_status_shown:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
            self._is_status_shown = False

    def _is_scoped(self) -> bool:
        """Whether lines name their process: there are several, or ranks that may yet come."""
        processes = self._trace.processes
        return len(processes) > 1 or any(log.origin.rank is not None for log in processes)

    def _is_followed(self, log: ProcessLog) -> bool:
        return is_of_rank(log.name, self._rank)
