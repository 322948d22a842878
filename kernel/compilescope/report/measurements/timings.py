"""Measurements: how long calls take, and where their time goes.

Part of a report; see `compilescope.report` for the rules. Times are wall-clock times unless their
text says otherwise, and intervals are 95 % confidence intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from ..compilation.guards import RecompileCause
from ..compilation.phases import KindTime
from ..problem import Problem, Struct
from ..units import duration_range
from ..variant import Variant

InitialState = Literal["unchanged", "restored", "copied"]
LayerKind = Literal[
    "guards",
    "bytecode",
    "aot",
    "inductor",
    "wrapper",
    "launches",
    "kernels",
    "compiled",
    "idle",
    "eager",
    "other",
]
Bound = Literal["cpu", "memory", "compute", "unclear"]
LimitedBy = Literal["", "launch", "overhead", "memory", "compute", "unclear", "noisy"]
LAYER_KINDS: dict[LayerKind, str] = {
    "guards": "Dynamo entry and guards",
    "bytecode": "Dynamo bytecode",
    "aot": "AOTAutograd runtime",
    "inductor": "Inductor entry",
    "wrapper": "wrapper",
    "launches": "kernel launches",
    "kernels": "kernels",
    "compiled": "wrapper with its kernels",
    "idle": "waiting",
    "eager": "eager",
    "other": "not attributed",
}
"""Kind → its title, from the outside in. bytecode: Dynamo's rewritten function, without its graphs.
inductor: from AOTAutograd to the wrapper. wrapper: the generated wrapper itself. launches: the
host's launch overhead. kernels: on their device. compiled: the wrapper with all that it launches,
where these were not timed separately. idle: the host waits, or the device does. eager:
the code that was not compiled."""


class CompileTime(Struct):
    """The wall-clock time of the first call, and of its parts."""

    total_s: float
    """The time of the first call (s)."""
    parts: dict[str, float] = {}
    """Part, one of `FIRST_CALL_PARTS`, → seconds."""
    cold: bool = True
    """Whether all compile caches were empty."""
    kinds: list[KindTime] = []
    """The phases of all compilations added up by kind, in the order of `PHASE_KINDS`."""
    outside_s: float = 0.0
    """The time outside all phases: running the result, Python. 0 below a thousandth of the total,
    since torch times its phases with another clock."""


class Speedup(Struct):
    """The speed of a variant compared with another, as far as the measurement allows a statement.

    Every view shows this for a pair and does not compute it again.
    """

    ratio: float
    """The other's time over this one's: above 1 is faster."""
    interval: tuple[float, float] | None = None
    """99 %."""
    over: str = "eager"
    """The other variant's name."""
    standing: Literal["faster", "slower", "same", "noisy", "few"] = "few"
    """same: the interval contains 1 and extends at most 10 % to either side. noisy: it is too wide
    to say. few: too few rounds to tell."""
    text: str = ""
    """How many times faster or slower; or ``no difference``, ``too noisy to judge``."""
    detail: str = ""
    """The figure and its interval in words, even if ``text`` has none."""


class RatioAtRound(Struct):
    """The ratio to the baseline after a number of rounds of a measurement."""

    rounds: int
    ratio: float
    interval: tuple[float, float]
    """99 %."""


MIN_SAMPLES_FOR_INTERVAL = 6
"""Samples below which no interval of the median reaches 95 %."""


def too_few(samples_us: Sequence[float]) -> bool:
    """Whether there are too few samples for an interval; no samples (not kept) count as enough."""
    return 0 < len(samples_us) < MIN_SAMPLES_FOR_INTERVAL


class Timing(Struct):
    """How long a call takes once compiled."""

    median_us: float
    """The median latency of a call (µs)."""
    interval_us: tuple[float, float]
    """The 95 % interval of the median (µs)."""
    samples_us: list[float] = []
    """The samples (µs per call), one per round; a round takes one sample of each variant."""
    calls_per_sample: int = 1
    """How many consecutive calls make one sample, which is their mean."""
    warmup_calls: int = 0
    """How many calls were made before the first sample."""
    device: str = "cpu"
    """The device of the call: ``cpu``, ``cuda:0``."""
    ratio: float | None = None
    """The baseline's time divided by this one's, from the ratios of all rounds: above 1 is faster
    than the baseline. It differs slightly from the quotient of the medians, because load that slows
    a whole round cancels out."""
    ratio_interval: tuple[float, float] | None = None
    """The 99 % interval of the ratio; 99 % because a running measurement is read repeatedly."""
    baseline: str = "eager"
    """The name of the variant that `ratio` compares with."""
    differs: bool | None = None
    """Whether the ratio's interval excludes 1; None if there is no ratio, or fewer than eight
    rounds."""
    host_us: float | None = None
    """On a GPU: the time until the call returns (µs); its kernels may still be running."""
    device_us: float | None = None
    """On a GPU: the time between two CUDA events around the call (µs), in consecutive calls."""
    threads: int = 0
    """The number of intra-op threads of torch, fixed during the measurement."""
    settled: bool = True
    """Whether the warm-up ended because the times were stable, not because it ran out of time."""
    other_processors: float | None = None
    """How many processors other processes used on average during the measurement; None if it took
    less than 0.2 s."""
    processors: int = 0
    """How many logical processors this process may use; 0 if unknown."""
    initial_state: InitialState = "unchanged"
    """How every sample started from the same state. unchanged: a call changes no state. restored:
    the state was restored before each sample. copied: each sample had its own copies."""
    changes: list[str] = []
    """The state that a call changes, by path: ``net.bn.running_mean``, ``x``."""
    recompiles: str = ""
    """The value that every call changes although a guard compares it: ``self.steps``. Each call
    then compiles again, up to torch's limit; the time is that of calls whose state was restored,
    if `initial_state` says so. Empty if there is none."""
    other_recompiles: list[str] = []
    """Further values that every call changes although guards compare them; torch reports only the
    first. Each of them alone recompiles, too."""
    recompile_causes: list[RecompileCause] = []
    """Where every call recompiles: the guards that fail in each of several calls, with the value in
    the inspected call and in the next one. They belong to no compilation of the report."""
    first_recompiles: list[str] = []
    """Calls in a row recompile from the second on, until one does not: the value for which each of
    them does, such as ``self.mask``. The time is that of later calls. Empty if every call
    recompiles."""
    speedup: Speedup | None = None
    """The ratio and its interval as displayed; None if there is no ratio."""
    turns: str = ""
    """The id of the measurement; samples are paired by round within one measurement."""
    first_round: int = 0
    """The round of the first sample in that measurement."""
    running: list[RatioAtRound] = []
    """The history of the ratio: from the eighth common round on, each entry with at least 5 % more
    rounds than the previous one."""
    few: bool = False
    """Whether there are too few samples for an interval; ``interval_us`` is then the range of all
    samples."""
    interval: str = ""
    """The interval as displayed: ``12.1\u201312.6 µs``. With too few samples for one:
    ``4 samples: min\u2013max 12.1\u201312.6 µs``, or ``1 sample``."""

    def __post_init__(self) -> None:
        # A file of an earlier version does not hold them.
        self.few = self.few or too_few(self.samples_us)
        if not self.interval:
            self.fill_interval()

    def fill_interval(self) -> None:
        """Fill in the interval as displayed, again after a change of the samples."""
        title, bounds = interval_title(self), duration_range(*self.interval_us)
        if self.few:
            self.interval = title if len(self.samples_us) == 1 else f"{title} {bounds}"
        else:
            self.interval = bounds


def interval_title(timing: Timing) -> str:
    """The title of `Timing.interval_us`: ``95 % interval``, or ``4 samples: min\u2013max``.

    One sample has no range: ``1 sample``.
    """
    if not timing.few:
        return "95 % interval"
    samples = len(timing.samples_us)
    if samples == 1:
        return "1 sample"
    return f"{samples} samples: min\u2013max" if samples else "min\u2013max"


class Layer(Struct):
    """A part of a call's time."""

    kind: LayerKind
    us: float
    interval_us: tuple[float, float] | None = None
    compilation: str = ""
    """The compile id that it belongs to; empty for parts that all share."""
    how: str = ""
    """How it was measured, in a sentence."""
    device_us: float | None = None
    """For kernels on a GPU: their total time. ``us`` is the part that the host waits for; the rest
    overlaps with the host's work."""
    share: float | None = None
    """Of the call, as in `shares_of_call`; None if the call took no time."""


class LayerSum(Struct):
    """The layers of one kind in one call."""

    kind: LayerKind
    us: float
    share: float | None = None
    """As `Layer.share`."""


class Layers(Struct):
    """Where one call's time goes."""

    direction: Literal["inference", "forward", "backward", "step"] = "inference"
    """step: a call that runs its own backward."""
    whole_us: float = 0.0
    """The whole call, measured in the same rounds."""
    whole_interval_us: tuple[float, float] | None = None
    layers: list[Layer] = []
    sum_us: float = 0.0
    agrees: bool = True
    """Whether the sum is within a tenth of the whole."""
    why: str = ""
    """If the sum does not agree, the possible reason; and what was not measured."""
    device: str = "cpu"
    kinds: list[LayerSum] = []
    """The layers added up by kind, from the outside in."""
    sum_share: float | None = None
    """The share of all layers together."""

    def __post_init__(self) -> None:
        # A file of an earlier version does not hold them.
        if self.layers and not self.kinds:
            self.add_up()

    def add_up(self) -> None:
        """Compute the sums and shares again, after a change of the layers."""
        shares = shares_of_call(self)
        for layer, share in zip(self.layers, shares, strict=True):
            layer.share = share
        self.sum_us = sum(layer.us for layer in self.layers)
        self.sum_share = _added(shares)
        self.kinds = []
        for kind in LAYER_KINDS:
            alike = [layer for layer in self.layers if layer.kind == kind]
            if alike:
                us, share = sum(layer.us for layer in alike), _added(layer.share for layer in alike)
                self.kinds.append(LayerSum(kind=kind, us=us, share=share))


def shares_of_call(layers: Layers) -> list[float | None]:
    """Return the share of the call that each layer takes.

    Each layer is timed separately, so noise can make their sum a little longer than the call, or a
    layer negative. The shares are then of that sum, and a negative layer has none of it.
    """
    own_us = [max(layer.us, 0.0) for layer in layers.layers]
    whole_us = max(layers.whole_us, sum(own_us))
    return [us / whole_us if whole_us > 0 else None for us in own_us]


def _added(shares: Iterable[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) if known else None


Peak = Literal["", "memory", "compute", "cache"]


class LaunchTime(Struct):
    """How long a launch of a kernel takes."""

    us: float
    """The time of the kernel itself on its device, without the launch."""
    interval_us: tuple[float, float] | None = None
    calls: int = 0
    """The number of calls of the subject."""
    device: str = "cpu"
    bytes_per_s: float | None = None
    """The estimated bytes over the measured time."""
    operations_per_s: float | None = None
    bandwidth_share: float | None = None
    """The share of the device's peak, from 0; above 1 if data come from a cache."""
    compute_share: float | None = None
    cached: bool = False
    """Whether its data fit in the last-level cache with all that is used since their last use."""
    how: str = ""
    peak: Peak = ""
    """The peak rate that it comes nearest to; cache: its data are in a cache, or it is faster than
    the memory can be."""
    peak_share: float | None = None
    """The share of that peak."""
    text: str = ""
    """Everything above, in lines of words."""


class KernelTime(Struct):
    """How long the launches of a kernel take together, in one wrapper."""

    us: float
    launches: int
    """How many of the launches were measured."""
    bytes_per_s: float | None = None
    """The mean over the time of the launches, as the other rates."""
    operations_per_s: float | None = None
    peak: Peak = ""
    """As `LaunchTime.peak`."""
    peak_share: float | None = None
    text: str = ""
    """The figures in words: of the only launch, or of the sum."""


class Peaks(Struct):
    """The peak rates of a device."""

    device: str
    """``cpu``, ``cuda:0``."""
    name: str = ""
    bandwidth_bytes_per_s: float | None = None
    cache_bytes: float | None = None
    """The size of the last-level cache; None if unknown."""
    operations_per_s: dict[str, float] = {}
    """dtype → arithmetic operations a second in matrix products; a multiply-add counts as two.
    ``tf32``: float32 in tensor cores. ``vector float32``: everything else, if it differs."""
    how: Literal["measured", "specified"] = "measured"
    source: str = ""
    """The source of a specified figure, or the method of a measured one."""


class Help(Struct):
    """A change that usually helps, with its measured effect if known."""

    what: str
    why: str = ""
    code: str = ""
    """To paste."""
    variant: str = ""
    """The variant of the report that has it."""
    ratio: float | None = None
    """The measured speed of that variant over this one's; above 1 it helped."""
    ratio_interval: tuple[float, float] | None = None
    speedup: Speedup | None = None
    """The speedup over the verdict's variant, as displayed; None if it was not measured."""
    requested: Variant | None = None
    """The variant to add that has it; None if no switch provides it."""
    place: str = ""
    """Where to paste the code: ``around the call``. Empty if a switch provides it."""


class Verdict(Struct):
    """What a variant's time is bound by."""

    bound: Bound
    """cpu: bound by the host's work around the kernels."""
    evidence: str
    """One sentence with the figures."""
    helps: list[Help] = []
    estimated: bool = False
    """Whether it is an estimate for a target that is not present, without a measurement."""
    limited_by: LimitedBy = ""
    """The form of ``bound`` that views show, with separate kinds of host work. noisy: the figures
    contradict each other, and ``evidence`` says how. Empty in reports of earlier versions."""
    title: str = ""
    """``limited_by`` in words: ``memory-bound``."""
    meaning: str = ""
    """What it means, in a sentence."""


class Startup(Struct):
    """A first call in a separate process."""

    cache: Literal["cold", "warm"]
    precompiled_headers: bool = True
    """Whether torch may keep the C++ headers precompiled; they are built within a cold one."""
    first_call_s: float | None = None
    parts: dict[str, float] = {}
    """As `CompileTime.parts` (s)."""
    headers_s: float | None = None
    """The part of the C++ build that precompiled headers."""
    imports_s: float | None = None
    """The time of the process before the call: Python, torch, the subject."""
    memory_bytes: float | None = None
    """The peak memory of the process."""
    problem: Problem | None = None


class Payback(Struct):
    """The number of calls after which the saved time exceeds a variant's compile time."""

    cache: Literal["cold", "warm"]
    compile_s: float
    saved_us: float
    """The time saved per call compared with eager; negative if the variant is slower."""
    calls: float | None = None
    """The number of calls; None if the variant never pays for itself."""
    text: str = ""
    """All of it as the rest of a sentence about the variant: ``pays for itself …``. Empty if the
    sentence about the other cache says it."""


AS_IT_IS, ONCE_MORE = "as it is", "once more"
HEADERS_KEPT = "precompiled headers kept"


class ColdSwitch(Struct):
    """The effect of one setting on the first call's time, each measured in a separate process."""

    switch: str
    """The setting: ``cpp_cache_precompile_headers``. ``as it is``: no change, in the first row;
    repeated in the last row as ``once more``, to show the noise. ``precompiled headers kept``: no
    change, but with the headers that the first row built, as the next first call on a machine finds
    them."""
    value: str = ""
    label: str = ""
    """``fx_graph_cache = False``, ``current settings``."""
    title: str = ""
    """What it does, in words."""
    code: str = ""
    """Code to paste that sets it."""
    cold_s: float | None = None
    warm_s: float | None = None
    cold_parts: dict[str, float] = {}
    """As `CompileTime.parts` (s)."""
    warm_parts: dict[str, float] = {}
    call_us: float | None = None
    """The time of a later call, to show the setting's cost there."""
    call_interval_us: tuple[float, float] | None = None
    """The 95 % interval of that median; None if there are too few samples."""
    cold_more_s: float | None = None
    """The difference from the unchanged settings; 0 if it is within noise."""
    warm_more_s: float | None = None
    call_more_us: float | None = None
    """None also if there are too few samples to tell a difference from noise."""
    how: str = ""
    why: str = ""
    """Why there is no figure, or why the setting has no effect here."""
    problem: Problem | None = None
