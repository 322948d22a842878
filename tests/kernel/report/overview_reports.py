"""Reports with made-up figures, for the tests of the Overview."""

from __future__ import annotations

import random
import statistics
from pathlib import Path

from compilescope.analysis.figures.intervals import median_interval, ratio
from compilescope.analysis.figures.speedups import speedup
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Compilation,
    CompileTime,
    Kernel,
    Layer,
    Layers,
    Report,
    Subject,
    Suggestion,
    Timing,
    VariantReport,
)
from compilescope.report.overview import Answer, Limit
from compilescope.report.variant import Variant

REPORTS = Path(__file__).parents[2] / "data" / "reports"
REQUESTED = {
    "eager": Variant(backend=None),
    "python": Variant(),
    "cpp": Variant(cpp_wrapper=True),
    "reduce-overhead": Variant(mode="reduce-overhead"),
    "cpp max-autotune": Variant(mode="max-autotune", cpp_wrapper=True),
    "cpp reduce-overhead": Variant(mode="reduce-overhead", cpp_wrapper=True),
}


def timings(spread: float, **medians: float) -> dict[str, Timing]:
    """Timings of calls in turns: the load of a round is shared, and each has some of its own."""
    chance = random.Random(7)
    load = [1 + abs(chance.gauss(0, 0.05)) for _ in range(64)]
    samples = {
        name: [us * item * chance.lognormvariate(0, spread) for item in load]
        for name, us in medians.items()
    }
    by_name = {}
    for name, taken in samples.items():
        timing = Timing(
            median_us=statistics.median(taken),
            interval_us=median_interval(taken),
            samples_us=taken,
            turns="a",
        )
        if name != "eager":
            result = ratio(samples["eager"], taken)
            timing.ratio, timing.ratio_interval, timing.differs = result
            timing.speedup = speedup(result, "eager")
        by_name[name] = timing
    return by_name


def make_report(spread: float = 0.01, **medians: float) -> Report:
    """A report of built variants with these medians, in µs."""
    timed = timings(spread, **medians)
    variants = [
        VariantReport(
            name=name,
            requested=REQUESTED[name],
            stage="built",
            timing=timing,
            compile_time=None if name == "eager" else CompileTime(total_s=10.0),
            compilations=[] if name == "eager" else [Compilation(id="0/0", kernels=[kernel()])],
        )
        for name, timing in timed.items()
    ]
    return Report(subject=Subject(id="s", name="f"), variants=variants)


def kernel() -> Kernel:
    return Kernel(name="k", language="cpp")


def look(report: Report, name: str, whole: float | None = None, **parts: float) -> None:
    """Gives a variant its layers, and the verdict that follows."""
    layers = [Layer(kind=kind, us=us) for kind, us in parts.items()]  # type: ignore[arg-type]
    total = sum(parts.values()) if whole is None else whole
    variant = report.variant(name)
    variant.layers = [Layers(whole_us=total, sum_us=total, layers=layers)]
    variant.verdict = verdict(variant, report)


def limit_of(report: Report) -> Limit:
    """What limits a call, by a report that says it."""
    limit = overview(report).limit
    assert limit is not None
    return limit


def wrapper_of(report: Report) -> Answer:
    """Whether the C++ wrapper is worth its compile time, by a report that says it."""
    answer = overview(report).wrapper
    assert answer is not None
    return answer


def suggestion_of(report: Report, begin: str) -> Suggestion:
    (suggestion,) = [item for item in overview(report).suggestions if item.what.startswith(begin)]
    return suggestion
