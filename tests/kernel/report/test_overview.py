"""The overview of reports with made-up figures: the result, the answers, what to change."""

from __future__ import annotations

import copy
import random
import re
import statistics
from pathlib import Path
from typing import Any, Literal

import compilescope as cs
import msgspec
import pytest
from compilescope.analysis.figures.intervals import Ratio, median_interval, ratio
from compilescope.analysis.figures.speedups import between, round_by_round, speedup
from compilescope.analysis.figures.wording import duration
from compilescope.analysis.graphs.repeated_blocks import repeated_blocks, written_path
from compilescope.analysis.overview.overview import overview
from compilescope.analysis.overview.verdict import verdict
from compilescope.analysis.overview.verdict_helps import UNGUARDED
from compilescope.analysis.target.estimates import estimate
from compilescope.comms import summaries
from compilescope.report import (
    Advice,
    Break,
    Compilation,
    CompileTime,
    DistinctBreak,
    Effective,
    Failure,
    Graph,
    Guard,
    Kernel,
    Layer,
    Layers,
    Node,
    OutputError,
    Problem,
    Recompile,
    Report,
    SourceLine,
    Speedup,
    Subject,
    Suggestion,
    Sweep,
    SweepCell,
    TargetReport,
    Timing,
    VariantReport,
    devices,
)
from compilescope.report.measurements.deployment import BLOCKS, NESTED, DeployWay
from compilescope.report.units import duration_range
from compilescope.report.variant import Variant
from compilescope.views.html import report as html
from compilescope.views.rows import sweep
from compilescope.views.text import report as text

REPORTS = Path(__file__).parents[2] / "data" / "reports"
H100 = next(one for one in devices.DEVICES if one.target == "h100")
REQUESTED = {
    "eager": Variant(backend=None),
    "python": Variant(),
    "cpp": Variant(cpp_wrapper=True),
    "reduce-overhead": Variant(mode="reduce-overhead"),
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


def test_the_fastest_variant_is_named_where_that_is_certain() -> None:
    report = make_report(eager=100.0, python=50.0, cpp=40.0)
    result = overview(report)
    assert re.fullmatch(
        r"C\+\+ wrapper is fastest: \d\d\.\d µs a call, 2\.\d\d× faster than eager\.",  # noqa: RUF001
        result.headline,
    )
    assert [item.variant for item in result.results if item.best] == ["cpp"]
    assert [item.variant for item in result.results] == ["eager", "python", "cpp"]
    assert all(
        item.interval_us[1] <= result.scale_us for item in result.results if item.interval_us
    )


def test_no_winner_is_named_between_equals() -> None:
    result = overview(make_report(eager=100.0, python=50.0, cpp=50.0))
    assert "show no difference" in result.headline
    equal = overview(make_report(eager=50.0, python=50.0))
    assert equal.headline == "No variant is measurably faster than eager."
    slower = overview(make_report(eager=50.0, python=80.0, cpp=90.0))
    assert slower.headline == "torch.compile makes this call slower: eager is fastest."
    assert slower.suggestions[0].what == "Do not compile this call, or compile more at once"
    # What is certain of the one is said, though nothing is of the other.
    part = make_report(eager=50.0, python=120.0, cpp=50.0)
    chance = random.Random(1)
    cpp, eager = part.variant("cpp").timing, part.variant("eager").timing
    assert cpp is not None
    assert eager is not None
    cpp.samples_us = [us * chance.choice((0.3, 3.0)) for us in cpp.samples_us]
    cpp.speedup = speedup(ratio(eager.samples_us, cpp.samples_us), "eager")
    assert cpp.speedup.standing == "noisy"
    timing = part.variant("python").timing
    assert timing is not None
    assert timing.speedup is not None
    assert overview(part).headline == (
        f"Python wrapper is {timing.speedup.text} than eager. Too noisy to judge the C++ wrapper."
    )


def test_what_cannot_be_compared_with_the_fastest_is_not_called_equal() -> None:
    # All far faster than eager, but the two wrappers' samples say nothing of each other.
    report = make_report(spread=1.0, eager=10_000.0, python=50.0, cpp=45.0)
    between_them = between(report.variant("python"), report.variant("cpp"))
    assert between_them is not None
    assert between_them.standing == "noisy"
    result = overview(report)
    assert "Too noisy to compare it with" in result.headline
    assert "no difference" not in result.headline


def test_equality_is_not_claimed_of_medians_that_are_apart() -> None:
    report = make_report(eager=660.0, python=112.0, cpp=83.0)
    chance = random.Random(3)
    # Interruptions that outlast many calls hit rounds of the one, and other rounds of the other.
    for name, part in (("python", 0.2), ("cpp", 0.4)):
        timing = report.variant(name).timing
        assert timing is not None
        timing.samples_us = [
            us * (chance.uniform(20, 40) if chance.random() < part else 1)
            for us in timing.samples_us * 10
        ]
        timing.median_us = statistics.median(timing.samples_us)
        timing.interval_us = median_interval(timing.samples_us)
    python, cpp = (report.variant(name).timing for name in ("python", "cpp"))
    assert python is not None
    assert cpp is not None
    assert cpp.interval_us[1] < python.interval_us[0]
    pair = between(report.variant("cpp"), report.variant("python"))
    assert pair is not None
    assert pair.interval is not None
    assert pair.interval[0] < 1 < pair.interval[1]
    result = overview(report)
    assert "Too noisy to compare it with the Python wrapper." in result.headline
    assert result.wrapper is not None
    assert result.wrapper.headline == "Too noisy to judge."
    assert round_by_round(pair, "the C++ one") in result.wrapper.text
    # The pair is neither faster nor slower for certain: nothing says that it is.
    assert "there is no significant difference (99 % interval: " in result.wrapper.text
    assert pair.detail.startswith("No significant difference from python; 99 % interval: ")


def test_an_inconclusive_estimate_is_named_only_where_its_interval_leaves_out_1() -> None:
    wide = speedup(Ratio(1.7, (1.1, 2.9), True), "python")
    assert wide.standing == "noisy"
    assert round_by_round(wide, "the C++ one") == (
        "Round by round, the C++ one is 1.70\u00d7 faster "
        "(99 % interval: 1.10\u00d7 faster to 2.90\u00d7 faster)."
    )


def test_what_is_too_noisy_is_not_judged() -> None:
    report = make_report(spread=3.0, eager=100.0, python=80.0, cpp=70.0)
    outcome = overview(report)
    assert outcome.headline.startswith("Too noisy to judge")
    assert {item.speedup.text for item in outcome.results if item.speedup} == {"too noisy to judge"}
    assert any(item.noisy for item in outcome.results)
    assert outcome.wrapper is not None
    assert outcome.wrapper.headline == "Too noisy to judge."
    assert not any(item.best for item in outcome.results)
    # The cell shows what the panel does: the interval, and no median as if it were known.
    noisy = [result for result in outcome.results if result.noisy and result.interval_us]
    assert noisy
    cells = re.findall(r"<td[^>]*>(?:<span[^>]*>)?(?:<b>)?([^<]*)", report._repr_html_())
    for result in noisy:
        assert result.latency == duration_range(*result.interval_us)
        assert result.latency in cells
        assert result.latency_us is not None
        assert duration(result.latency_us) not in cells


def test_few_samples_have_no_interval() -> None:
    report = make_report(eager=100.0, python=80.0)
    timing = report.variant("python").timing
    assert timing is not None
    timing.samples_us, timing.few = timing.samples_us[:4], True
    timing.interval_us = median_interval(timing.samples_us)
    seen = f"4 samples: min\u2013max {duration_range(*timing.interval_us)}"
    eager, python = overview(report).results
    assert (eager.few, eager.interval_title) == (False, "95 % interval")
    assert (python.few, python.interval) == (True, seen)
    assert seen in report._repr_html_()
    assert seen in str(report)
    summary = summaries.report(report, 1)
    assert [variant.interval_us is None for variant in summary.variants] == [False, True]


@pytest.mark.parametrize(
    ("value", "interval", "differs", "standing", "expected"),
    [
        (2.0, (1.9, 2.1), True, "faster", "2.00× faster"),  # noqa: RUF001
        (0.5, (0.48, 0.52), True, "slower", "2.00× slower"),  # noqa: RUF001
        (1.01, (0.98, 1.04), False, "same", "no difference"),
        (1.3, (0.97, 1.46), False, "noisy", "too noisy to judge"),
        (0.77, (0.69, 1.03), False, "noisy", "too noisy to judge"),
        (1.88, (1.0, 28.65), True, "noisy", "too noisy to judge"),
        (9.0, (3.0, 30.0), True, "faster", "at least 3.00× faster"),  # noqa: RUF001
        (0.1, (0.03, 0.4), True, "slower", "at least 2.50× slower"),  # noqa: RUF001
        (2.0, (1.9, 2.1), None, "few", "too few rounds"),
    ],
)
def test_a_ratio_is_told_as_far_as_its_interval_allows(
    value: float, interval: tuple[float, float], differs: bool | None, standing: str, expected: str
) -> None:
    from compilescope.analysis.figures.intervals import Ratio

    result = speedup(Ratio(value, interval, differs), "eager")
    assert (result.standing, result.text) == (standing, expected)
    assert ("interval: " in result.detail) == (standing != "few")


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (1, "Each was measured once: one sample has no interval."),
        (3, "3 rounds are too few for an interval."),
    ],
)
def test_few_rounds_give_no_interval_of_the_wrappers_ratio(rounds: int, expected: str) -> None:
    report = make_report(eager=100.0, python=80.0, cpp=70.0)
    for name in ("python", "cpp"):
        timing = report.variant(name).timing
        assert timing is not None
        timing.samples_us, timing.few = timing.samples_us[:rounds], True
        timing.interval_us = median_interval(timing.samples_us)
    answer = overview(report).wrapper
    assert answer is not None
    assert answer.headline == "Too few rounds."
    assert expected in answer.text
    assert "99 %" not in answer.text
    pair = between(report.variant("cpp"), report.variant("python"))
    assert pair is not None
    assert pair.detail.endswith("; too few rounds to tell")


def test_two_variants_are_compared_by_their_common_rounds() -> None:
    report = make_report(eager=100.0, python=50.0, cpp=40.0)
    python, cpp = report.variant("python"), report.variant("cpp")
    result = between(cpp, python)
    assert result is not None
    assert result.ratio == pytest.approx(1.25, rel=0.02)
    assert python.timing is not None
    # Joined three rounds later: the rounds that it missed are left out of both.
    python.timing.samples_us, python.timing.first_round = python.timing.samples_us[3:], 3
    later = between(cpp, python)
    assert later is not None
    assert later.ratio == pytest.approx(result.ratio, rel=0.01)
    python.timing.turns = "another"
    apart = between(cpp, python)
    assert apart is not None
    assert apart.interval is not None
    assert result.interval is not None
    assert apart.interval[0] < result.interval[0] < result.interval[1] < apart.interval[1]


def test_the_wrapper_is_worth_what_it_saves() -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    report.variant("cpp").compile_time = CompileTime(total_s=50.0)
    look(report, "python", wrapper=900.0, kernels=400.0, launches=700.0)
    answer = overview(report).wrapper
    assert answer is not None
    assert answer.headline.startswith("Yes: ")
    assert re.search(r"It saves \S+ ms per call|It saves .* of .* per call \(\d\d %\)", answer.text)
    assert "The Python wrapper takes 900 µs of 2.00 ms." in answer.text
    assert re.search(
        r"took 40\.0 s longer, each measured once, and pays off after about \d\d,000 calls",
        answer.text,
    )


def test_a_saving_of_a_few_percent_is_marginal() -> None:
    answer = overview(make_report(eager=5000.0, python=2000.0, cpp=1940.0)).wrapper
    assert answer is not None
    assert answer.headline.startswith("Marginal: 1.03")


def test_wrappers_are_compared_where_both_were_tried() -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    written = make_report(eager=5000.0, python=2100.0).variant("python")
    written.name, written.requested = "as written", Variant(dynamic=True)
    report.variants.insert(0, written)
    answer = overview(report).wrapper
    assert answer is not None
    assert answer.headline.startswith("Yes: ")
    assert "These are python and cpp; as written was tried with one wrapper." in answer.text


def test_the_wrapper_that_is_little_of_a_call_cannot_help() -> None:
    report = make_report(eager=100.0, python=78.0, cpp=78.0)
    look(report, "python", wrapper=3.5, kernels=74.5)
    answer = overview(report).wrapper
    assert answer is not None
    assert answer.headline == "No: there is too little of it."
    assert "3.50 of 78.0 µs" in answer.text
    alone = make_report(eager=100.0, python=78.0)
    look(alone, "python", guards=70.0, wrapper=3.5, kernels=4.5)
    result = overview(alone)
    answer = result.wrapper
    assert answer is not None
    assert answer.headline == "It cannot help."
    assert answer.requested is None
    # Nor is it suggested.
    assert "C++ wrapper" not in [suggestion.what for suggestion in result.suggestions]
    assert "can save no more than that" in answer.text


def test_cuda_graphs_make_it_needless() -> None:
    report = make_report(
        **{"eager": 5000.0, "python": 2000.0, "cpp": 1000.0, "reduce-overhead": 300.0}
    )
    result = overview(report)
    assert result.wrapper is not None
    assert result.wrapper.headline == "Only where CUDA graphs cannot be used."
    first, second = result.suggestions[:2]
    assert (first.what, first.variant, first.basis) == (
        'Use mode="reduce-overhead"',
        "reduce-overhead",
        "measured",
    )
    assert second.variant == "cpp"
    assert first.code == "compiled = torch.compile(fn, mode='reduce-overhead')"


@pytest.mark.parametrize(
    ("parts", "bound", "headline"),
    [
        ({"guards": 20.0, "wrapper": 5.0, "launches": 5.0, "kernels": 10.0}, "overhead", "25 %"),
        ({"guards": 5.0, "wrapper": 5.0, "launches": 25.0, "kernels": 5.0}, "launch", "12 %"),
        ({"guards": 1.0, "wrapper": 1.0, "launches": 2.0, "kernels": 36.0}, "unclear", "90 %"),
    ],
)
def test_what_limits_a_call(parts: dict[str, float], bound: str, headline: str) -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", **parts)
    limit = overview(report).limit
    assert limit is not None
    assert (limit.bound, limit.basis) == (bound, "measured")
    verdict = report.variant("python").verdict
    assert verdict is not None
    assert verdict.limited_by == bound
    assert headline in limit.headline
    assert sum(part.share for part in limit.parts) == pytest.approx(1)
    assert [part.kind for part in limit.parts][-1] == "kernels"


@pytest.mark.parametrize(("whole", "kernels"), [(40.0, "90 %"), (37.0, "97 %"), (35.0, "97 %")])
def test_bar_headline_and_evidence_have_the_same_shares(whole: float, kernels: str) -> None:
    """Layers are timed one by one: they add up to a little less or more than the call."""
    report = make_report(eager=60.0, python=whole)
    look(report, "python", whole, guards=1.0, kernels=36.0)
    limit = overview(report).limit
    assert limit is not None
    shares = {part.kind: part.text for part in limit.parts}
    assert shares["kernels"] == f"kernels {kernels}"
    assert sum(part.share for part in limit.parts) == pytest.approx(1)
    assert shares.get("other", "") == ("not attributed 8 %" if whole == 40 else "")
    assert limit.headline == f"Kernels take {kernels} of a call."
    assert limit.text.startswith(f"Kernels take {kernels} of ")


def test_a_breakdown_of_other_calls_than_those_timed_says_so() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=4.0, kernels=36.0)
    limit = overview(report).limit
    assert limit is not None
    assert limit.calls == ""
    look(report, "python", guards=4.0, kernels=28.0)
    limit = overview(report).limit
    assert limit is not None
    assert limit.parts
    assert re.fullmatch(
        r"Measured apart from the latency: of calls of 32\.0 µs, not \d\d\.\d µs\.", limit.calls
    )
    # The timed call is the forward; its backward may take any time.
    variant = report.variant("python")
    forward = Layers(
        direction="forward", whole_us=40.0, layers=[Layer(kind="compiled", us=40.0)], sum_us=40.0
    )
    backward = msgspec.structs.replace(forward, direction="backward", whole_us=90.0)
    variant.layers = [forward, backward]
    variant.verdict = verdict(variant, report)
    limit = overview(report).limit
    assert limit is not None
    assert limit.calls == "The parts are of a call of 40.0 µs and its backward of 90.0 µs."
    assert limit.basis == "measured"


def test_the_bar_of_a_gpu_shows_what_a_call_waits_for() -> None:
    report = make_report(eager=60.0, python=40.0)
    variant = report.variant("python")
    kernels = Layer(kind="kernels", us=10.0, device_us=36.0)
    layers = [Layer(kind="guards", us=30.0), kernels]
    variant.layers = [Layers(whole_us=40.0, sum_us=40.0, layers=layers, device="cuda")]
    variant.verdict = verdict(variant, report)
    limit = overview(report).limit
    assert limit is not None
    assert [part.text for part in limit.parts][-1] == "waiting for kernels 25 %"
    assert limit.headline == "Kernels take 90 % of a call."


def test_a_wrapper_that_is_timed_with_its_kernels_is_named_so() -> None:
    report = make_report(eager=60.0, cpp=40.0)
    look(report, "cpp", guards=4.0, compiled=36.0)
    limit = overview(report).limit
    assert limit is not None
    assert (limit.bound, limit.basis) == ("unclear", "measured")
    assert [part.text for part in limit.parts][-1] == "wrapper with its kernels 90 %"
    assert limit.headline == "The wrapper with its kernels takes 90 % of a call."
    look(report, "cpp", guards=30.0, compiled=10.0)
    limit = overview(report).limit
    assert limit is not None
    assert limit.headline == ("Overhead-bound: the wrapper and its kernels run for 25 % of a call.")
    assert "spent around the wrapper, which takes, with its kernels, 10.0 µs" in limit.text


def test_the_bar_and_the_sentence_have_one_figure_of_the_wrapper() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=28.0, inductor=4.0, wrapper=8.0, kernels=0.0)
    result = overview(report)
    assert result.limit is not None
    assert result.wrapper is not None
    shares = {part.kind: part.text for part in result.limit.parts}
    assert shares == {
        "guards": "Dynamo and guards 70 %",
        "aot": "runtime 10 %",
        "wrapper": "wrapper 20 %",
    }
    assert "8.00 of 40.0 µs (20 %)" in result.wrapper.text
    # The kernels' time was lost in the noise.
    assert result.limit.headline == "Overhead-bound: kernels run for under 1 % of a call."


def test_a_wrapper_that_noise_left_at_nothing_has_no_time() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=40.0)
    look(report, "python", wrapper=0.0, kernels=40.0)
    answer = overview(report).wrapper
    assert answer is not None
    assert "The Python wrapper takes too little of 40.0 µs to be measured." in answer.text
    report.variants.remove(report.variant("cpp"))
    answer = overview(report).wrapper
    assert answer is not None
    assert answer.headline == "It cannot help."
    assert "The Python wrapper is too little of 40.0 µs to be measured: a C++ one" in answer.text


def test_the_wrapper_that_was_not_tried_is_there_to_be_added() -> None:
    answer = overview(make_report(eager=60.0, python=40.0)).wrapper
    assert answer is not None
    assert (answer.headline, answer.requested) == ("Not tried yet.", Variant(cpp_wrapper=True))
    assert answer.text == "Only the Python wrapper is in the report."
    assert 'variants=("python", "cpp")' in answer.remedy
    answer = overview(make_report(eager=60.0, cpp=40.0)).wrapper
    assert answer is not None
    assert (answer.headline, answer.requested) == ("Not compared yet.", Variant())
    assert answer.text == "Only the C++ wrapper is in the report."
    assert answer.remedy.endswith("compares both.")
    both = overview(make_report(eager=60.0, python=40.0, cpp=30.0)).wrapper
    assert both is not None
    assert both.requested is None


def test_guards_are_filtered_only_where_modules_are_guarded() -> None:
    report = make_report(eager=60.0, python=40.0)
    (compilation,) = report.variant("python").compilations
    compilation.guards = [Guard(expression="check", type="TENSOR_MATCH", source="L['x']")]
    look(report, "python", guards=30.0, wrapper=5.0, kernels=5.0)
    assert "Fewer guards" not in [suggestion.what for suggestion in overview(report).suggestions]
    compilation.guards[0].source = "L['self']._modules['up']"
    look(report, "python", guards=30.0, wrapper=5.0, kernels=5.0)
    assert "Fewer guards" in [suggestion.what for suggestion in overview(report).suggestions]


def test_a_breakdown_of_other_calls_is_not_believed() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=4000.0, kernels=36_000.0)
    limit = overview(report).limit
    assert limit is not None
    assert (limit.bound, limit.parts) == ("unknown", [])
    assert "40.0 ms, against" in limit.text
    verdict = report.variant("python").verdict
    assert verdict is not None
    assert (verdict.limited_by, verdict.evidence, verdict.helps) == ("noisy", limit.text, [])


def test_what_was_not_measured_says_so() -> None:
    report = make_report(eager=60.0, python=40.0)
    result = overview(report)
    assert result.limit is not None
    assert (result.limit.headline, result.limit.basis) == ("Not measured yet.", "unknown")
    assert (result.limit.unbuilt, "cs.study(report" in result.limit.remedy) == (False, True)
    for variant in report.variants:
        variant.timing, variant.stage = None, "sources"
    # While the first variant is still on its way.
    started = Report(subject=report.subject, variants=[report.variant("eager")])
    assert overview(started).headline == "Nothing is compiled yet."
    result = overview(report)
    assert result.headline == "Code is generated; nothing is measured yet."
    assert result.results[1].why == "not measured yet"
    assert result.limit is not None
    assert (result.limit.text, result.limit.unbuilt) == ("The variant is not built.", True)


@pytest.mark.parametrize(
    ("timed", "there", "what"),
    [
        ((), ("python", "cpp"), "Both wrappers are generated, but not timed."),
        ((), ("python",), "The Python wrapper is generated, but not timed."),
        (("python",), ("python", "cpp"), "Only the Python wrapper is timed."),
    ],
)
def test_wrappers_that_are_not_timed_are_told_without_an_instruction(
    timed: tuple[str, ...], there: tuple[str, ...], what: str
) -> None:
    report = make_report(**dict.fromkeys(("eager", *there), 40.0))
    for name in there:
        if name not in timed:
            report.variant(name).timing = None
    answer = overview(report).wrapper
    assert answer is not None
    assert (answer.headline, answer.text, answer.unbuilt) == ("Not measured yet.", what, True)
    assert answer.remedy.startswith("cs.measure(report), in the session that inspected the call")


def test_a_failed_variant_says_why_and_is_not_compared() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=30.0)
    cpp = report.variant("cpp")
    cpp.stage, cpp.timing = "failed", None
    cpp.problems = [Problem(severity="error", what="No compiler.")]
    result = overview(report)
    assert result.headline.startswith("Python wrapper is fastest")
    assert (result.results[-1].state, result.results[-1].why) == ("failed", "No compiler.")
    assert result.wrapper is not None
    assert (result.wrapper.headline, result.wrapper.text) == (
        "It could not be built.",
        "No compiler.",
    )


def test_a_wrong_result_is_never_the_best() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=30.0)
    report.variant("cpp").accuracy = [
        OutputError(
            path="",
            dtype="float32",
            max_abs=1.0,
            max_rel=1.0,
            tolerance_abs=1e-5,
            tolerance_rel=1e-5,
            ok=False,
        )
    ]
    result = overview(report)
    assert result.headline.startswith("Python wrapper is fastest")
    assert not any(suggestion.variant == "cpp" for suggestion in result.suggestions)


def test_what_was_tried_in_vain_is_not_suggested() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=40.0)
    look(report, "python", guards=10.0, wrapper=20.0, kernels=10.0)
    whats = [suggestion.what for suggestion in overview(report).suggestions]
    assert "C++ wrapper" not in whats
    alone = make_report(eager=60.0, python=40.0)
    look(alone, "python", guards=10.0, wrapper=20.0, kernels=10.0)
    first = overview(alone).suggestions[0]
    assert first.what == "C++ wrapper"
    assert first.requested == Variant(cpp_wrapper=True)
    assert (first.gain, first.basis) == ("up to 20.0 µs (50 %) less per call", "estimated")


def test_settings_not_in_effect_are_counted_and_suggested() -> None:
    report = make_report(eager=60.0, python=40.0)
    report.variant("python").effective = [
        Effective(
            setting="max_autotune",
            requested="on",
            actual="off",
            why="Too few multiprocessors.",
            remedy="Set it by hand.",
            differs=True,
        )
    ]
    result = overview(report)
    counted = next(count for count in result.counts if count.view == "requested")
    assert (counted.text, counted.warning) == ("1 setting not in effect: max_autotune", True)
    assert "Set it by hand." in [count.what for count in result.suggestions]


def graph_of(blocks: int, *, odd: bool = False) -> Compilation:
    nodes = [Node(name="x", op="placeholder", target="x")]
    for index in range(blocks):
        path = f"transformer.h.{index}"
        nodes += [
            Node(name=f"n{index}", op="call_module", target="layer_norm", module=f"{path}.ln"),
            *(
                Node(name=f"m{index}_{at}", op="call_function", target="linear", module=path)
                for at in range(2)
            ),
            Node(
                name=f"a{index}",
                op="call_function",
                target="add" if not (odd and index % 2) else "mul",
                module=path,
                module_type="models.GPT2Block",
            ),
        ]
    return Compilation(id="0/0", graphs={"dynamo": Graph(stage="dynamo", text="", nodes=nodes)})


def test_equal_blocks_are_found_and_counted() -> None:
    blocks = repeated_blocks(graph_of(12))
    assert blocks == ("transformer.h", "GPT2Block", 12, 1.0, False)
    assert repeated_blocks(graph_of(3)) is None
    # Layers one by one would be calls of their own, each for next to no work.
    layers = graph_of(12)
    layers.graphs["dynamo"].nodes = [
        node for node in layers.graphs["dynamo"].nodes if node.target in ("x", "layer_norm")
    ]
    assert repeated_blocks(layers) is None
    half = repeated_blocks(graph_of(12, odd=True))
    assert half is not None
    assert (half.number, half.share) == (6, 0.5)


def test_equal_blocks_are_suggested_with_what_they_save() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    report.subject.kind = "module"
    suggestion = overview(report).suggestions[-1]
    block = "GPT2Block × 12 in model.transformer.h"  # noqa: RUF001
    assert suggestion.what == f"Compile the repeated block once: {block}"
    assert (suggestion.gain, suggestion.basis) == ("first call 12.0 s → about 1.00 s", "estimated")
    assert suggestion.code == "for block in model.transformer.h:\n    block.compile()"
    assert (suggestion.study, suggestion.of) == ("blocks", "python")
    # A function's modules are named as its variables are, and no process can compile them.
    report.subject.kind = "function"
    suggestion = overview(report).suggestions[-1]
    assert suggestion.study == ""
    assert suggestion.code == "for block in transformer.h:\n    block.compile()"
    for node in python.compilations[0].graphs["dynamo"].nodes:
        node.module_type = (
            node.module_type and "torch.nn.modules.transformer.TransformerEncoderLayer"
        )
    suggestion = overview(report).suggestions[-1]
    assert "block.forward = torch.compile(block.forward)" in suggestion.code


def test_blocks_that_were_tried_have_the_measured_gain() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    report.subject.kind = "module"
    over = speedup(Ratio(1.5, (1.4, 1.6), True), "eager")
    blocks = DeployWay(name=BLOCKS, cold_s=2.0, accurate=True, speedup=over)
    nested = DeployWay(name=NESTED, cold_s=3.0, accurate=True, code="nested")
    python.ways = [blocks, nested]
    suggestion = overview(report).suggestions[-1]
    assert suggestion.gain == "first call 12.0 s → 2.00 s, then 1.50× faster than eager"  # noqa: RUF001
    assert (suggestion.basis, suggestion.study, suggestion.view) == ("measured", "", "sweep")
    assert suggestion.code.startswith("for block in ")
    nested.cold_s = 1.0
    suggestion = overview(report).suggestions[-1]
    assert (suggestion.gain, suggestion.code) == ("first call 12.0 s → 1.00 s", "nested")


@pytest.mark.parametrize(
    ("change", "gain", "basis"),
    [
        (
            {"cold_s": 11.9},
            "no gain: first call 12.0 s → 11.9 s, then 1.50× faster than eager",  # noqa: RUF001
            "measured",
        ),
        ({"accurate": False}, "failed: the results differ from eager's", "unknown"),
        (
            {"cold_s": None, "problem": Problem(severity="warning", what="It was killed.")},
            "failed: It was killed.",
            "unknown",
        ),
        ({"cold_s": None, "why": "No list."}, "failed: No list.", "unknown"),
    ],
)
def test_blocks_that_were_tried_in_vain_stay_with_what_came_of_it(
    change: dict[str, Any], gain: str, basis: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    over = speedup(Ratio(1.5, (1.4, 1.6), True), "eager")
    blocks = DeployWay(name=BLOCKS, cold_s=2.0, accurate=True, speedup=over)
    python.ways = [msgspec.structs.replace(blocks, **change)]
    # Even where five others promise more.
    python.breaks = [
        DistinctBreak(cause=Break(reason=f"Call {line}", where=SourceLine(file="cell", line=line)))
        for line in range(5)
    ]
    suggestion = overview(report).suggestions[-1]
    assert suggestion.what.startswith("Compile the repeated block once")
    assert (suggestion.gain, suggestion.basis, suggestion.code) == (gain, basis, "")
    assert suggestion.study == ("" if basis == "measured" else "blocks")


def test_blocks_whose_trial_could_not_start_say_why() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    python.problems = [
        Problem(severity="warning", what="The study of blocks failed.", why="It is a lambda.")
    ]
    suggestion = overview(report).suggestions[-1]
    assert (suggestion.gain, suggestion.study) == ("failed: It is a lambda.", "blocks")


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("print(x)", "if not torch.compiler.is_compiling():\n    print(x)"),
        ("logger.info('%s', x)", "if not torch.compiler.is_compiling():\n    logger.info('%s', x)"),
        ("y = print(x)", ""),
        ("torch._dynamo.graph_break()", ""),
        ("x.append(1)", ""),
        ("for x in y:", ""),
    ],
)
def test_output_that_breaks_the_graph_is_left_out_where_it_is_compiled(
    line: str, mended: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    where = SourceLine(file="cell", line=3, code=f"    {line}")
    cause = Break(reason="Call", where=where)
    report.variant("python").breaks = [DistinctBreak(cause=cause)]
    (suggestion,) = overview(report).suggestions
    assert suggestion.code == mended
    assert ("no variant can try it" in suggestion.place) == bool(mended)


@pytest.mark.parametrize(
    ("variable", "arguments", "written"),
    [
        ("L_self_modules_transformer", ["x: float32[4]"], "model.transformer.h"),
        # ``def forward(transformer, x)``: the object need not be called self.
        ("L_transformer", ["x: float32[4]"], "model.h"),
        ("L_transformer", ["transformer: Transformer"], "transformer.h"),
        ("G_transformer", ["x: float32[4]"], "transformer.h"),
    ],
)
def test_blocks_are_named_as_the_caller_knows_them(
    variable: str, arguments: list[str], written: str
) -> None:
    compilation = graph_of(12)
    compilation.graphs["dynamo"].nodes[0].target = f"{variable}_modules_h_modules_0_weight_"
    subject = Subject(id="s", name="Net", kind="module", arguments=arguments)
    assert written_path("transformer.h", compilation, subject) == written


@pytest.mark.parametrize(
    ("kind", "code", "written"),
    [
        ("module", "gpt(ids)", "gpt.transformer.h"),
        ("module", "logits = trainer.net(ids)", "trainer.net.transformer.h"),
        ("method", "gpt.generate(ids)", "gpt.transformer.h"),
        ("module", "report = cs.inspect(gpt, (ids,))", "gpt.transformer.h"),
        ("method", "inspect(gpt.generate, (ids,))", "gpt.transformer.h"),
        ("module", "make(2)(ids)", "model.transformer.h"),
        ("module", "for x in xs: gpt(x)", "model.transformer.h"),
    ],
)
def test_the_model_has_the_name_that_its_call_has(
    kind: Literal["module", "method"], code: str, written: str
) -> None:
    call = SourceLine(file="cell", line=2, code=code)
    subject = Subject(id="s", name="GPT", kind=kind, call=call)
    assert written_path("transformer.h", graph_of(12), subject) == written


def targeted(kernels_us: float) -> Report:
    """A report with an estimate for a GPU that is not there, beside measurements."""
    report = make_report(eager=60.0, python=40.0)
    result = estimate([], H100)
    result.kernels_us, result.launch_us, result.launches = kernels_us, 11.0, 1
    result.call_us = max(result.kernels_us, result.launch_us)
    report.variants.append(
        VariantReport(
            name="h100",
            requested=Variant(target="h100"),
            target=TargetReport(name="h100", device=H100, estimate=result),
        )
    )
    return report


def test_an_estimate_stands_apart_and_is_no_less_than_a_launch() -> None:
    result = overview(targeted(0.0003))
    assert [item.variant for item in result.results] == ["eager", "python"]
    (target,) = result.targets
    assert (target.device, target.call_us) == ("H100 SXM", 11.0)
    assert target.text == "about 11.0 µs per call, limited by launches"
    assert overview(targeted(500.0)).targets[0].call_us == 500.0
    only = targeted(0.0003)
    only.variants = only.variants[-1:]
    assert overview(only).headline == (
        "Estimated for H100 SXM, not measured: about 11.0 µs per call, limited by launches."
    )


def test_all_surfaces_show_the_same_figure_of_a_pair() -> None:
    """The sidebar, the overview, the cell, the terminal, the sweep and the suggestions."""
    report = make_report(eager=100.0, python=50.0, cpp=40.0)
    look(report, "python", guards=10.0, wrapper=30.0, kernels=10.0)
    cpp = report.variant("cpp")
    result = between(cpp, report.variants[0])
    assert result is not None
    speedup_text = result.text
    assert speedup_text.endswith("faster")
    cell = SweepCell(key="k", name="cpp", shape="", variant=cpp.requested, timing=cpp.timing)
    report.sweep = Sweep(id="s", cells=[cell])
    summary = summaries.report(report, 1)
    shown = {variant.name: variant.speedup for variant in summary.variants}
    assert isinstance(shown["cpp"], Speedup)
    assert shown["cpp"].text == speedup_text
    assert summary.overview is not None
    assert speedup_text in summary.overview.headline
    assert summary.overview.results[2].speedup == result
    row = next(line for line in text.render(report).splitlines() if line.startswith("cpp "))
    assert speedup_text in row
    assert html.render(report).count(speedup_text) >= 2
    assert speedup_text in html.render(report, full=True)
    assert speedup_text in sweep.rows(report.sweep)[0]
    # The other pair, of both wrappers, has one figure as well.
    both = between(cpp, report.variant("python"))
    assert both is not None
    (first, *_) = summary.overview.suggestions
    assert first.gain.startswith(both.text)
    assert summary.overview.wrapper is not None
    assert both.text in summary.overview.wrapper.headline
    helps = report.variant("python").verdict
    assert helps is not None
    assert helps.helps[0].speedup == both


def test_it_is_in_what_is_saved_and_follows_the_report() -> None:
    report = make_report(eager=100.0, python=50.0)
    data = msgspec.json.decode(report.to_json(), type=Report)
    assert data.overview == overview(report)
    report.variants = report.variants[:1]
    assert msgspec.json.decode(report.to_json(), type=Report).overview != data.overview


def test_what_is_watched_is_counted() -> None:
    report = make_report(eager=100.0, python=50.0)
    report.subject.kind = "watch"
    result = overview(report)
    assert result.headline == "1 compilation: 0 recompiles and 0 graph breaks."
    assert (result.results, result.wrapper, result.limit) == ([], None, None)


def test_recompiles_of_the_cell_itself_are_counted_and_lead_to_what_avoids_them() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    (count,) = [each for each in overview(report).counts if each.view == "recompiles"]
    assert (count.text, count.of) == ("3 recompiles in the cell", "in the cell")
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert size.what == "Avoid recompile 0/1: x.size(0) 8 → 12"
    assert (size.code, size.of) == ("torch._dynamo.mark_dynamic(batch, 0)", "in the cell")


def test_what_the_cell_compiled_counts_until_its_call_is_compiled() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    report.variants = [report.variant("in the cell")]
    waiting = overview(report)
    assert waiting.headline.startswith("4 compilations: 3 recompiles and 0 graph breaks")
    assert [each.text for each in waiting.counts if each.warning] == ["3 recompiles"]


def test_a_change_for_a_target_has_the_estimate_of_the_variant_that_has_it() -> None:
    report = cs.load(REPORTS / "targets.compilescope.json")
    (cpp,) = [each for each in overview(report).suggestions if each.what == "C++ wrapper"]
    assert (cpp.gain, cpp.basis) == ("not estimated", "unknown")
    tried = copy.deepcopy(report.variant("python on h100"))
    tried.name = "cpp on h100"
    tried.requested = Variant(cpp_wrapper=True, target="h100")
    assert tried.target is not None
    assert tried.target.estimate is not None
    tried.target.estimate.call_us = 16.0
    report.variants.append(tried)
    found = overview(report)
    (cpp,) = [each for each in found.suggestions if each.what == "C++ wrapper"]
    assert cpp.gain == "about 16.0 µs instead of 22.0 µs per call"
    assert (cpp.basis, cpp.variant) == ("estimated", "cpp on h100")
    assert [each.title for each in found.targets] == [
        "Python wrapper on H100 SXM",
        "Python wrapper on Instinct MI300X",
        "C++ wrapper on H100 SXM",
    ]
    tried.target.estimate.call_us = 23.0
    assert "C++ wrapper" not in [each.what for each in overview(report).suggestions]


def suggestion_of(report: Report, begin: str) -> Suggestion:
    (suggestion,) = [item for item in overview(report).suggestions if item.what.startswith(begin)]
    return suggestion


SLOW = {"guards": 20.0, "wrapper": 5.0, "launches": 5.0, "kernels": 10.0}


@pytest.mark.parametrize(
    ("begin", "requested"),
    [
        ("C++ wrapper", Variant(cpp_wrapper=True)),
        ("CUDA graphs", Variant(mode="reduce-overhead")),
        ("Fewer, larger kernels", Variant(options={"combo_kernels": True})),
        ("Fewer guards", Variant(options=UNGUARDED)),
    ],
)
def test_a_suggestion_that_is_a_setting_can_be_tried(begin: str, requested: Variant) -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", **SLOW)
    python = report.variant("python")
    python.layers[0].device = "cuda:0"
    python.verdict = verdict(python, report)
    assert suggestion_of(report, begin).requested == requested
    # Its code is in the report, and not measured yet: it is there to be looked at.
    report.variants.append(VariantReport(name="tried", requested=requested))
    tried = suggestion_of(report, begin)
    assert (tried.requested, tried.variant) == (None, "tried")
    report.variants[-1].stage = "failed"
    assert begin not in [suggestion.what for suggestion in overview(report).suggestions]


def test_a_size_that_changes_can_be_tried_as_a_symbol() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    number = suggestion_of(report, "Avoid recompile 0/2")
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert (size.requested, size.trial) == (Variant(dynamic=True), "dynamic=True")
    assert (size.code, size.place) == (
        "torch._dynamo.mark_dynamic(batch, 0)",
        "before the call (cell:4)",
    )
    assert (size.view, size.compilation, size.of) == ("recompiles", "0/1", "in the cell")
    # A tensor in place of a number is a change of the code.
    assert number.requested is None
    assert (number.code, number.place) == (
        "rate = torch.tensor(rate)",
        "before the call (cell:4)",
    )
    report.variants.append(VariantReport(name="dynamic", requested=Variant(dynamic=True)))
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert (size.requested, size.variant) == (None, "dynamic")
    # That it failed leaves the advice as it is.
    report.variants[-1].stage = "failed"
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert (size.requested, size.variant, size.view) == (None, "", "recompiles")


def test_recompiles_on_both_sides_of_a_graph_break_are_one_suggestion() -> None:
    def again(compilation: str, function: str, source: str, code: str) -> Compilation:
        where = SourceLine(file="cell", line=1, function=function)
        advice = Advice(kind="dynamic", what="Symbols.", code=code, where=where)
        failure = Failure(
            guard="g", kind="size", source=source, dimension=0, old="8", new="9", compilation="0/0"
        )
        recompile = Recompile(reasons=[], failures=[failure], advice=[advice])
        return Compilation(id=compilation, duration_s=2.0, recompile=recompile)

    report = make_report(eager=60.0, python=40.0)
    report.variant("python").compilations += [
        again("0/1", "step", "L['x']", "compiled = torch.compile(step, dynamic=True)"),
        again(
            "1/1",
            "torch_dynamo_resume_in_step_at_4",
            "L['y']",
            "step = torch.compile(step, dynamic=True)",
        ),
    ]
    suggestion = suggestion_of(report, "Avoid")
    assert suggestion.what == "Avoid 2 recompiles: x.size(0) 8 → 9"
    assert suggestion.code == "compiled = torch.compile(step, dynamic=True)"
    assert suggestion.place == "in place of the torch.compile of step"
    assert suggestion.gain == "saves 4.00 s of compile time"


def test_a_break_that_a_setting_of_dynamo_ends_has_it_to_copy() -> None:
    report = cs.load(REPORTS / "breaks.compilescope.json")
    item = suggestion_of(report, "Fix the graph break at line 23")
    assert item.code == "torch._dynamo.config.capture_scalar_outputs = True"
    assert item.place == "before the first call, and run the cell again"
    branch = suggestion_of(report, "Fix the graph break at line 17")
    assert (branch.code, branch.requested, branch.view) == ("", None, "breaks")


@pytest.mark.parametrize(
    ("effective", "requested", "code", "place"),
    [
        (
            Effective(
                setting="fusions",
                requested="bias_addmm",
                actual="off",
                differs=True,
                remedy="Compare with the Python wrapper.",
                trial=Variant(dynamic=False),
            ),
            Variant(dynamic=False),
            "compiled = torch.compile(fn, dynamic=False)",
            "",
        ),
        (
            Effective(
                setting="freezing",
                requested="on",
                actual="off",
                differs=True,
                remedy="Set torch._inductor.config.freezing = True.",
                code="torch._inductor.config.freezing = True",
            ),
            None,
            "torch._inductor.config.freezing = True",
            "before the first call, and run the cell again",
        ),
    ],
)
def test_a_setting_not_in_effect_is_tried_or_copied(
    effective: Effective, requested: Variant | None, code: str, place: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    report.variant("python").effective = [effective]
    suggestion = suggestion_of(report, effective.remedy)
    assert (suggestion.requested, suggestion.code, suggestion.place) == (requested, code, place)


def test_what_no_button_can_try_says_where_its_code_belongs() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", **SLOW)
    assert suggestion_of(report, "Larger batch").place
    for name in ("recompiles", "breaks"):
        for suggestion in overview(cs.load(REPORTS / f"{name}.compilescope.json")).suggestions:
            assert suggestion.requested or suggestion.variant or suggestion.view, suggestion.what
            assert (
                suggestion.requested
                or suggestion.variant
                or suggestion.place
                or not suggestion.code
            ), suggestion.what
