"""Watches all compilations in this process as they happen, with the user's code unchanged.

Nothing is installed before `Watch.start` and nothing is left after `Watch.stop`. In between, the
watch listens to torch's trace and notes the calls of ``torch.compile``; code that compiles nothing
has no overhead.
"""

from __future__ import annotations

import contextlib
import datetime
import threading
import time
import types
import uuid
from collections.abc import Callable

from ..analysis.figures.watch_words import watch_counts
from ..analysis.problems.compile_failures import RaisedError
from ..capture.stream import BEGINNINGS, name_of
from ..report import AS_WRITTEN, Report, SourceLine, Subject, VariantReport
from ..report.argument_checks import check_number
from ..report.subjects.watching import WatchState
from ..report.tiers import GraphTiers, current
from ..report.variant import Variant
from ..torch_api.dynamo.compiled_code import note_code
from ..torch_api.failures import failures
from ..torch_api.process.environment import environment
from ..torch_api.trace.compile_calls import recording_compile_calls
from ..torch_api.trace.graphs import collecting_everywhere
from ..torch_api.trace.process_trace import forward_trace_events
from ..torch_api.trace.record_names import DYNAMO_START, METRICS
from ..torch_api.trace.trace import Event
from .live_report import LiveReport
from .log import PATIENCE_S, WatchLog
from .origin import current_origin

MEMORY_MB = 256.0
"""The default memory limit of a watch."""

_TICK_S = 0.25
_PER_COMPILATION_S = 0.0025
"""The panel requests the whole list each time, so updates of a long list are less frequent."""


class Watch:
    """A watch over all compilations of the process. Safe to use from any thread.

    Parameters
    ----------
    name
        The watch's name in the report.
    where, cell
        The line and the notebook cell that started it.
    memory_mb
        The memory limit, in MB of 10⁶ bytes.
    changed
        Called from a separate thread, a few times a second at most, when something changed.

    Raises
    ------
    CompilescopeError
        ``memory_mb`` is not a positive number.
    """

    def __init__(
        self,
        *,
        name: str = "watch",
        where: SourceLine | None = None,
        cell: str | None = None,
        memory_mb: float = MEMORY_MB,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        check_number("memory_mb", memory_mb, "a positive number of megabytes: 256")
        self.since_s: float | None = None
        self.memory_mb = memory_mb
        self._name, self._where, self._cell = name, where, cell
        self._id = f"watch-{uuid.uuid4().hex[:8]}"
        self._budget = int(memory_mb * 1e6)
        self._changed = changed
        self._hooks = contextlib.ExitStack()
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._tiers: dict[int, GraphTiers] = {}
        self._others: frozenset[int] = frozenset()
        """Graphs with tiers, by number, that were compiled while it was off."""
        self._report, self._watch_log = self._opened()

    @property
    def report(self) -> Report:
        """The report, which is updated whenever it is read."""
        return self._report

    @property
    def is_on(self) -> bool:
        """Whether it is watching."""
        return self._thread is not None

    def start(self) -> None:
        """Starts, or resumes after a stop; keeps what was recorded. Does nothing if it is on."""
        with self._lock:
            if self.is_on:
                return
            watch_log = self._watch_log
            self._others = frozenset(graph.number for graph in current()) - self._tiers.keys()
            with contextlib.ExitStack() as hooks:
                hooks.enter_context(collecting_everywhere(watch_log.printed, self._failed))
                hooks.enter_context(recording_compile_calls())
                hooks.callback(note_code(self._on_code, self._failed))
                hooks.callback(forward_trace_events(self._on_event, self._failed))
                # The previous thread may still run, if an interrupt ended the wait for it.
                self._stopping = threading.Event()
                self._thread = threading.Thread(
                    target=self._run,
                    args=(self._stopping,),
                    name="compilescope-watch",
                    daemon=True,
                )
                self._thread.start()
                self._hooks = hooks.pop_all()
            self.since_s = time.time()

    def stop(self) -> None:
        """Stops; keeps what was recorded. Does nothing if it is off."""
        with self._lock:
            if self._thread is None:
                return
            self._note_tiers()
            thread, self._thread = self._thread, None
            self._hooks.close()
            self._stopping.set()
            self._news.set()
        if thread is not threading.current_thread():
            thread.join()

    def clear(self) -> None:
        """Clears the records in place: the report object stays the same."""
        was_on = self.is_on
        self.stop()
        # The same report object is emptied now and filled again.
        self._watch_log = self._emptied(self._report)
        self._tiers = {}
        if was_on:
            self.start()

    def state(self) -> WatchState:
        """The current state, without reading compilations."""
        watch_log = self._watch_log
        watch_log.group_events()
        rows = watch_log.rows
        state = WatchState(
            on=self.is_on,
            subject=self._id,
            since_s=self.since_s,
            compilations=rows.compilations,
            recompiles=rows.recompiles,
            failures=rows.outcomes["failed"],
            fallbacks=rows.outcomes["eager"],
            breaks=rows.breaks,
            break_occurrences=rows.break_occurrences,
            seconds=rows.seconds,
            reduced=watch_log.reduced,
            left_out=watch_log.left_out,
            held_bytes=watch_log.total_bytes,
            budget_bytes=watch_log.budget_bytes,
            problem=watch_log.problem,
            latest=rows.latest,
        )
        state.counts = watch_counts(state)
        return state

    def raised(self, error: BaseException) -> None:
        """Adds an exception of a user's call to the report if torch.compile caused it."""
        try:
            problem = failures.of_torch(error)
            if problem is not None:
                self._watch_log.raised(RaisedError(problem, failures.causes(error)))
        except Exception as fault:  # noqa: BLE001 - must not stand in the way of the user's own
            self._failed(fault)
            return
        self._news.set()

    def code_of(self, compile_id: str) -> types.CodeType | None:
        """The code object that was compiled, as long as the user's code keeps it alive."""
        self._refresh()
        return self._watch_log.code_of(compile_id)

    def _opened(self) -> tuple[LiveReport, WatchLog]:
        report = LiveReport(
            created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            subject=Subject(
                id=self._id, name=self._name, kind="watch", where=self._where, cell=self._cell
            ),
            environment=environment(),
        )
        return report, self._emptied(report)

    def _emptied(self, report: LiveReport) -> WatchLog:
        report.follow(None)
        report.variants = [
            VariantReport(name=AS_WRITTEN, requested=Variant(), stage="built", recorded=True)
        ]
        report.problems, report.files, report.tiers = [], {}, []
        watch_log = WatchLog(report, self._budget)
        report.follow(self._refresh)
        return watch_log

    def _refresh(self) -> None:
        self._watch_log.refresh(final=not self.is_on)
        self._note_tiers()
        self._report.tiers = [self._tiers[number] for number in sorted(self._tiers)]

    def _note_tiers(self) -> None:
        """Keeps how the graphs stand that were compiled while it was on: later they may be gone."""
        self._tiers = self._tiers | {
            graph.number: graph
            for graph in current()
            if graph.number in self._tiers or (self.is_on and graph.number not in self._others)
        }

    def _failed(self, error: Exception) -> None:
        self._watch_log.failed(error)

    def _on_event(self, event: Event) -> None:
        """Handles an event, within the user's compilation and on its thread."""
        if event.unwritten is not None:  # a span: there are many, and none changes the list
            self._watch_log.stream.put(event)
            return
        name = name_of(event.metadata)
        self._watch_log.stream.put(event, current_origin() if name in BEGINNINGS else None)
        if name in METRICS or name == DYNAMO_START:
            self._news.set()

    def _on_code(self, torch_id: str, code: types.CodeType) -> None:
        self._watch_log.stream.put_code(torch_id, code)

    def _run(self, stopping: threading.Event) -> None:
        """Sends updates, and reads waiting records before they exceed their part of the budget."""
        while not stopping.is_set():
            # Spans that were open at the last look close soon, perhaps without a further event.
            self._news.wait(PATIENCE_S if self._watch_log.is_due else None)
            if stopping.wait(_TICK_S / 5):  # the last records of a compilation follow at once
                return
            self._news.clear()
            try:
                if self._watch_log.is_due:
                    self._watch_log.refresh()
                self._changed()
            except Exception as error:  # noqa: BLE001 - must not end the watch
                self._failed(error)
            many = _PER_COMPILATION_S * self._watch_log.rows.compilations
            stopping.wait(max(_TICK_S, many))
