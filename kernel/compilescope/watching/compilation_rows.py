"""One line for each recorded compilation, and the counts of all."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..analysis.figures.outcome_words import outcome_words
from ..analysis.guards.frames import frame_of
from ..analysis.problems.breaks import break_key, parse_break
from ..analysis.problems.compile_failures import first_sentence
from ..analysis.problems.failed_records import outcome_of
from ..capture.logged_values import compile_time_s
from ..capture.records import Record
from ..capture.stream import Group
from ..report.problem import SourceLine
from ..report.subjects.watching import WatchedCompilation
from ..torch_api.trace.record_names import GRAPH_BREAK_REASON, METRICS, RECOMPILE_REASONS
from .origin import Origin

_LATEST = 20


class CompilationRows:
    """The latest compilations, and how many there were."""

    def __init__(self) -> None:
        self.compilations = 0
        self.recompiles = 0
        self._breaks: Counter[tuple[str, str, int]] = Counter()
        self.seconds = 0.0
        self.outcomes: Counter[str] = Counter()
        self._seen: dict[str, WatchedCompilation] = {}
        self._frames: dict[str, SourceLine] = {}

    @property
    def breaks(self) -> int:
        """The distinct graph breaks."""
        return len(+self._breaks)

    @property
    def break_occurrences(self) -> int:
        """How often they occurred in all."""
        return self._breaks.total()

    @property
    def latest(self) -> list[WatchedCompilation]:
        """The last few, newest first."""
        return list(reversed(self._seen.values()))

    def row_of(self, group: Group) -> WatchedCompilation:
        """A compilation's line."""
        self.update(group)
        row: WatchedCompilation = group.note[1]
        return row

    def update(self, group: Group) -> None:
        """Updates the row from a compilation's new records, if there are any."""
        if group.note is not None and group.note[0] == len(group.records):
            return
        broken = _breaks(group.records)
        now = self._read(group, len(broken))
        if group.note is None:
            self.compilations += 1
            before = WatchedCompilation(id=group.id)
        else:
            before = group.note[1]
            self.outcomes[before.outcome] -= 1
            self._breaks.subtract(group.note[2])
        group.note = len(group.records), now, broken
        self.recompiles += now.is_recompile - before.is_recompile
        self._breaks.update(broken)
        self.outcomes[now.outcome] += 1
        self.seconds += (now.duration_s or 0.0) - (before.duration_s or 0.0)
        self._seen[group.id] = now
        while len(self._seen) > _LATEST:
            del self._seen[next(iter(self._seen))]

    def _read(self, group: Group, breaks: int) -> WatchedCompilation:
        records = group.records
        metrics, backward = (_details(records, name) for name in METRICS)
        reason = metrics.get("fail_reason") or backward.get("fail_reason") or ""
        outcome = outcome_of(records)
        reasons = [record.payload or "" for record in records if record.name == RECOMPILE_REASONS]
        frame = frame_of(records)
        place = group.id.partition("/")[0]
        if frame is not None and frame.file:
            self._frames.setdefault(place, frame)
        else:
            # A compilation that torch gave up on has no data about its frame.
            frame = self._frames.get(place)
        origin = group.origin if isinstance(group.origin, Origin) else None
        cell = origin.cell if origin else None
        return WatchedCompilation(
            id=group.id,
            frame=frame,
            name=frame.function if frame is not None else "",
            started_s=records[0].time_s if records else None,
            duration_s=_seconds(metrics, backward, group) if group.done else None,
            breaks=breaks,
            recompile=_first(reasons[-1]) if reasons else "",
            failed=first_sentence(str(reason)),
            outcome=outcome,
            outcome_words=outcome_words(outcome),
            cell=cell.id if cell else None,
            cell_number=cell.number if cell else None,
            call=origin.call.where if origin and origin.call else None,
        )


def _breaks(records: list[Record]) -> list[tuple[str, str, int]]:
    """The keys of the graph breaks of a compilation; attempts repeat them."""
    payloads = {
        record.payload: None
        for record in records
        if record.name == GRAPH_BREAK_REASON and record.payload
    }
    return [break_key(parse_break(payload)) for payload in payloads]


def _details(records: list[Record], event: str) -> dict[str, Any]:
    for record in reversed(records):
        if record.event == event:
            detail = record.metadata.get(event)
            return detail if isinstance(detail, dict) else {}
    return {}


def _seconds(metrics: dict[str, Any], backward: dict[str, Any], group: Group) -> float:
    """Torch's own figure; otherwise the time from the first record to the last."""
    took = compile_time_s(metrics, backward)
    if took is not None:
        return took
    return max(0.0, group.last_s - group.records[0].time_s) if group.records else 0.0


def _first(payload: str) -> str:
    """The first reason: torch logs a JSON list, one per line."""
    for line in payload.splitlines():
        text = line.strip().strip('",')
        if text not in ("", "[", "]"):
            return text.split("\\n")[0].replace('\\"', '"').strip()
    return ""
