"""The answer first: what a report comes to, worked out once for every view that shows it.

Part of a report; see `compilescope.report` for the rules. Sentences are whole and figures are
formatted here; the views only draw it.
"""

from __future__ import annotations

from typing import Literal

from .measurements.timings import LayerKind, Speedup
from .problem import Struct
from .variant import Variant

Basis = Literal["measured", "estimated", "unknown"]
Limited = Literal["launch", "overhead", "memory", "compute", "unclear", "unknown"]


class Result(Struct):
    """A variant as a row of results."""

    variant: str
    title: str
    """``Python wrapper``; else the variant's name."""
    state: Literal["measured", "unmeasured", "failed"] = "unmeasured"
    why: str = ""
    """Why it has no latency: what failed, or what is left to do."""
    latency_us: float | None = None
    """The median of a call."""
    interval_us: tuple[float, float] | None = None
    interval_title: str = "95 % interval"
    """What ``interval_us`` is; ``4 samples: min\u2013max`` where those are too few for one."""
    few: bool = False
    """There are too few samples for an interval of the median."""
    noisy: bool = False
    """The median's interval is too wide for the figure to mean much."""
    speedup: Speedup | None = None
    """Over eager."""
    first_call_s: float | None = None
    cold: bool = True
    """Of the first call: nothing of it came from a cache."""
    accurate: bool | None = None
    best: bool = False


class TargetResult(Struct):
    """What a variant would take on a device that is not there. Nothing of it is measured."""

    variant: str
    title: str
    device: str
    call_us: float | None = None
    """Estimated: kernels or launches, whichever takes longer."""
    text: str = ""
    """``about 16 µs a call, most of it launches``."""


class Answer(Struct):
    """A question's answer: a few words, and the figures behind it."""

    headline: str
    text: str = ""
    view: str = ""
    """The id of the view that shows it whole."""
    requested: Variant | None = None
    """The variant to add for an answer, where it is missing."""


class Part(Struct):
    """A part of a call, as a part of one bar."""

    kind: LayerKind
    """The layer that stands for the part, whose colour it has."""
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


class Suggestion(Struct):
    """Something to change."""

    what: str
    why: str = ""
    gain: str = ""
    basis: Basis = "unknown"
    code: str = ""
    """To paste."""
    variant: str = ""
    """The variant of the report that has it."""
    requested: Variant | None = None
    """The variant to add, to try it; None where no switch brings it."""
    trial: str = ""
    """The setting that is tried, where it is not quite what is suggested: ``dynamic=True``."""
    place: str = ""
    """Where the code is to be pasted: ``before the call (cell, line 7)``."""
    view: str = ""
    compilation: str = ""
    """The compilation that the view shows it of; empty for the first."""
    of: str = ""
    """The variant that the view shows it of, where that is not the one that the overview is of."""


class Count(Struct):
    """How often something happened, in words."""

    text: str
    view: str
    number: int = 0
    warning: bool = False
    """It costs time or is not as asked for."""
    of: str = ""
    """The variant that the view shows it of, where that is not the one that the overview is of."""


class KernelTimeConflict(Struct):
    """A variant whose kernels were measured to take longer than a whole call."""

    variant: str
    text: str
    """Both figures, why they may differ, and what to do."""
    latency_us: float
    """What a call takes at most; a kernel above it cannot be right."""


class Overview(Struct):
    """What a report comes to."""

    headline: str = ""
    """One sentence: which variant is fastest, or why that is not known."""
    results: list[Result] = []
    targets: list[TargetResult] = []
    scale_us: float = 0.0
    """What the longest bar of the results stands for."""
    wrapper: Answer | None = None
    """Whether the C++ wrapper is worth it; None where there is nothing to wrap."""
    limit: Limit | None = None
    suggestions: list[Suggestion] = []
    """At most five, the largest gain first."""
    counts: list[Count] = []
    conflicts: list[KernelTimeConflict] = []
