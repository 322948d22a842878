"""Assigns the profiler's ranges and kernels to launches, and computes their times.

A launch's place in the wrapper says when it runs; a range's or a kernel's name says what it is.
Generated kernels are known by name. Library calls are known by their operator. If their name
differs from their line in the wrapper, they get the ranges between their neighbors, if that is one
launch. Nothing is guessed: a launch without a certain match gets a reason instead of a time.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..analysis.figures.intervals import median_interval
from ..analysis.wrapper.launch_pairs import operator
from ..report import Language
from ..torch_api.kernels.profiler_events import GraphRun, Span

NOT_SEEN = "It did not run in the calls that were profiled: another branch was taken."
UNREPORTED = "torch's profiler does not report it."
NO_RANGE = (
    f"{UNREPORTED} Some of torch's templates for kernels open no range of the profiler, such as "
    "that of flex_attention on a CPU."
)
AMBIGUOUS = (
    "The profiler does not say which of its entries belong to this launch: {count} launches in a "
    "row go by names that are not in the wrapper."
)
AMBIGUOUS_REPLAYED = (
    "A CUDA graph replays its kernels without the calls that launched them. Generated kernels are "
    "known by name; this one is among {count} library calls in a row, which cannot be "
    "distinguished."
)
UNEVEN = (
    "The wrapper calls it in {places} places, and it ran {runs} times in a call: which of them ran "
    "is not known."
)

_PREFIX = re.compile(r"graph_\w*?_(?=cpp_|triton_)|graph_\d+_")
_METADATA_OPERATORS = frozenset(
    ("alias", "as_strided", "detach", "empty", "empty_like", "empty_strided", "expand", "permute")
).union(("reshape", "resize_", "resolve_conj", "resolve_neg", "t", "transpose", "view"))
"""Operators that compute nothing, which a wrapper calls besides its launches."""


class Site(NamedTuple):
    """A launch in a wrapper."""

    kernel: str
    language: Language

    @property
    def extern(self) -> bool:
        """Whether it is a library call."""
        return self.language == "extern"


@dataclass
class Times:
    """The measurements of one launch."""

    samples_us: list[float] = field(default_factory=list)
    """One per call: the mean of its runs."""
    runs: list[int] = field(default_factory=list)
    """How often it ran, call by call."""
    inner: int = 0
    """How many of the profiler's ranges are nested in it, each with its own overhead."""
    on_device: bool = False
    replayed: bool = False
    kernels: int = 0
    """On a device: how many kernels, copies and fills one launch starts."""

    @property
    def median_us(self) -> float:
        """The median over the calls."""
        return statistics.median(self.samples_us)

    @property
    def interval_us(self) -> tuple[float, float]:
        """Of the median."""
        low, high = median_interval(self.samples_us)
        return max(low, 0.0), high


Pattern = Sequence[tuple[str, int]]
"""The kernels that one run of a graph starts on the device, with the launch that each belongs to:
learned from runs with distinguishable launches, used for a CUDA graph that replays the same
kernels."""


def measure(
    sites: Sequence[Site],
    calls: Sequence[Sequence[GraphRun]],
    *,
    empty_ns: float = 0.0,
    pattern: Pattern = (),
    on_device: bool = False,
    branches: bool = False,
) -> tuple[dict[int, Times], dict[int, str]]:
    """The times of a graph's launches.

    Parameters
    ----------
    sites
        In the order in which they run.
    calls
        Call by call, the runs of this graph.
    empty_ns
        The profiler's time of an empty range, subtracted from each host range.
    on_device
        Whether the graph is for a GPU: host ranges are then not its kernels' times.
    branches
        Whether a call may run only some of the launches.

    Returns
    -------
    tuple
        Index of a launch in ``sites`` → its times, and index → why it has none.
    """
    times_by_site: dict[int, Times] = {}
    reasons: dict[int, str] = {}
    for runs in calls:
        spent: dict[int, list[float]] = defaultdict(list)
        for run in runs:
            spans, missing = assign(sites, run, pattern, on_device)
            reasons |= missing
            for place, rounds in spans.items():
                times = times_by_site.setdefault(place, Times())
                for spans_of_run in rounds:
                    spent[place].append(sum(_ns(span, empty_ns) for span in spans_of_run))
                    times.inner = max(times.inner, sum(span.inner for span in spans_of_run))
                    times.kernels = max(times.kernels, sum(len(span.work) for span in spans_of_run))
                    times.on_device = times.on_device or any(span.work for span in spans_of_run)
                    times.replayed = times.replayed or any(
                        span.is_replayed for span in spans_of_run
                    )
        for place, samples_ns in spent.items():
            times_by_site[place].samples_us.append(statistics.fmean(samples_ns) / 1000)
            times_by_site[place].runs.append(len(samples_ns))
    seen = {place: reason for place, reason in reasons.items() if place not in times_by_site}
    never = {
        place: NOT_SEEN if branches else NO_RANGE if site.language == "cpp" else UNREPORTED
        for place, site in enumerate(sites)
        if place not in times_by_site
    }
    return times_by_site, never | seen


def _ns(span: Span, empty_ns: float) -> float:
    if span.work:
        return sum(work.ns for work in span.work)
    return max(span.ns - empty_ns, 0.0)


def kernels_of_run(sites: Sequence[Site], run: GraphRun) -> Pattern:
    """The kernels that a run starts on the device, in order, with their launches."""
    spans, _ = assign(sites, run, (), True)
    owners = {
        id(span): place for place, rounds in spans.items() for parts in rounds for span in parts
    }
    launched = [(work, owners.get(id(span), -1)) for span in run.spans for work in span.work]
    launched.sort(key=lambda work_and_place: work_and_place[0].start_ns)
    return [(work.name, place) for work, place in launched]


def assign(
    sites: Sequence[Site], run: GraphRun, pattern: Pattern, on_device: bool
) -> tuple[dict[int, list[list[Span]]], dict[int, str]]:
    """The spans of each launch in one run of a graph, once for each time that it ran.

    Returns
    -------
    tuple
        Index of a launch → its spans, and index → why it has none.
    """
    spans = _relevant(run, sites, on_device)
    replayed = [span for span in spans if span.is_replayed]
    if replayed and [span.work[0].name for span in replayed] == [name for name, _ in pattern]:
        by_place: dict[int, list[list[Span]]] = {}
        for span, (_, place) in zip(replayed, pattern, strict=True):
            if place >= 0:
                by_place.setdefault(place, [[]])[0].append(span)
        return by_place, {}
    if replayed:
        spans = replayed
    named = _by_name(sites, spans)
    assigned, reasons = _in_turns(sites, spans, named)
    _between(sites, spans, named, assigned, reasons, bool(replayed))
    return assigned, reasons


def _relevant(run: GraphRun, sites: Sequence[Site], on_device: bool) -> list[Span]:
    """The spans without host-only work of a graph on a GPU."""
    if not on_device and not any(span.work for span in run.spans):
        return run.spans
    on_host = {site.kernel for site in sites if site.language == "cpp"}
    return [span for span in run.spans if span.work or _without_graph(span.name) in on_host]


def _by_name(sites: Sequence[Site], spans: Sequence[Span]) -> dict[int, object]:
    """Index of a span → the names of the launches that it may belong to."""
    generated = {site.kernel for site in sites if not site.extern}
    operators = {operator(site.kernel) for site in sites if site.extern}
    named: dict[int, object] = {}
    for place, span in enumerate(spans):
        name = _without_graph(span.name)
        if name not in generated:  # a template has more before its name
            name = next((kernel for kernel in generated if name.endswith(f"_{kernel}")), name)
        if name in generated:
            named[place] = (name,)
            continue
        called = operator(span.name)
        if called in operators:
            named[place] = called
            continue
        alike = [operator_name for operator_name in operators if _alike(operator_name, called)]
        if len(alike) == 1:
            named[place] = alike[0]
    return named


def _without_graph(name: str) -> str:
    """A range's name without the graph's."""
    return _PREFIX.sub("", name, count=1)


def _alike(left: str, right: str) -> bool:
    # The wrapper may name an operator with or without its overload: sort and sort_stable.
    return left.startswith(f"{right}_") or right.startswith(f"{left}_")


def _in_turns(
    sites: Sequence[Site], spans: Sequence[Span], named: Mapping[int, object]
) -> tuple[dict[int, list[list[Span]]], dict[int, str]]:
    """Assigns spans of one name in turn to the launches of that name; in a loop, several times."""
    launches: dict[object, list[int]] = defaultdict(list)
    for place, site in enumerate(sites):
        launches[operator(site.kernel) if site.extern else (site.kernel,)].append(place)
    groups: dict[object, list[int]] = defaultdict(list)
    for place, name in named.items():
        groups[name].append(place)
    assigned: dict[int, list[list[Span]]] = {}
    reasons: dict[int, str] = {}
    for name, group in groups.items():
        places = launches[name]
        if len(group) % len(places):
            text = UNEVEN.format(runs=len(group), places=len(places))
            reasons |= dict.fromkeys(places, text)
            continue
        for turn, place in enumerate(group):
            assigned.setdefault(places[turn % len(places)], []).append([spans[place]])
    return assigned, reasons


def _between(
    sites: Sequence[Site],
    spans: Sequence[Span],
    named: Mapping[int, object],
    assigned: dict[int, list[list[Span]]],
    reasons: dict[int, str],
    replayed: bool,
) -> None:
    """Assigns to launches with unknown names the spans between their neighbors."""
    where = {id(span): place for place, span in enumerate(spans)}
    for group in _unknown(sites, assigned, reasons):
        before = [place for place in assigned if place < group[0]]
        after = [place for place in assigned if place > group[-1]]
        start = where[id(assigned[max(before)][-1][-1])] + 1 if before else 0
        end = where[id(assigned[min(after)][0][0])] if after else len(spans)
        left = [
            spans[place]
            for place in range(start, end)
            if place not in named and operator(spans[place].name) not in _METADATA_OPERATORS
        ]
        count = len(group)
        if not left:
            continue
        if count == 1:
            assigned[group[0]] = [left]
        elif len(left) == count and not replayed:
            assigned |= {place: [[span]] for place, span in zip(group, left, strict=True)}
        else:
            reason = (AMBIGUOUS_REPLAYED if replayed else AMBIGUOUS).format(count=count)
            reasons |= dict.fromkeys(group, reason)


def _unknown(
    sites: Sequence[Site], assigned: Mapping[int, object], reasons: Mapping[int, str]
) -> list[list[int]]:
    """Launches that may have another name in the profiler, in groups between known ones."""
    groups: list[list[int]] = [[]]
    for place, site in enumerate(sites):
        if place in assigned or place in reasons:
            groups.append([])
        elif not site.kernel.startswith(("cpp_", "triton_")):
            groups[-1].append(place)
        # otherwise it did not run: a generated kernel has the same name everywhere.
    return [group for group in groups if group]
