"""What torch traces of a whole process, parted by compilation while it comes in.

`Stream.put` is all that happens within the user's compilation; the rest is done when somebody
looks.
"""

from __future__ import annotations

import re
import types
import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ..report import Node
from ..torch_api.trace.trace import Event, with_names
from .live import record_of
from .records import Record
from .renumber import renamed

_OWNER = re.compile(r'"compile_id": "(\d+/\d+)"')
_BEGINNINGS = ("dynamo_start", "recompile_reasons", "compilation_metrics")
_SETTLED_S = 1.0


@dataclass(slots=True, eq=False)
class Group:
    """The records of one compilation."""

    id: str
    """Its name in the report: torch's, unless ``torch._dynamo.reset()`` made torch use it again."""
    torch_id: str
    ids: dict[str, str]
    """torch's ids → the report's, of all compilations since the last reset."""
    records: list[Record] = field(default_factory=list)
    nodes: dict[str, list[Node]] = field(default_factory=dict)
    origin: Any = None
    """What `Stream.put` was given with the record that says where the compilation comes from."""
    code: weakref.ref[types.CodeType] | None = None
    started: bool = False
    done: bool = False
    """torch has said what it did: the forward is finished."""
    ended: bool = False
    """And the span around all of it is closed."""
    training: bool = False
    backward: bool = False
    fresh: bool = True
    """There is something that nobody has read yet."""
    last_s: float = 0.0
    size: int = 0
    """About how many bytes the records hold."""
    note: Any = None
    """Whatever the reader keeps with it."""

    @property
    def awaits_backward(self) -> bool:
        """Whether torch is going to compile a backward at its first call."""
        return self.training and not self.backward


class Stream:
    """Parts events by compilation.

    `put` may be called from any thread; `take` and what it returns belong to one thread at a time.
    """

    def __init__(self) -> None:
        self._events: deque[tuple[Event, Any]] = deque()
        self._codes: deque[tuple[str, weakref.ref[types.CodeType]]] = deque()
        self.waiting = 0
        """About how many bytes are not taken yet."""
        self.groups: dict[str, Group] = {}
        """Those whose records are still held, by their id."""
        self.shared: list[Record] = []
        """Records of no compilation: file names."""
        self.loose: deque[Record] = deque(maxlen=10_000)
        """Spans of threads that build kernels, which do not say for whom."""
        self.late = 0
        """Records that came after their compilation's were given away."""
        self._current: dict[str, Group] = {}
        self._earlier: dict[str, Group] = {}
        self._undecided: dict[str, list[Record]] = {}
        self._ids: dict[str, str] = {}
        self._offset = 0
        self._highest = -1

    def put(self, event: Event, origin: Any = None) -> None:
        """Takes an event in; ``origin`` says where the compilation comes from, if it is known."""
        self._events.append((event, origin))
        self.waiting += len(event.payload or "") + 500

    def put_code(self, torch_id: str, code: types.CodeType) -> None:
        """Notes the code that a compilation was made from; it is not kept alive."""
        self._codes.append((torch_id, weakref.ref(code)))

    def take(self) -> None:
        """Parts what has come in since the last time."""
        while self._events:
            # Taken off afterwards: an interrupt in between loses nothing.
            event, origin = self._events[0]
            self._add(event, origin)
            self._events.popleft()
        self.waiting = 0
        while self._codes:
            torch_id, code = self._codes.popleft()
            group = self._find(torch_id)
            if group is not None:
                group.code = code
        self._settle()

    def drop(self, group: Group) -> None:
        """Gives a compilation's records away; what comes yet is late."""
        self.groups.pop(group.id, None)
        group.records, group.nodes, group.size = [], {}, 0

    def _add(self, event: Event, origin: Any) -> None:
        record = record_of(with_names(event))
        torch_id = record.compile_id or _owner(record)
        if torch_id is None:
            if record.event == "str":
                self.shared.append(record)
            elif record.event == "chromium_event":
                self.loose.append(record)
            return
        group = self._find(torch_id)
        begins = record.name in _BEGINNINGS and not (record.attempt and not origin)
        if group is not None and group.done:
            if record.event == "chromium_event":
                if group.ended:
                    self._undecided.setdefault(torch_id, []).append(record)
                else:
                    self._append(group, record)
                return
            if begins:
                group = None
        elif group is not None and group.started and _starts(record):
            group = None  # the earlier one ended without a word
        if group is None:
            group = self._new(torch_id)
        for earlier in self._undecided.pop(torch_id, ()):
            self._append(group, earlier)
        group.origin = group.origin or origin
        self._append(group, record)

    def _find(self, torch_id: str) -> Group | None:
        return self._current.get(torch_id) or self._earlier.get(torch_id)

    def _new(self, torch_id: str) -> Group:
        if torch_id in self._current:
            # torch counts anew since torch._dynamo.reset().
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

    def _append(self, group: Group, record: Record) -> None:
        group.last_s = record.time_s
        if group.id not in self.groups:
            if record.event != "chromium_event" and "runtime" not in record.name:
                self.late += 1
            return
        name = record.name
        group.started |= _starts(record)
        # Of a compilation from before the watch the backward may be all that comes.
        late = name == "bwd_compilation_metrics" and not group.started
        group.done |= name == "compilation_metrics" or late
        group.training |= name in ("aot_forward_graph", "aot_joint_graph")
        group.backward |= name == "bwd_compilation_metrics"
        group.ended |= late or (group.done and _closes(record))
        group.fresh = True
        group.size += len(record.payload or "") + 500
        moved = group.id != group.torch_id
        group.records.append(renamed(record, group.ids) if moved else record)

    def _settle(self) -> None:
        """Gives spans that nothing followed to the compilation that they name."""
        newest = max((group.last_s for group in self.groups.values()), default=0.0)
        for torch_id, records in list(self._undecided.items()):
            group = self._find(torch_id)
            if group is not None and newest - records[-1].time_s > _SETTLED_S:
                for record in self._undecided.pop(torch_id):
                    self._append(group, record)
        # Nobody asks for these any more.
        self._earlier = {
            key: group for key, group in self._earlier.items() if group.id in self.groups
        }


def name_of(metadata: dict[str, Any]) -> str:
    """An event's name: of an artifact its own, else the event's type."""
    event = next(iter(metadata), "")
    detail = metadata.get(event)
    if event == "artifact" and isinstance(detail, dict):
        return str(detail.get("name", ""))
    return event


def _owner(record: Record) -> str | None:
    match = _OWNER.search(record.payload or "") if record.event == "chromium_event" else None
    return match.group(1) if match else None


def _starts(record: Record) -> bool:
    return record.event == "dynamo_start" and not record.attempt


def _closes(record: Record) -> bool:
    """Whether it ends Dynamo's outermost span."""
    text = record.payload or ""
    return record.event == "chromium_event" and '"name": "dynamo"' in text and '"ph": "E"' in text
