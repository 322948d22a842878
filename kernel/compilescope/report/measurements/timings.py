"""What was measured: how long calls take, where their time goes, how right their results are.

Part of a report; see `compilescope.report` for the rules. Times are wall-clock times unless their
text says otherwise, and intervals are 95 % confidence intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..problem import Problem, Struct
from ..variant import Variant

Keeping = Literal["unchanged", "restored", "copied"]
LayerKind = Literal[
    "guards",
    "bytecode",
    "aot",
    "inductor",
    "wrapper",
    "launches",
    "kernels",
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
    "idle": "waiting",
    "eager": "eager",
    "other": "not attributed",
}
"""Kind → its title, from the outside in. bytecode: what Dynamo rewrote of the function, but for the
graphs in it. inductor: from AOTAutograd to the wrapper. wrapper: the generated one itself.
launches: what starting kernels costs the host. kernels: on their device. idle: the host waits, or
the device does. eager: what was not compiled."""


class CompileTime(Struct):
    """How long the first call took, and its parts (seconds, on the wall clock)."""

    total_s: float
    parts: dict[str, float] = {}
    """dynamo, aot_autograd, inductor, code_generation, cpp_build, triton, other."""
    cold: bool = True
    """Measured in empty caches."""


class Speedup(Struct):
    """How fast a variant is beside another, no more than what the measurement allows.

    This is what every view shows of a pair; none works it out again.
    """

    ratio: float
    """The other's time over this one's: above 1 is faster."""
    interval: tuple[float, float] | None = None
    """99 %."""
    over: str = "eager"
    """The other variant's name."""
    standing: Literal["faster", "slower", "same", "noisy", "few"] = "few"
    """same: the interval contains 1 and reaches no further than 10 %. noisy: it is too wide to say.
    few: too few rounds to tell."""
    text: str = ""
    """How many times faster or slower; or ``no difference``, ``too noisy to judge``."""
    detail: str = ""
    """The figure and its interval, in words, also where ``text`` has none."""


class RatioAtRound(Struct):
    """The ratio to the baseline as it stood after so many rounds of a measurement."""

    rounds: int
    ratio: float
    interval: tuple[float, float]
    """99 %."""


FEWEST_FOR_INTERVAL = 6
"""Samples below which no interval of the median reaches 95 %."""


def too_few(samples_us: Sequence[float]) -> bool:
    """Whether there are too few samples for an interval. Samples that are not kept were enough."""
    return 0 < len(samples_us) < FEWEST_FOR_INTERVAL


class Timing(Struct):
    """How long a call takes once compiled."""

    median_us: float
    interval_us: tuple[float, float]
    """Of the median."""
    samples_us: list[float] = []
    """In the order of the rounds; the samples of one round were taken one after the other."""
    calls_per_sample: int = 1
    warmup_calls: int = 0
    device: str = "cpu"
    ratio: float | None = None
    """The baseline's time over this one's, round by round: above 1 is faster than the baseline. It
    is not quite the quotient of the medians, since a load that comes and goes cancels out of it."""
    ratio_interval: tuple[float, float] | None = None
    """99 %, since a measurement that goes on is looked at again and again."""
    baseline: str = "eager"
    differs: bool | None = None
    """Whether the ratio's interval leaves out 1; None where there is no ratio, or fewer than eight
    rounds to tell from."""
    host_us: float | None = None
    """On a GPU: until the call returns, its kernels perhaps still running."""
    host_interval_us: tuple[float, float] | None = None
    device_us: float | None = None
    """On a GPU: between two events of the stream around the call, in calls one after the other."""
    device_interval_us: tuple[float, float] | None = None
    threads: int = 0
    """Threads that torch may use within an operation; fixed meanwhile."""
    settled: bool = True
    """Whether the warm-up ended because times no longer changed, and not for want of time."""
    keeping: Keeping = "unchanged"
    """How the subject's state was kept from changing its times: it does not change any; it was put
    back before every sample; every sample had copies of its own."""
    changes: list[str] = []
    """What a call changes, by where it is: ``net.bn.running_mean``, ``x``."""
    speedup: Speedup | None = None
    """The ratio and its interval as they are shown; None where there is no ratio."""
    turns: str = ""
    """Which measurement it is of: samples of the same one were taken round by round."""
    first_round: int = 0
    """The round of that measurement that the first sample is of."""
    running: list[RatioAtRound] = []
    """How the ratio came to be: from the eighth shared round on, each with at least 5 % more rounds
    than the one before."""
    few: bool = False
    """There are too few samples for an interval: ``interval_us`` is all that was seen."""


class Layer(Struct):
    """A part of a call's time."""

    kind: LayerKind
    us: float
    interval_us: tuple[float, float] | None = None
    compilation: str = ""
    """The compile id of what it belongs to; empty for what all share."""
    how: str = ""
    """How it was measured, in a sentence."""
    device_us: float | None = None
    """Of kernels on a GPU: all of their time. ``us`` has the part of it that the host waits for;
    the rest passes while the host is busy."""


class Layers(Struct):
    """Where one call's time goes."""

    direction: Literal["inference", "forward", "backward", "step"] = "inference"
    """step: a call that runs its own backward."""
    whole_us: float = 0.0
    """The call, measured as a whole in the same rounds."""
    whole_interval_us: tuple[float, float] | None = None
    layers: list[Layer] = []
    sum_us: float = 0.0
    agrees: bool = True
    """Whether the sum is within a tenth of the whole."""
    why: str = ""
    """If it does not agree, why that may be; and what was not measured."""
    device: str = "cpu"


class LaunchTime(Struct):
    """How long a launch of a kernel takes."""

    us: float
    """On its device: the time of the kernel itself, without starting it."""
    interval_us: tuple[float, float] | None = None
    calls: int = 0
    """Over how many calls of the subject."""
    device: str = "cpu"
    bytes_per_s: float | None = None
    """The estimated bytes over the measured time."""
    operations_per_s: float | None = None
    bandwidth_share: float | None = None
    """Of the device's peak, from 0; above 1 where data come from a cache."""
    compute_share: float | None = None
    how: str = ""


class Peaks(Struct):
    """What a device can do at best."""

    device: str
    """``cpu``, ``cuda:0``."""
    name: str = ""
    bandwidth_bytes_per_s: float | None = None
    operations_per_s: dict[str, float] = {}
    """dtype → arithmetic operations a second in matrix products; a multiply-add counts as two.
    ``tf32``: float32 in tensor cores. ``vector float32``: of everything else, where it differs."""
    how: Literal["measured", "specified"] = "measured"
    source: str = ""
    """Where a specified figure comes from; how a measured one was measured."""


class Help(Struct):
    """Something that usually helps, and what it brought where that was measured."""

    what: str
    why: str = ""
    code: str = ""
    """To paste."""
    variant: str = ""
    """The variant of the report that has it."""
    ratio: float | None = None
    """Measured: that one's speed over this one's; above 1, it helped."""
    ratio_interval: tuple[float, float] | None = None
    speedup: Speedup | None = None
    """Over the variant that the verdict is on, as it is shown; None where it was not measured."""
    requested: Variant | None = None
    """The variant that has it, to be added; None where no switch brings it."""
    place: str = ""
    """Where the code is to be pasted: ``around the call``. Empty where a switch brings it."""


class Verdict(Struct):
    """What a variant's time is bound by."""

    bound: Bound
    """cpu: by what the host does around the kernels."""
    evidence: str
    """One sentence with the figures."""
    helps: list[Help] = []
    estimated: bool = False
    """It is reckoned for a target that is not there; nothing was measured."""
    limited_by: LimitedBy = ""
    """What views show of ``bound``, with what the host does told apart. noisy: the figures
    contradict each other, and ``evidence`` says how. Empty in reports of earlier versions."""


class Startup(Struct):
    """A first call in a process of its own."""

    cache: Literal["cold", "warm"]
    precompiled_headers: bool = True
    """Whether torch may keep the C++ headers precompiled; they are built within a cold one."""
    first_call_s: float | None = None
    parts: dict[str, float] = {}
    """As in `CompileTime`."""
    headers_s: float | None = None
    """Of the C++ build, what precompiling headers took."""
    imports_s: float | None = None
    """What the process took before: Python, torch, the subject."""
    memory_bytes: float | None = None
    """The most that the process held."""
    problem: Problem | None = None


class Payback(Struct):
    """After how many calls a variant has paid for its compile time."""

    cache: Literal["cold", "warm"]
    compile_s: float
    saved_us: float
    """A call, over eager; negative where the variant is slower."""
    calls: float | None = None
    """None: never."""


class OutputError(Struct):
    """How far one output is from eager's."""

    path: str
    dtype: str
    max_abs: float
    max_rel: float
    tolerance_abs: float
    tolerance_rel: float
    ok: bool
    reference: str = ""
    """What it was compared with besides: ``eager in float64``; empty where that cannot be."""
    reference_abs: float | None = None
    """The largest difference from the reference."""
    eager_reference_abs: float | None = None
    """Eager's own."""
    other_rounding_abs: float | None = None
    """How far eager was from itself where each operator rounded in another way; None where that was
    not needed to judge it."""


class Departure(Struct):
    """The first kernel whose result is not what it should be."""

    compilation: str
    kernel: str
    key: str = ""
    """Of its launch, as in `Region.key`."""
    buffer: str = ""
    node: str = ""
    """The node of the post-grad graph whose value it is."""
    error: OutputError | None = None
    how: str = ""


AS_IT_IS, ONCE_MORE = "as it is", "once more"
HEADERS_KEPT = "precompiled headers kept"


class ColdSwitch(Struct):
    """What one setting changes in the first call's time, each in a process of its own."""

    switch: str
    """The setting: ``cpp_cache_precompile_headers``. ``as it is``: none, in the first row; in the
    last one, ``once more``, to show what differs by chance. ``precompiled headers kept``: none, but
    with the headers that the first row made: as the next first call on a machine finds them."""
    value: str = ""
    title: str = ""
    """What it does, in words."""
    code: str = ""
    """Sets it, to paste."""
    cold_s: float | None = None
    warm_s: float | None = None
    cold_parts: dict[str, float] = {}
    """As in `CompileTime`."""
    warm_parts: dict[str, float] = {}
    call_us: float | None = None
    """A call afterwards: what the setting costs there."""
    call_interval_us: tuple[float, float] | None = None
    cold_more_s: float | None = None
    """Than as it is; 0 where the difference is no larger than chance makes it."""
    warm_more_s: float | None = None
    call_more_us: float | None = None
    how: str = ""
    why: str = ""
    """Why there is no figure, or what the setting does not do here."""
    problem: Problem | None = None
