"""The summary of a report, computed once for every view that shows it.

Part of a report; see `compilescope.report` for the rules. It has whole sentences and formatted
figures; the views only display them.
"""

from __future__ import annotations

from typing import Literal

from .compilation.guards import RecompileCause
from .measurements.timings import LayerKind, Speedup
from .problem import Problem, SourceLine, Struct
from .variant import Variant

Basis = Literal["measured", "estimated", "unknown"]
Limited = Literal["launch", "overhead", "memory", "compute", "unclear", "unknown"]
LimitStudy = Literal["", "layers", "kernels"]


LIMIT_TITLE = "What limits a call?"
SUGGESTIONS_TITLE = "What to change"


class Result(Struct):
    """The row of a variant in the results."""

    variant: str
    title: str
    """``Python wrapper``, or the variant's name."""
    state: Literal["measured", "unmeasured", "failed"] = "unmeasured"
    why: str = ""
    """Why it has no latency: the failure, unless `Overview.failure` is it, or the missing step."""
    latency_us: float | None = None
    """The median of a call."""
    latency: str = ""
    """``12.3 µs``; the range if the median is unreliable."""
    interval_us: tuple[float, float] | None = None
    interval_title: str = "95 % interval"
    """The title of ``interval_us``; ``4 samples: min\u2013max`` if there are too few for an
    interval."""
    interval: str = ""
    """``95 % interval 12.1\u201312.6 µs``; for one sample its title alone."""
    few: bool = False
    """There are too few samples for an interval of the median."""
    noisy: bool = False
    """The interval is too wide for the median to be reliable: the interval is drawn instead."""
    speedup: Speedup | None = None
    """Over eager."""
    first_call_s: float | None = None
    first_call: str = ""
    """``1.24 s``; with warm caches ``1.24 s (warm)``."""
    cold: bool = True
    """Whether the first call had no cache hit."""
    accurate: bool | None = None
    best: bool = False
    same_code: str = ""
    """``same code as the C++ wrapper``, if a plainer variant has it; else empty."""


class TargetResult(Struct):
    """The estimated time of a variant on a device that is not present. Nothing is measured."""

    variant: str
    title: str
    device: str
    call_us: float | None = None
    """An estimate: the time of kernels or of launches, whichever is longer."""
    text: str = ""
    """``≥ 16.0 µs a call, limited by launches``; the reason if there is no estimate."""


class Answer(Struct):
    """An answer to a question: a few words, and the figures behind it."""

    headline: str
    text: str = ""
    view: str = ""
    """The id of the view that shows all of it."""
    requested: Variant | None = None
    """The variant to add for an answer, where it is missing."""
    unbuilt: bool = False
    """Whether building and timing the report's variants gives the answer."""
    remedy: str = ""
    """The call that gives it, as a sentence, for views that have no button for it."""
    undecided: bool = False
    """Whether the measurement is too short or too noisy to tell."""


class Part(Struct):
    """A part of a call's time, shown as a segment of a bar."""

    kind: LayerKind
    """The layer that gives the part its color."""
    title: str
    us: float
    share: float
    text: str = ""
    """``wrapper 32 %``."""


class Limit(Struct):
    """What limits a call."""

    variant: str
    title: str
    headline: str
    text: str = ""
    bound: Limited = "unknown"
    basis: Basis = "unknown"
    parts: list[Part] = []
    view: str = "layers"
    study: LimitStudy = ""
    """The study that tells more: what limits the call, or whether its kernels are memory-bound or
    compute-bound."""
    unbuilt: bool = False
    """Whether the variant must be built first, which also breaks down the time of a call."""
    remedy: str = ""
    """The call that gives it, as a sentence, for views that have no button for it."""
    calls: str = ""
    """Which calls were broken down, as a sentence, where their time is not the latency."""


class Suggestion(Struct):
    """A suggested change."""

    what: str
    why: str = ""
    gain: str = ""
    basis: Basis = "unknown"
    code: str = ""
    """Code to paste."""
    variant: str = ""
    """The variant of the report that has it."""
    requested: Variant | None = None
    """The variant to add to try it; None if no switch provides it."""
    study: str = ""
    """The study that tries it, of the variant ``of``; empty if none does."""
    trial: str = ""
    """The setting that is tried, if it differs from the suggestion: ``dynamic=True``."""
    place: str = ""
    """Where to paste the code: ``before the call (cell line 7)``."""
    lines: list[SourceLine] = []
    """The lines to change, if there are several."""
    view: str = ""
    compilation: str = ""
    """The compilation to open in the view; empty for the first."""
    of: str = ""
    """The variant of the change, which the view opens; empty if it is for all variants."""


class Count(Struct):
    """How often something happened, in words."""

    text: str
    view: str
    number: int = 0
    warning: bool = False
    """Whether it costs time or differs from the request."""
    of: str = ""
    """The variant to open in the view, if it is not the overview's own variant."""
    why: str = ""
    """The reason, in sentences, where it is not what the view shows first."""
    causes: list[RecompileCause] = []
    """The guards that fail in calls after the inspected one."""
    remedy: str = ""
    """What to change, in a sentence, where the view has no compilation that says so."""


class KernelTimeConflict(Struct):
    """A variant whose kernels were measured to take longer than a whole call."""

    variant: str
    text: str
    """Both figures, why they may differ, and what to do."""
    latency_us: float
    """The upper bound of a call's time; a kernel time above it cannot be right."""


class Overview(Struct):
    """The summary of a report."""

    headline: str = ""
    """One sentence: which variant is fastest, or why that is not known."""
    failure: Problem | None = None
    """The error with which every compiled variant failed; None if they differ, or one compiled."""
    device: str = ""
    """torch's version and the device of the call: ``torch 2.13.0 · NVIDIA H200``."""
    environment: str = ""
    """All versions and processors, in one line."""
    results: list[Result] = []
    """One row per variant: latency, speedup over eager, first call."""
    targets: list[TargetResult] = []
    """The estimates for variants with a target."""
    scale_us: float = 0.0
    """The latency at the end of the axis of the bars (µs)."""
    axis: str = ""
    """What the bars show: ``0 \u2013 120 µs, 95 % interval``; empty if nothing is timed."""
    scope: str = ""
    """What the figures leave out: a call in the arguments, the backward; empty if nothing."""
    load: str = ""
    """What makes the latencies less reliable: that other processes competed for the processors,
    and which latencies had not settled (`Timing.settled`). Empty if nothing does."""
    wrapper: Answer | None = None
    """Whether the C++ wrapper is worth its compile time; None if Inductor generated no code."""
    limit: Limit | None = None
    """What limits the latency of a call."""
    suggestions: list[Suggestion] = []
    """What to change: at most five suggestions, the largest gain first."""
    counts: list[Count] = []
    """How many recompiles, graph breaks, failed compilations and the like there are."""
    longer_s: int = 0
    """How long to measure so that the comparison is clear (s); 0 if it already is."""
    longer: str = ""
    """The call that does this: ``cs.measure(report, seconds=30), in the session that …``."""
    needed_import: str = ""
    """The line that the calls in `longer` and in the remedies need; empty without such calls."""
    conflicts: list[KernelTimeConflict] = []
    """Variants whose kernels were measured to take longer than the whole call."""
