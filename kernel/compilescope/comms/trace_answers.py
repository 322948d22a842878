"""Answers the panel's requests about a trace from the log, on demand and without torch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from ..analysis.contents.summaries import compilation_summary, filled
from ..readers.lazy_trace import Progress, Trace
from ..readers.search import search
from ..readers.trace_difference import MAX_READ, trace_difference
from ..readers.trace_summary import for_report, summary_of
from ..report import Compilation, Report
from ..report.contents import CompilationSummary
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.subjects.traces import TraceDifference
from ..report.variant import Choices
from ..version import __version__
from . import messages, report_parts, report_without_texts, saved_reports
from .answering import answer_into

_MAX_SAVED_BYTES = 300 << 20
_BESIDE = {"compare_trace", "save_report"}
"""Commands that reopen the trace and take seconds; other requests are answered meanwhile."""


class Answer(messages.Message):
    """A reply, and what has changed by answering."""

    reply: messages.Reply
    events: list[dict[str, Any]] = []
    """Events as the kernel would push them: a compilation that was read has artifacts now."""


def failed_answer(request: dict[str, Any], problem: Problem) -> Answer:
    """The answer to a request about a trace that cannot be opened."""
    return Answer(reply=messages.Reply(id=str(request.get("id", "")), error=problem))


def _start_time(trace: Trace) -> float:
    """When its first compilation began; infinity if there is none."""
    return min((log.outlines.first_s for log in trace.processes), default=float("inf"))


class TraceAnswers:
    """Answers the panel's requests about a trace. Safe to use from any thread.

    Parameters
    ----------
    path
        A log, plain or compressed, or a folder of logs.
    progress
        Called with the bytes that were read, and of how many.
    before
        A trace to compare it with, from before a change.
    follow
        Whether panels shall ask for what is logged from now on.
    find
        Finds another trace by the name that a panel gives; None: panels may not name any.

    Raises
    ------
    CompilescopeError
        There is no trace there.
    """

    def __init__(
        self,
        path: Path,
        progress: Progress = lambda done, total: None,
        *,
        before: Path | None = None,
        follow: bool = False,
        find: Callable[[str], Path] | None = None,
    ) -> None:
        self._path = path
        self._find = find
        self._follow = follow
        self._difference: TraceDifference | None = None
        # The last record of a log that is still being written may be incomplete.
        self._trace = Trace(path, progress, whole=not follow)
        self._read: dict[tuple[str, str], CompilationSummary] = {}
        self._filled: dict[str, set[str]] = {}
        self._revision = 1
        self._lock = threading.Lock()
        if before is not None:
            with Trace(before, progress) as other:
                self._difference = trace_difference(other, self._trace)
        self._summarize()

    @property
    def name(self) -> str:
        """What the trace is called."""
        return self._report.subject.name

    @property
    def report(self) -> Report:
        """The trace in outline."""
        return self._report

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            self._trace.close()

    def answer(self, data: Any) -> Answer:
        """The reply to a request. Never raises: an error is a reply too."""
        reply = messages.Reply(id=str(data.get("id", "")) if isinstance(data, dict) else "")
        command = data.get("command") if isinstance(data, dict) else None
        lock: AbstractContextManager[object] = nullcontext() if command in _BESIDE else self._lock
        with lock:
            before = self._revision
            answer_into(reply, lambda: self._plain_result(data), "reader")
            if self._revision == before:
                return Answer(reply=reply)
            changed = messages.ReportChanged(
                subject=self._report.subject.id, revision=self._revision
            )
        event = {"event": "report_changed", "data": msgspec.to_builtins(changed)}
        return Answer(reply=reply, events=[event])

    def _plain_result(self, data: Any) -> Any:
        request = msgspec.convert(data, messages.Request)
        return msgspec.to_builtins(self._result(request), enc_hook=repr)

    def _result(self, request: messages.Request) -> messages.Message:
        handler = self._handlers.get(request.command)
        if request.version != messages.PROTOCOL_VERSION or handler is None:
            raise CompilescopeError(
                "This report is from a trace: it has no kernel.",
                "You can view it, but not generate, build or measure anything.",
                "Inspect the call in a notebook.",
            )
        arguments, _ = messages.COMMANDS[request.command]
        return handler(self, msgspec.convert(request.arguments, arguments))

    def _hello(self, _: messages.Hello) -> messages.HelloResult:
        if self._follow and self._catch_up():
            self._summarize()
            self._revision += 1
        return messages.HelloResult(
            protocol=messages.PROTOCOL_VERSION,
            package=__version__,
            torch=self._report.environment.torch,
            choices=Choices(backends=[], modes=[], targets=[]),
            subjects=[report_without_texts.subject(self._report, self._revision)],
        )

    def _heartbeat(self, _: messages.Heartbeat) -> messages.Done:
        return messages.Done()

    def _summarize(self) -> None:
        """Recompute the summary."""
        self._report = self._trace.report()
        self._report.environment.compilescope = __version__
        summary = summary_of(self._trace, stacks=True)
        summary.is_followed = self._follow and self._trace.grows
        summary.difference = self._difference
        self._report.trace = for_report(summary)
        self._report.problems = summary.problems

    def _read_on(self, _: messages.ReadOn) -> messages.Done:
        if self._catch_up():
            self._summarize()
            self._revision += 1
        return messages.Done()

    def _catch_up(self) -> bool:
        """Read what was logged since. Returns whether that is anything."""
        if self._trace.is_replaced:
            # A job that starts again may write another log of the same name.
            latest = Trace(self._path, whole=not self._follow)
            self._trace.close()
            self._trace = latest
            self._read.clear()
            self._filled.clear()
            self._difference = None
            return True
        changed = self._trace.read_on()
        for log, events in changed:
            self._read.pop((log.name, events.id), None)
        return bool(changed)

    def _compare(self, request: messages.CompareTrace) -> messages.Done:
        if self._find is None:
            raise CompilescopeError(
                "This page compares no other trace.",
                "It may read those alone that it was opened with.",
                "Run compilescope open BEFORE AFTER.",
            )
        path = self._find(request.path)
        with Trace(path) as other, Trace(self._path) as shown:
            is_before = _start_time(other) <= _start_time(shown)
            difference = trace_difference(
                *((other, shown) if is_before else (shown, other)),
                most_read=None if request.every else MAX_READ,
            )
        difference.shown = "after" if is_before else "before"
        with self._lock:
            self._difference = difference
            self._summarize()
            self._revision += 1
        return messages.Done()

    def _get_report(self, _: messages.GetReport) -> messages.ReportSummary:
        report_summary = report_without_texts.report(self._report, self._revision)
        for variant in report_summary.variants:
            variant.compilations = [
                self._read.get((variant.name, compilation.id), compilation)
                for compilation in variant.compilations
            ]
            variant.filled = sorted({*variant.filled, *self._filled.get(variant.name, ())})
        return report_summary

    def _get_variant(self, request: messages.GetVariant) -> messages.VariantResult:
        return messages.VariantResult(
            revision=self._revision, variant=report_parts.variant(self._report, request.variant)
        )

    def _get_compilation(self, request: messages.GetCompilation) -> messages.CompilationResult:
        report = self._holding(request.variant, request.compilation)
        compilation = report_parts.compilation(
            report, request.variant, request.compilation, request.parts
        )
        return messages.CompilationResult(revision=self._revision, compilation=compilation)

    def _get_graph(self, request: messages.GetGraph) -> messages.GraphResult:
        report = self._holding(request.variant, request.compilation)
        graph = report_parts.graph(report, request.variant, request.compilation, request.stage)
        return messages.GraphResult(revision=self._revision, graph=graph)

    def _get_artifact(self, request: messages.GetArtifact) -> messages.ArtifactResult:
        report = self._holding(request.variant, request.compilation)
        return report_without_texts.artifact(
            report, request.variant, request.compilation, request.artifact
        )

    def _search(self, request: messages.Search) -> messages.SearchResult:
        matches = search(self._trace, request.text)
        hits = [
            messages.SearchHit(
                variant=hit.process,
                compilation=hit.compilation,
                name=hit.name,
                line=hit.line,
                text=hit.text,
            )
            for hit in matches.hits
        ]
        return messages.SearchResult(hits=hits, is_cut=matches.is_cut)

    def _save(self, request: messages.SaveReport) -> messages.SaveReportResult:
        from ..readers.trace import report_of

        if self._trace.position > _MAX_SAVED_BYTES:
            raise CompilescopeError(
                "The trace is too large for a page or a report.",
                f"Its logs have {self._trace.position >> 20} MiB, and all of them would be in it.",
                "Save one rank: compilescope trace PATH --rank 0 -o rank0.html.",
            )
        report = report_of(self._path)
        if report.trace is not None:
            report.trace.difference = self._difference
        if request.redact:
            report = report.redacted()
        text, ending = saved_reports.saved(report, request.format)
        redacted = "redacted." if request.redact else ""
        return messages.SaveReportResult(
            filename=f"{self._path.name}.{redacted}{ending}", text=text
        )

    def _holding(self, variant: str, compile_id: str) -> Report:
        """The report with one compilation complete and the others in outline."""
        outlined = self._report.variant(variant)
        assembled = self._trace.process(variant).compilation(compile_id)
        whole = assembled.compilation
        if (variant, compile_id) not in self._read:
            self._note(variant, whole)
        compilations: list[Compilation] = [
            whole if compilation.id == compile_id else compilation
            for compilation in outlined.compilations
        ]
        holding = msgspec.structs.replace(outlined, compilations=compilations)
        variants = [
            holding if variant_report is outlined else variant_report
            for variant_report in self._report.variants
        ]
        return msgspec.structs.replace(self._report, variants=variants)

    def _note(self, variant: str, whole: Compilation) -> None:
        summary = compilation_summary(whole)
        # Dynamo's graph, as in the list before: a later graph may be larger.
        outline = self._report.compilation(whole.id, variant)
        summary.nodes = outline.counts.get("nodes", summary.nodes)
        self._read[variant, whole.id] = summary
        lone = msgspec.structs.replace(self._report.variant(variant), compilations=[whole])
        self._filled.setdefault(variant, set()).update(filled(lone))
        self._report.variant(variant).problems = self._trace.process(variant).problems
        self._revision += 1

    _handlers: dict[str, Callable[[TraceAnswers, Any], messages.Message]] = {
        "hello": _hello,
        "heartbeat": _heartbeat,
        "get_report": _get_report,
        "get_variant": _get_variant,
        "get_compilation": _get_compilation,
        "get_graph": _get_graph,
        "get_artifact": _get_artifact,
        "search": _search,
        "read_on": _read_on,
        "compare_trace": _compare,
        "save_report": _save,
    }
