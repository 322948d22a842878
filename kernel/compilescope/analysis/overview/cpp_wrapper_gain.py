"""Whether the C++ wrapper is worth it, in a sentence with the figures behind it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ...report import Answer, Report, Speedup, Timing, VariantReport, is_record
from ...report.units import duration, percent
from ...report.variant import CUDA_GRAPH_MODES, CUDA_GRAPHS
from ..figures.counts import always_recompiles, compiled_nothing
from ..figures.intervals import MIN_ROUNDS
from ..figures.payback import first_call_s
from ..figures.speedups import between, latency, round_by_round
from ..figures.wording import of_whole, round_number
from ..wrapper.default_sides import with_wrapper
from .next_calls import compare_wrappers, measure
from .time_breakdown import parts_of_call
from .variants import eager_of

_VIEW = "wrappers"
SMALL = 0.1
"""If the wrapper and its launches take less of a call, another wrapper is not worth it."""
_MARGINAL = 0.05
"""A gain below this share of a call is seldom worth a longer first call."""


def wrapper(report: Report, now: VariantReport) -> Answer | None:
    """Answer whether the C++ wrapper is worth it.

    None if Inductor makes none, and if calls run neither wrapper: nothing was compiled, or they end
    in eager.

    Parameters
    ----------
    now
        The variant that the overview is about.
    """
    if not now.requested.uses_inductor or now.target is not None or now.stage == "failed":
        return None
    if report.subject.kind in ("watch", "trace", "package") or not now.compilations:
        return None
    if compiled_nothing(now) or always_recompiles(now):
        return None
    python, cpp = _pair(report, now)
    host = host_time(python or now)
    if cpp is not None and cpp.stage == "failed":
        return Answer("It could not be built.", _error(cpp), _VIEW)
    if python is not None and python.stage == "failed":
        return Answer("The Python wrapper could not be built.", _error(python), _VIEW)
    if python is None and cpp is not None and cpp.timing is not None:
        with_python = msgspec.structs.replace(cpp.requested, cpp_wrapper=False)
        text = "Only the C++ wrapper is in the report."
        return Answer(
            "Not compared yet.", text, _VIEW, with_python, remedy=compare_wrappers(report)
        )
    if python is None or python.timing is None:
        return _untimed(report, python, cpp, host)
    if cpp is None:
        if is_too_small(python):
            return Answer("It cannot help.", _never(host, ""), _VIEW)
        with_cpp = msgspec.structs.replace(python.requested, cpp_wrapper=True)
        text = _never(host, "") or "Only the Python wrapper is in the report."
        return Answer("Not tried yet.", text, _VIEW, with_cpp, remedy=compare_wrappers(report))
    if cpp.timing is None:
        return _untimed(report, python, cpp, host)
    return _compared(report, now, python, python.timing, cpp, host)


def _error(variant: VariantReport) -> str:
    return next((problem.what for problem in variant.problems if problem.severity == "error"), "")


def _untimed(
    report: Report,
    python: VariantReport | None,
    cpp: VariantReport | None,
    host: HostTime | None,
) -> Answer:
    present = [variant for variant in (python, cpp) if variant is not None]
    timed = [variant for variant in present if variant.timing is not None]
    captured = [variant for variant in present if variant.stage == "captured"]
    done = "built" if all(variant.stage == "built" for variant in present) else "generated"
    if len(captured) == len(present):
        what = "Its code is being generated."
    elif timed:
        what = f"Only the {_KIND[timed[0].requested.cpp_wrapper]} wrapper is timed."
    elif len(present) == 1:
        what = f"The {_KIND[present[0].requested.cpp_wrapper]} wrapper is {done}, but not timed."
    elif captured:
        what = f"The {_KIND[captured[0].requested.cpp_wrapper]} wrapper is being generated."
    else:
        what = f"Both wrappers are {done}, but not timed."
    return Answer(
        "Not measured yet.", _never(host, what), _VIEW, unbuilt=True, remedy=measure(report)
    )


_KIND = {False: "Python", True: "C++"}


def _pair(report: Report, now: VariantReport) -> tuple[VariantReport | None, VariantReport | None]:
    """The variants with either wrapper and the same settings: the overview's own, or others."""
    usable = [
        variant
        for variant in report.variants
        if variant.requested.uses_inductor and variant.target is None and not is_record(variant)
    ]
    pairs = [
        (
            with_wrapper(report.variants, variant, cpp=False),
            with_wrapper(report.variants, variant, cpp=True),
        )
        for variant in (now, *usable)
    ]
    return next((pair for pair in pairs if None not in pair), pairs[0])


def first_call(variant: VariantReport) -> float | None:
    """The time of a first call with empty caches."""
    return first_call_s(variant, "cold")


def _compared(
    report: Report,
    now: VariantReport,
    python: VariantReport,
    timing: Timing,
    cpp: VariantReport,
    host: HostTime | None,
) -> Answer:
    ratio = between(cpp, python)
    forward = host_time(python, of_backward=False) if host is not None else None
    sentence = f" {_host_sentence(forward, timing)}" if forward is not None else ""
    if now is not python and now is not cpp:
        sentence = (
            f" These are {python.name} and {cpp.name}; {now.name} was tried with one wrapper."
            f"{sentence}"
        )
    cost = _cost(python, cpp)
    if ratio is None or cpp.timing is None:
        return Answer("They were measured on different devices.", "", _VIEW)
    both = f"{latency(timing)} with the Python wrapper, {latency(cpp.timing)} with the C++ one."
    if ratio.standing == "noisy":
        both += f" {round_by_round(ratio, 'the C++ one')}"
    if ratio.standing == "few":
        both += _without_interval(timing, cpp.timing)
    if ratio.standing in ("noisy", "few"):
        text = f"A call takes {both}{sentence}{cost}"
        return Answer(f"{ratio.text.capitalize()}.", text, _VIEW, undecided=True)
    if ratio.standing == "same":
        head = _TOO_LITTLE if is_too_small(python) else "No: it makes no difference."
        return Answer(head, f"A call takes {both}{sentence}{cost}", _VIEW)
    sentence += _unexplained(ratio, python)
    if ratio.standing == "slower":
        is_unexplained = is_too_small(python) and _is_unexplained(ratio, python)
        head = _TOO_LITTLE if is_unexplained else f"No: {ratio.text} per call."
        return Answer(head, f"A call takes {both}{sentence}{cost}", _VIEW)
    saved_us = timing.median_us * (1 - 1 / ratio.ratio)
    text = f"It saves {of_whole(saved_us, timing.median_us)} per call "
    text += f"({percent(1 - 1 / ratio.ratio)}).{sentence}{_cost(python, cpp, saved_us)}"
    if is_slower_than_eager(python, report) and is_slower_than_eager(cpp, report):
        return Answer("No: eager is faster than both.", text, _VIEW)
    graphs = _with_graphs(report, cpp)
    if graphs is not None:
        return Answer("Only where CUDA graphs cannot be used.", text, _VIEW)
    head = "Marginal" if is_marginal(ratio) else "Yes"
    return Answer(f"{head}: {ratio.text} per call.", text, _VIEW)


_TOO_LITTLE = "No: there is too little to save."


def _is_unexplained(ratio: Speedup, python: VariantReport) -> bool:
    """Whether the wrapper and its launches take less than the latencies differ for certain."""
    host = host_time(python, of_backward=False)
    if host is None or not host.with_launches:
        return False
    low, high = ratio.interval or (ratio.ratio, ratio.ratio)
    return 1 - 1 / max(low, 1 / high) > host.us / host.whole_us


def _unexplained(ratio: Speedup, python: VariantReport) -> str:
    """A sentence where the wrapper cannot be the whole cause of a difference."""
    if not _is_unexplained(ratio, python):
        return ""
    return (
        f" The wrapper alone does not explain why the C++ one is {ratio.text}: the rest is noise, "
        "or the kernels run at a different speed."
    )


def is_slower_than_eager(variant: VariantReport, report: Report) -> bool:
    """Whether a variant is slower than eager for certain."""
    eager = eager_of(report)
    ratio = between(variant, eager) if eager is not None else None
    return ratio is not None and ratio.standing == "slower"


def _without_interval(python: Timing, cpp: Timing) -> str:
    """Why the two are not compared if too few rounds were measured."""
    rounds = min(len(python.samples_us), len(cpp.samples_us))
    if rounds == 1:
        return " Each was measured once: one sample has no interval."
    return f" {rounds} rounds are too few to compare them." if 0 < rounds < MIN_ROUNDS else ""


def is_marginal(speedup: Speedup) -> bool:
    """Whether the faster of two variants saves too little to be worth a change."""
    return 1 - min(speedup.ratio, 1 / speedup.ratio) < _MARGINAL


def _cost(python: VariantReport, cpp: VariantReport, saved_us: float = 0.0) -> str:
    """How much longer its first call takes, and after how many calls that is made up for."""
    before, after = first_call(python), first_call(cpp)
    if before is None or after is None:
        return ""
    more_s = after - before
    if contradiction := _contradiction(python, cpp, before, after):
        return contradiction
    if _is_chance(before, after):
        return " The first call took about as long with either wrapper."
    if more_s < 0:
        return f" The first call took {duration(-more_s * 1e6)} less with the C++ one {_ONCE}."
    text = f" The first call took {duration(more_s * 1e6)} longer with the C++ one {_ONCE}"
    if saved_us > 0:
        text += f", which pays off after about {round_number(more_s * 1e6 / saved_us)} calls"
    return f"{text}."


def _contradiction(python: VariantReport, cpp: VariantReport, before: float, after: float) -> str:
    """A sentence where first calls in new processes and in the inspection contradict each other."""
    if python.compile_time is None or cpp.compile_time is None:
        return ""
    here = python.compile_time.total_s, cpp.compile_time.total_s
    if here == (before, after) or (here[1] > here[0]) == (after > before):
        return ""
    if _is_chance(*here) and _is_chance(before, after):
        return ""
    return (
        " It is not clear which wrapper has the shorter first call: with the Python wrapper it "
        f"took {duration(here[0] * 1e6)} in the inspection and {duration(before * 1e6)} in a new "
        f"process, with the C++ one {duration(here[1] * 1e6)} and {duration(after * 1e6)}."
    )


def _is_chance(before: float, after: float) -> bool:
    return abs(after - before) < CHANCE * max(before, after)


CHANCE = 0.05
"""First calls that differ by less than this count as equal: each was measured once."""

_ONCE = "(each measured once)"


class HostTime(NamedTuple):
    """The host time of a Python wrapper in a call, and the whole call, in µs."""

    us: float
    whole_us: float
    with_launches: bool
    """Whether ``us`` includes the host time of its launches, which a C++ wrapper can save too.

    A C++ wrapper launches kernels and calls libraries without Python, which the layer of the Python
    wrapper leaves out.
    """

    @property
    def subject(self) -> str:
        """What takes the time, in words."""
        return f"the Python wrapper{' and its launches' * self.with_launches}"


def host_time(python: VariantReport, *, of_backward: bool = True) -> HostTime | None:
    """The host time of the Python wrapper in a call; None if it is unknown.

    It is unknown without layers, or if the layers are of calls with another latency.

    Parameters
    ----------
    of_backward
        Whether the backward counts too. Timings are of calls without it.
    """
    if python.requested.cpp_wrapper or not trusted(python):
        return None
    whole_us = called_us(python)
    layers = parts_of_call(python, of_backward=of_backward)
    if of_backward:
        whole_us = sum(directed.whole_us for directed in python.layers)
    wrapper_us = [layer.us for layer in layers if layer.kind == "wrapper"]
    launches_us = [layer.us for layer in layers if layer.kind == "launches"]
    if whole_us <= 0 or not wrapper_us:
        return None
    # On a CPU kernels may be timed with their launches, on a GPU never.
    on_gpu = not python.layers[0].device.startswith("cpu")
    return HostTime(sum(wrapper_us) + sum(launches_us), whole_us, bool(launches_us) or on_gpu)


def is_too_small(python: VariantReport) -> bool:
    """Whether a C++ wrapper certainly saves too little of a call to be worth it."""
    host = host_time(python)
    return host is not None and host.with_launches and host.us / host.whole_us < SMALL


def trusted(variant: VariantReport) -> bool:
    """Whether the layers of a variant are of calls like those that were timed, and add up."""
    return near_timing(variant) and all(layer.agrees for layer in variant.layers)


def near_timing(variant: VariantReport) -> bool:
    """Whether the layers of a variant are of calls like those that were timed."""
    called, timing = called_us(variant), variant.timing
    if called <= 0:
        return False
    return (
        timing is None
        or _MAX_BREAKDOWN_RATIO > called / timing.median_us > 1 / _MAX_BREAKDOWN_RATIO
    )


def called_us(variant: VariantReport) -> float:
    """The time of the calls that were broken down, without a backward, as timings are."""
    return sum(layers.whole_us for layers in variant.layers if layers.direction != "backward")


def matches_timing(variant: VariantReport) -> bool:
    """Whether the breakdown is of calls that took as long as those that were timed."""
    timing, called = variant.timing, called_us(variant)
    if timing is None or called <= 0:
        return True
    return trusted(variant) and abs(called - timing.median_us) <= _SAME * timing.median_us


_SAME = 0.1
"""The allowed difference from the timed median: as for the sum of a call's layers."""
_MAX_BREAKDOWN_RATIO = 2.0
"""The largest allowed ratio of the calls that were broken down to the timed median."""


def _never(host: HostTime | None, otherwise: str) -> str:
    """The most that a C++ wrapper could save, if known; otherwise what to do."""
    if host is None or not host.with_launches:
        return otherwise
    if host.us <= 0:
        text = f"{_unmeasurable(host)}, and a C++ one saves no more than that."
    else:
        share = f"{of_whole(host.us, host.whole_us)} ({percent(host.us / host.whole_us)})"
        text = f"The Python wrapper and its launches are {share}: a C++ one can save no more."
    return f"{text} {otherwise}".rstrip()


def _host_sentence(host: HostTime, timing: Timing) -> str:
    """The host time of the Python wrapper, and if it is not of the calls that were timed."""
    if host.us <= 0:
        return f"{_unmeasurable(host)}."
    part = of_whole(host.us, host.whole_us)
    if abs(host.whole_us - timing.median_us) > _SAME * timing.median_us:
        return f"In the separate run of the breakdown, {host.subject} took {part}."
    verb = "take" if host.with_launches else "takes"
    return f"{host.subject[0].upper()}{host.subject[1:]} {verb} {part}."


def _unmeasurable(host: HostTime) -> str:
    """A clause on a host time that noise hides."""
    whole = duration(host.whole_us)
    return f"The time of {host.subject} is too short to be measured in a call of {whole}"


def _with_graphs(report: Report, cpp: VariantReport) -> VariantReport | None:
    """A variant with CUDA graphs that is faster than the C++ wrapper for certain."""
    for variant in report.variants:
        asked = variant.requested.mode in CUDA_GRAPH_MODES or variant.requested.options.get(
            "triton.cudagraphs"
        )
        off = any(
            setting.setting == CUDA_GRAPHS and setting.actual == "off"
            for setting in variant.effective
        )
        ratio = between(variant, cpp) if asked and not off and variant.target is None else None
        if ratio is not None and ratio.standing == "faster":
            return variant
    return None
