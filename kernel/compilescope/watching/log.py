"""The log of a watch: collects records, reads compilations, and bounds memory."""

from __future__ import annotations

import threading
import time
import traceback
import types
import weakref
from collections.abc import Callable

from .. import notebook_cells
from ..analysis.assemble import assemble
from ..analysis.guards.reasons.recompile_words import add_causes
from ..analysis.guards.recompiles import Memory, agree_by_frame
from ..analysis.parts import PartFailures
from ..analysis.phases.phases import begin_at
from ..analysis.problems.compile_failures import Failures, RaisedError, without_breaks
from ..analysis.problems.cpp_errors import place
from ..analysis.problems.distinct_breaks import distinct_breaks
from ..capture.live import loaded_files
from ..capture.stream import Group, Stream
from ..report import Compilation, Node, VariantReport
from ..report.problem import Problem
from ..report.units import time_of_day
from .compilation_rows import CompilationRows
from .live_report import LiveReport
from .origin import Origin
from .reduce_compilation import held_bytes, reduce

PATIENCE_S = 0.5
"""How long a finished compilation may leave its outermost span open."""

_UNREAD_SHARE = 0.25
"""The share of the budget for unread records."""

_MAX_RAISED = 20
"""How many failures of the user's calls are reported."""

_MAX_DETAILS = 100
"""How many problems of failed compilations keep their details."""

IN_THE_MIDDLE = (
    "Watching ended before this compilation did. What torch had logged by then is shown."
)
BEGUN_BEFORE = "Watching began in the middle of this compilation."
ONLY_BACKWARD = "Watching began after the forward was compiled: only the backward is here."


class WatchLog:
    """Everything that one watch has recorded. Safe to use from any thread.

    Parameters
    ----------
    report
        Its one variant gets the compilations.
    budget_bytes
        The approximate memory limit. Beyond it the oldest compilations are reduced to outlines.
    """

    def __init__(self, report: LiveReport, budget_bytes: int) -> None:
        self.report = report
        self.budget_bytes = budget_bytes
        self.stream = Stream(self.failed)
        self.printed: dict[str, list[Node]] = {}
        """Graphs' texts → their nodes, as they are printed."""
        self.rows = CompilationRows()
        self.held_bytes = 0
        self.reduced = 0
        self.left_out = 0
        self._variant: VariantReport = report.variants[0]
        self._sizes: dict[str, int] = {}
        self._codes: dict[str, weakref.ref[types.CodeType]] = {}
        self._memory = Memory()
        self._first_s: float | None = None
        self._lock = threading.RLock()
        self._is_reading = False
        self._failures = 0
        self._first_failure: Problem | None = None
        self._raised: list[RaisedError] = []
        self._failed_compilations = Failures(_MAX_DETAILS)
        self._failed_parts = PartFailures(_MAX_DETAILS)

    def raised(self, error: RaisedError) -> None:
        """Records that a call of the user failed in torch.compile or in generated code."""
        with self._lock:
            same = [
                earlier
                for earlier in self._raised
                if (earlier.problem.what, earlier.problem.why)
                == (error.problem.what, error.problem.why)
            ]
            if not same and len(self._raised) < _MAX_RAISED:
                self._raised.append(error)

    def failed(self, error: Exception) -> None:
        """Records an error of compilescope within the user's compilation."""
        self._failures += 1
        if self._first_failure is None:
            self._first_failure = Problem(
                severity="error",
                what=f"Part of watching failed: {type(error).__name__}: {error}",
                why=_FAULT,
                remedy="Please report it with the details below.",
                detail="".join(traceback.format_exception(error)),
            )

    @property
    def problem(self) -> Problem | None:
        """The errors of the watch itself, if any."""
        if self._first_failure is not None and self._failures > 1:
            times = f"It failed {self._failures:,} times; this was the first."
            self._first_failure.why = f"{_FAULT} {times}"
        return self._first_failure

    @property
    def total_bytes(self) -> int:
        """The approximate memory of compilations that were read and of unread records."""
        groups = list(self.stream.groups.values())
        return self.held_bytes + self.stream.waiting + sum(group.size for group in groups)

    @property
    def is_due(self) -> bool:
        """Whether the unread records threaten to exceed the budget."""
        unread = sum(group.size for group in list(self.stream.groups.values()) if group.fresh)
        return self.stream.waiting + unread > self.budget_bytes * _UNREAD_SHARE

    def group_events(self) -> None:
        """Groups new events by compilation; reads nothing yet."""
        with self._lock:
            self.stream.group_events()
            for group in self.stream.groups.values():
                self.rows.update(group)

    def refresh(self, *, final: bool = False) -> None:
        """Reads finished compilations; with ``final`` also unfinished ones."""
        with self._lock:
            if self._is_reading:
                return
            self._is_reading = True
            try:
                self._refresh(final)
            finally:
                self._is_reading = False

    def code_of(self, compile_id: str) -> types.CodeType | None:
        """The code that was compiled; None once it no longer exists."""
        with self._lock:
            reference = self._codes.get(compile_id)
            return reference() if reference is not None else None

    def _refresh(self, final: bool) -> None:
        # Before new events are taken: another thread may print a graph while these are read.
        known = list(self.printed)
        self.group_events()
        for group in list(self.stream.groups.values()):
            if group.fresh and (final or self._is_settled(group)):
                self._read(group, final)
                group.fresh = False
            if not group.fresh and group.done and (final or not group.awaits_backward):
                self.stream.drop(group)
        if all(not group.fresh for group in self.stream.groups.values()):
            for text in known:
                self.printed.pop(text, None)
            self.stream.loose.clear()
        self._bound()
        self._variant.breaks = distinct_breaks(self._variant.compilations)
        self._add_problems()

    def _is_settled(self, group: Group) -> bool:
        return group.done and (group.ended or time.time() - group.last_s > PATIENCE_S)

    def _read(self, group: Group, final: bool) -> None:
        for record in group.records:
            text = record.payload
            if text in self.printed:
                group.nodes[text] = self.printed[text]
        try:
            with self._failed_parts.collecting(group.id):
                compilation = self._assembled(group)
        except Exception as error:  # noqa: BLE001 - one that cannot be read is not the others' matter
            self.failed(error)
            compilation = Compilation(id=group.id)
            compilation.absent["compilation"] = "compilescope could not read torch's records of it."
        seen = self.rows.row_of(group)
        compilation.outcome = seen.outcome
        compilation.frame = compilation.frame or seen.frame
        self._failed_compilations.remove(group.id)
        if compilation.outcome != "compiled":
            self._failed_compilations.add(without_breaks(group.records), [compilation])
        add_causes(compilation)
        compilation.started_s = compilation.started_s or seen.started_s
        compilation.duration_s = seen.duration_s or compilation.duration_s
        if compilation.started_s is not None:
            self._first_s = compilation.started_s if self._first_s is None else self._first_s
            begin_at(compilation.phases, (compilation.started_s - self._first_s) * 1e6)
        if group.torch_id != group.id:
            compilation.torch_id = group.torch_id
        if isinstance(group.origin, Origin):
            group.origin.put_into(compilation)
        if not group.started and not seen.failed:
            compilation.absent["start"] = ONLY_BACKWARD if group.backward else BEGUN_BEFORE
        if final and not group.done:
            compilation.absent["end"] = IN_THE_MIDDLE
        if group.code is not None:
            self._codes[group.id] = group.code
        self._replace(compilation)

    def _assembled(self, group: Group) -> Compilation:
        span = group.records[0].time_s - 1.0, group.records[-1].time_s + 1.0
        loose = [record for record in self.stream.loose if span[0] <= record.time_s <= span[1]]
        records = [*self.stream.shared, *loose, *group.records]
        assembled = assemble(
            records,
            variant=self._variant.name,
            nodes=group.nodes,
            memory=self._memory,
            files=loaded_files(),
        )
        return next(
            (compilation for compilation in assembled if compilation.id == group.id),
            Compilation(id=group.id),
        )

    def _replace(self, compilation: Compilation) -> None:
        # A new list, so that concurrent iteration over the old one is safe.
        compilations = list(self._variant.compilations)
        for index in range(len(compilations) - 1, -1, -1):
            if compilations[index].id == compilation.id:
                compilations[index] = compilation
                break
        else:
            compilations.append(compilation)
        self._variant.compilations = compilations
        agree_by_frame(compilations)
        size = held_bytes(compilation)
        self.held_bytes += size - self._sizes.get(compilation.id, 0)
        self._sizes[compilation.id] = size
        self.report.files |= notebook_cells.texts(compilation.source_files)

    @property
    def _room(self) -> float:
        """The memory limit of compilations that were read."""
        return self.budget_bytes * (1 - _UNREAD_SHARE)

    def _bound(self) -> None:
        """Frees memory for further records: drops what may never be needed, then the oldest."""
        waiting = sum(group.size for group in self.stream.groups.values())
        for group in list(self.stream.groups.values()):
            if self.held_bytes + waiting <= self._room:
                return
            if group.done and not group.fresh:
                waiting -= group.size
                self.stream.drop(group)
        self._shrink(self._reduced)
        if self.held_bytes > self._room:
            before = len(self._variant.compilations)
            self._shrink(self._removed)
            self.left_out += before - len(self._variant.compilations)

    def _shrink(self, change: Callable[[Compilation], Compilation | None]) -> None:
        remaining: list[Compilation] = []
        for compilation in self._variant.compilations:
            changed: Compilation | None = compilation
            if self.held_bytes > self._room:
                changed = change(compilation)
            if changed is not None:
                remaining.append(changed)
        self._variant.compilations = remaining

    def _reduced(self, compilation: Compilation) -> Compilation:
        if compilation.reduced:
            return compilation
        self.reduced += 1
        small = reduce(
            compilation,
            "Its texts, graphs, kernels and guards were dropped at "
            f"{time_of_day(time.time())} to hold no more than {megabytes(self.budget_bytes)}.",
        )
        self._memory.forget(compilation.id)
        size = held_bytes(small)
        self.held_bytes += size - self._sizes[compilation.id]
        self._sizes[compilation.id] = size
        return small

    def _removed(self, compilation: Compilation) -> None:
        self.held_bytes -= self._sizes.pop(compilation.id)
        self._codes.pop(compilation.id, None)

    def _add_problems(self) -> None:
        """Adds to the report what it lacks."""
        problems = [self.problem] if self.problem is not None else []
        for raised, _ in self._raised:
            if "compilation" not in raised.facts:
                place(raised, self._variant.compilations)
            problems.append(raised)
        problems += self._failed_compilations.problems(self._raised)
        problems += self._failed_parts.problems()
        budget = megabytes(self.budget_bytes)
        if self.reduced:
            problems.append(
                Problem(
                    severity="info",
                    what=f"{self.reduced:,} compilations are reduced to an outline.",
                    why=f"A watch holds no more than {budget}; the oldest lose their texts first.",
                    remedy="Watch with a larger memory, or for a shorter time.",
                )
            )
        if self.left_out:
            problems.append(
                Problem(
                    severity="warning",
                    what=f"The {self.left_out:,} oldest compilations are only counted.",
                    why=f"Even their outlines do not fit in {budget}.",
                    remedy="Watch with a larger memory, or for a shorter time.",
                )
            )
        if self.stream.late:
            problems.append(
                Problem(
                    severity="info",
                    what=f"{self.stream.late:,} records are left out.",
                    why="torch logged them after what they belong to was complete, or after its "
                    "records were dropped to hold no more memory.",
                )
            )
        self.report.problems = problems


_FAULT = (
    "This is a bug in compilescope, not in your code. Your code kept running, and watching goes on."
)


def megabytes(size: int) -> str:
    """``256 MB``."""
    return f"{size / 1e6:.3g} MB"
