"""Sorts the profiler's events by the launches that they belong to.

Independent of torch: `timers` reads the profiler and passes plain tuples.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

CALL = "compilescope call"
"""Names the range around each call."""
GRAPH = "compilescope graph "
"""The prefix of the name of the range around each run of a compiled graph; its number follows."""
_AROUND = re.compile(r"## Call |Torch-Compiled Region|(?:graph_\w+_)?inductor_wrapper_call$")
"""Ranges that torch itself puts around a whole graph."""


class Event(NamedTuple):
    """An event of the profiler."""

    name: str
    start_ns: int
    ns: int
    thread: int
    kind: Literal["host", "launch", "device"]
    """host: a range of the host. launch: a call of the GPU's driver. device: work on the device."""
    link: int = 0
    """The number of a host range; a launch and the work that it starts share one number."""
    owner: int = 0
    """For work: the number of the innermost host range that started it."""

    @property
    def end_ns(self) -> int:
        """The moment after its last."""
        return self.start_ns + self.ns


@dataclass
class Work:
    """A kernel, a copy or a fill on the device."""

    name: str
    start_ns: int
    ns: int
    replayed: bool = False
    """Started by the replay of a CUDA graph, not by its own launch."""


@dataclass
class Span:
    """A host range directly inside a graph's range, or work started outside of any range."""

    name: str
    start_ns: int
    ns: int
    inner: int = 0
    """How many ranges are nested in it."""
    work: list[Work] = field(default_factory=list)

    @property
    def end_ns(self) -> int:
        """The moment after its last."""
        return self.start_ns + self.ns

    @property
    def is_replayed(self) -> bool:
        """Whether a CUDA graph's replay started its work."""
        return any(work.replayed for work in self.work)


@dataclass
class GraphRun:
    """A run of a compiled graph."""

    graph: int
    """The graph's number, the same in all runs of one profile."""
    source: str
    """Its whole generated code."""
    start_ns: int
    ns: int
    spans: list[Span] = field(default_factory=list)
    """In launch order; for a CUDA graph, in the order in which they ran."""

    @property
    def end_ns(self) -> int:
        """The moment after its last."""
        return self.start_ns + self.ns


@dataclass
class ProfiledCall:
    """A call, and the compiled graphs that ran in it."""

    start_ns: int
    ns: int
    runs: list[GraphRun] = field(default_factory=list)

    @property
    def end_ns(self) -> int:
        """The moment after its last."""
        return self.start_ns + self.ns


def read_calls(events: Sequence[Event], sources: Sequence[str]) -> list[ProfiledCall]:
    """Sort a profile's events into calls, runs of graphs and what was launched in them.

    Parameters
    ----------
    events
        In any order.
    sources
        The generated code of each graph, by its number.
    """
    host = sorted(
        (event for event in events if event.kind == "host"),
        key=lambda event: (event.start_ns, -event.ns),
    )
    calls = [ProfiledCall(event.start_ns, event.ns) for event in host if event.name == CALL]
    runs = _runs(host, sources)
    _add_work(runs, events, host)
    for run in runs:
        # A GPU's backward runs in its own thread: only the time shows which call it belongs to.
        place = _containing([call.start_ns for call in calls], run.start_ns)
        if place is not None and run.start_ns < calls[place].end_ns:
            calls[place].runs.append(run)
    return calls


def _runs(host: Sequence[Event], sources: Sequence[str]) -> list[GraphRun]:
    """The graphs' runs, with the host ranges directly inside them."""
    runs: list[GraphRun] = []
    stacks: dict[int, list[tuple[int, GraphRun | Span | None]]] = {}
    for event in host:
        stack = stacks.setdefault(event.thread, [])
        while stack and stack[-1][0] <= event.start_ns:
            stack.pop()
        around = stack[-1][1] if stack else None
        inside: GraphRun | Span | None = around
        if event.name.startswith(GRAPH):
            number = int(event.name.removeprefix(GRAPH))
            inside = GraphRun(number, sources[number], event.start_ns, event.ns)
            runs.append(inside)
        elif isinstance(around, Span):
            around.inner += 1
        elif isinstance(around, GraphRun) and not _AROUND.match(event.name):
            inside = Span(event.name, event.start_ns, event.ns)
            around.spans.append(inside)
        stack.append((event.end_ns, inside))
    return runs


def _add_work(runs: Sequence[GraphRun], events: Sequence[Event], host: Sequence[Event]) -> None:
    """Adds to each run the device work that was started in it."""
    launches = {event.link: event for event in events if event.kind == "launch"}
    ranges = {event.link: event for event in host}
    run_starts = [run.start_ns for run in runs]
    starts = [[span.start_ns for span in run.spans] for run in runs]
    spans = [list(run.spans) for run in runs]
    work = sorted(
        (event for event in events if event.kind == "device"), key=lambda event: event.start_ns
    )
    for event in work:
        origin = launches.get(event.link) or ranges.get(event.owner)
        place = None if origin is None else _containing(run_starts, origin.start_ns)
        if origin is None or place is None or origin.start_ns >= runs[place].end_ns:
            continue
        replayed = "GraphLaunch" in origin.name
        done = Work(event.name, event.start_ns, event.ns, replayed)
        inner = None if replayed else _containing(starts[place], origin.start_ns)
        if inner is not None and origin.start_ns < spans[place][inner].end_ns:
            spans[place][inner].work.append(done)
        else:
            runs[place].spans.append(Span(event.name, origin.start_ns, 0, 0, [done]))
    for run in runs:
        run.spans.sort(key=lambda span: (span.start_ns, span.work[0].start_ns if span.work else 0))


def _containing(starts: Sequence[int], moment: int) -> int | None:
    """The last one that began at or before a time."""
    place = bisect.bisect_right(starts, moment) - 1
    return place if place >= 0 else None
