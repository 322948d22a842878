"""Groups the trace of a whole process by compilation as it arrives.

Only `Stream.put` runs within the user's compilation; the rest is done on demand.
"""

from __future__ import annotations

import re
import types
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..report import Node
from ..torch_api.trace.record_names import (
    BACKWARD_METRICS,
    CHROMIUM_EVENT,
    COMPILATION_METRICS,
    DYNAMO_START,
    RECOMPILE_REASONS,
)
from ..torch_api.trace.trace import Event, with_names
from .live import record_of
from .records import Record
from .renumber import renamed, without_autograd

_OWNER = re.compile(r'"compile_id": "(\d+/\d+)"')
BEGINNINGS = (DYNAMO_START, RECOMPILE_REASONS, COMPILATION_METRICS)
"""Records that torch logs on the thread, and below the call, that a compilation is for."""
_SETTLED_S = 1.0


@dataclass(slots=True, eq=False)
class Group:
    """The records of one compilation."""

    id: str
    """Its name in the report: torch's, unless ``torch._dynamo.reset()`` made torch use it again."""
    torch_id: str
    ids: dict[str, str]
    """torch's ids → the report's, for all compilations since the last reset."""
    records: list[Record] = field(default_factory=list)
    nodes: dict[str, list[Node]] = field(default_factory=dict)
    origin: Any = None
    """The ``origin`` that `Stream.put` got with the compilation's records."""
    code: weakref.ref[types.CodeType] | None = None
    started: bool = False
    done: bool = False
    """Whether torch has logged the metrics: the forward is finished."""
    ended: bool = False
    """Whether the outermost span is closed too."""
    training: bool = False
    backward: bool = False
    fresh: bool = True
    """Whether there are unread records."""
    last_s: float = 0.0
    size: int = 0
    """The approximate size of the records, in bytes."""
    note: Any = None
    """Data that the reader attaches."""

    @property
    def awaits_backward(self) -> bool:
        """Whether torch will compile a backward at its first call."""
        return self.training and not self.backward


class Stream:
    """Groups events by compilation.

    `put` may be called from any thread; `group_events` and what it returns belong to one thread at
    a time.

    Parameters
    ----------
    failed
        Called with the error of an event that cannot be read, which is left out.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._events: deque[tuple[Event, Any]] = deque()
        self._codes: deque[tuple[str, weakref.ref[types.CodeType]]] = deque()
        self.waiting = 0
        """The approximate number of bytes not taken yet."""
        self.groups: dict[str, Group] = {}
        """The groups whose records are still kept, by id."""
        self.shared: list[Record] = []
        """Records that belong to no compilation: file names."""
        self.loose: deque[Record] = deque(maxlen=10_000)
        """Spans of threads that build kernels, which do not name a compilation."""
        self.late = 0
        """Records that arrived after their compilation was dropped."""
        self._current: dict[str, Group] = {}
        self._earlier: dict[str, Group] = {}
        self._undecided: dict[str, list[Record]] = {}
        self._ids: dict[str, str] = {}
        self._offset = 0
        self._highest = -1

    def put(self, event: Event, origin: Any = None) -> None:
        """Adds an event; ``origin`` says where the compilation comes from, if known."""
        self._events.append((event, origin))
        self.waiting += len(event.payload or "") + 500

    def put_code(self, torch_id: str, code: types.CodeType) -> None:
        """Records the code that was compiled, without keeping it alive."""
        self._codes.append((torch_id, weakref.ref(code)))

    def group_events(self) -> None:
        """Groups the events that arrived since the last call."""
        while self._events:
            # Removed afterwards, so that an interrupt in between loses nothing.
            event, origin = self._events[0]
            try:
                self._add(event, origin)
            except Exception as error:  # noqa: BLE001 - the others are still to be read
                self._failed(error)
            self._events.popleft()
        self.waiting = 0
        while self._codes:
            torch_id, code = self._codes.popleft()
            group = self._find(torch_id)
            if group is not None:
                group.code = code
        self._assign_spans()

    def drop(self, group: Group) -> None:
        """Drops a compilation's records; further ones count as late."""
        self.groups.pop(group.id, None)
        group.records, group.nodes, group.size = [], {}, 0

    def _add(self, event: Event, origin: Any) -> None:
        record = without_autograd(record_of(with_names(event)))
        torch_id = record.compile_id or _owner(record)
        if torch_id is None:
            if record.event == "str":
                self.shared.append(record)
            elif record.event == CHROMIUM_EVENT:
                self.loose.append(record)
            return
        group = self._find(torch_id)
        begins = record.name in BEGINNINGS and not (record.attempt and not origin)
        if group is not None and group.done:
            if record.event == CHROMIUM_EVENT:
                if group.ended:
                    self._undecided.setdefault(torch_id, []).append(record)
                else:
                    self._append(group, record)
                return
            if begins:
                group = None
        elif group is not None and group.started and _starts(record):
            group = None  # the earlier one ended without an event
        if group is None:
            group = self._new(torch_id, begins=begins or _opens(record))
        for earlier in self._undecided.pop(torch_id, ()):
            self._append(group, earlier)
        group.origin = group.origin or origin
        self._append(group, record)

    def _find(self, torch_id: str) -> Group | None:
        return self._current.get(torch_id) or self._earlier.get(torch_id)

    def _new(self, torch_id: str, *, begins: bool) -> Group:
        if torch_id in self._current or (begins and self._is_counted_anew(torch_id)):
            # torch restarted its numbering after torch._dynamo.reset().
            self._earlier |= self._current
            self._current, self._ids = {}, {}
            self._offset = self._highest + 1
        frame, _, number = torch_id.partition("/")
        shown = int(frame) + self._offset
        self._highest = max(self._highest, shown)
        self._ids[torch_id] = f"{shown}/{number}"
        group = Group(f"{shown}/{number}", torch_id, self._ids)
        self._current[torch_id] = group
        self.groups[group.id] = group
        return group

    def _is_counted_anew(self, torch_id: str) -> bool:
        """Whether torch had passed the id of a compilation that begins, unseen before the watch.

        It counts frames, and the compilations of each; a frame's number is given at its first one.
        """
        frame, number = _numbers(torch_id)
        for known in self._current:
            known_frame, known_number = _numbers(known)
            if known_frame == frame and known_number >= number:
                return True
            if known_frame > frame and number == 0:
                return True
        return False

    def _append(self, group: Group, record: Record) -> None:
        group.last_s = record.time_s
        if group.id not in self.groups:
            if record.event != CHROMIUM_EVENT and "runtime" not in record.name:
                self.late += 1
            return
        name = record.name
        group.started |= _starts(record)
        # For a compilation from before the watch only the backward may arrive.
        late = name == BACKWARD_METRICS and not group.started
        group.done |= name == COMPILATION_METRICS or late
        group.training |= name in ("aot_forward_graph", "aot_joint_graph")
        group.backward |= name == BACKWARD_METRICS
        group.ended |= late or (group.done and _closes(record))
        group.fresh = True
        group.size += len(record.payload or "") + 500
        moved = group.id != group.torch_id
        group.records.append(renamed(record, group.ids) if moved else record)

    def _assign_spans(self) -> None:
        """Assigns spans that nothing followed to the compilation that they name."""
        newest = max((group.last_s for group in self.groups.values()), default=0.0)
        for torch_id, records in list(self._undecided.items()):
            group = self._find(torch_id)
            if group is not None and newest - records[-1].time_s > _SETTLED_S:
                for record in self._undecided.pop(torch_id):
                    self._append(group, record)
        # These are no longer needed.
        self._earlier = {
            key: group for key, group in self._earlier.items() if group.id in self.groups
        }


def name_of(metadata: dict[str, Any]) -> str:
    """An event's name: the artifact's own name, otherwise the event's type."""
    event = next(iter(metadata), "")
    detail = metadata.get(event)
    if event == "artifact" and isinstance(detail, dict):
        return str(detail.get("name", ""))
    return event


def _owner(record: Record) -> str | None:
    match = _OWNER.search(record.payload or "") if record.event == CHROMIUM_EVENT else None
    return match.group(1) if match else None


def _starts(record: Record) -> bool:
    return record.event == DYNAMO_START and not record.attempt


def _numbers(torch_id: str) -> tuple[int, int]:
    frame, _, number = torch_id.partition("/")
    return int(frame), int(number)


def _opens(record: Record) -> bool:
    """Whether it begins Dynamo's outermost span."""
    text = record.payload or ""
    return record.event == CHROMIUM_EVENT and '"name": "dynamo"' in text and '"ph": "B"' in text


def _closes(record: Record) -> bool:
    """Whether it ends Dynamo's outermost span."""
    text = record.payload or ""
    return record.event == CHROMIUM_EVENT and '"name": "dynamo"' in text and '"ph": "E"' in text
