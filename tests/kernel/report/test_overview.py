"""The result of the Overview and its counts, of reports with made-up figures."""

from __future__ import annotations

import copy
import random
import re
import statistics

import msgspec
import pytest
from compilescope.analysis.figures.intervals import Ratio, median_interval, ratio
from compilescope.analysis.figures.speedups import between, round_by_round, speedup
from compilescope.analysis.figures.wording import duration
from compilescope.analysis.overview.overview import overview
from compilescope.comms import report_without_texts
from compilescope.report import (
    OutputError,
    Problem,
    Report,
    Speedup,
    Sweep,
    SweepCell,
    Timing,
)
from compilescope.report.units import duration_range
from compilescope.views.html import report as html
from compilescope.views.rows import sweep
from compilescope.views.text import report as text

from .overview_reports import look, make_report, wrapper_of


def test_the_fastest_variant_is_named_where_that_is_certain() -> None:
    report = make_report(eager=100.0, python=50.0, cpp=40.0)
    result = overview(report)
    assert re.fullmatch(
        r"The C\+\+ wrapper is fastest: \d\d\.\d µs a call, 2\.\d\d× faster than eager\.",  # noqa: RUF001
        result.headline,
    )
    assert [item.variant for item in result.results if item.best] == ["cpp"]
    assert [item.variant for item in result.results] == ["eager", "python", "cpp"]
    assert all(
        item.interval_us[1] <= result.scale_us for item in result.results if item.interval_us
    )


@pytest.mark.parametrize(
    ("processors", "threads", "allowed", "too_much"),
    [(2, 1, 1.15, 1.3), (2, 2, 0.15, 0.3), (4, 3, 1.3, 1.5), (32, 32, 0.4, 0.6)],
)
def test_a_busy_machine_is_said_with_the_result(
    processors: int, threads: int, allowed: float, too_much: float
) -> None:
    report = make_report(eager=100.0, python=50.0)
    for variant in report.variants:
        assert variant.timing is not None
        variant.timing.processors, variant.timing.threads = processors, threads
        variant.timing.other_processors = allowed
    assert overview(report).load == ""
    for variant in report.variants:
        assert variant.timing is not None
        variant.timing.other_processors = too_much
    result = overview(report)
    assert result.load.startswith(f"Other processes used {too_much} of {processors} processors")
    assert result.load in html.render(report)
    assert result.load in " ".join(text.render(report, width=80).split())


def test_latencies_that_had_not_settled_are_named_with_the_result() -> None:
    report = make_report(eager=100.0, python=50.0, cpp=40.0)
    for name in ("eager", "cpp"):
        timing = report.variant(name).timing
        assert timing is not None
        timing.settled = False
    result = overview(report)
    assert result.load.startswith("Latencies of eager and the C++ wrapper had not settled")
    assert result.load in " ".join(text.render(report, width=80).split())


def test_a_difference_below_five_percent_is_no_loss_and_a_marginal_gain() -> None:
    for eager, python, begins in [
        (50.0, 51.0, "torch.compile brings no gain. The Python wrapper is 1.02\u00d7 slower than "),
        (51.0, 50.0, "The Python wrapper is fastest, but the gain is marginal: "),
    ]:
        result = overview(make_report(spread=0.001, eager=eager, python=python))
        assert result.headline.startswith(begins), result.headline
    both = overview(make_report(spread=0.001, eager=50.0, python=51.0, cpp=80.0))
    assert both.headline.startswith(
        "torch.compile brings no gain. The Python wrapper, the fastest, is "
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
        f"The Python wrapper is {timing.speedup.text} than eager. "
        "Too noisy to judge the C++ wrapper."
    )
    again = copy.deepcopy(part.variant("python"))
    again.name = "again"
    part.variants.append(again)
    assert overview(part).headline == (
        "2 variants are slower than eager. Too noisy to judge the C++ wrapper."
    )


def test_what_cannot_be_compared_with_the_fastest_is_not_called_equal() -> None:
    # All far faster than eager, but the two wrappers' samples say nothing of each other.
    report = make_report(spread=1.0, eager=10_000.0, python=50.0, cpp=45.0)
    between_them = between(report.variant("python"), report.variant("cpp"))
    assert between_them is not None
    assert between_them.standing == "noisy"
    result = overview(report)
    assert result.headline == (
        "The Python wrapper is at least 77\u00d7 faster than eager, the C++ wrapper at least "
        "68\u00d7 faster. Too noisy to tell which of them is faster."
    )


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
    assert result.headline.endswith("Too noisy to tell which of them is faster.")
    assert result.wrapper is not None
    assert result.wrapper.headline == "Too noisy to judge."
    # What decides it is offered, though both are compared with eager.
    assert result.longer_s == 10
    assert "cs.measure(report, seconds=10)" in result.longer
    assert round_by_round(pair, "the C++ one") in result.wrapper.text
    # The pair is neither faster nor slower for certain, nor equal: nothing says that it is.
    assert "either may be faster (99 % interval: " in result.wrapper.text
    assert pair.detail.startswith("Too noisy to compare with python; 99 % interval: ")


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
        assert result.latency.replace(" ", "\u00a0") in cells
        assert result.latency_us is not None
        assert duration(result.latency_us) not in cells


def test_few_samples_have_no_interval() -> None:
    report = make_report(eager=100.0, python=80.0)
    variant = report.variant("python")
    assert variant.timing is not None
    samples = variant.timing.samples_us[:4]
    timing = Timing(statistics.median(samples), median_interval(samples), samples)
    variant.timing = timing
    seen = f"4 samples: min\u2013max {duration_range(*timing.interval_us)}"
    eager, python = overview(report).results
    assert (eager.few, eager.interval_title) == (False, "95 % interval")
    assert (python.few, python.interval) == (True, seen)
    assert seen in report._repr_html_()
    assert seen in str(report)
    summary = report_without_texts.report(report, 1)
    assert [variant.interval_us is None for variant in summary.variants] == [False, True]


def test_a_range_in_place_of_the_median_is_drawn_as_such_and_fits_the_axis() -> None:
    report = make_report(eager=100.0, python=80.0)
    for variant, samples in zip(report.variants, ([90.0, 400.0], [50.0, 900.0]), strict=True):
        timing = Timing(statistics.median(samples), median_interval(samples), samples)
        timing.few = True
        variant.timing = timing
    result = overview(report)
    assert [item.latency for item in result.results] == ["90.0\u2013400 µs", "50.0\u2013900 µs"]
    assert result.scale_us == 900.0
    assert result.axis == "0 \u2013 900 µs, 2 samples: min\u2013max"
    assert "margin-left:10%;width:34%;" in report._repr_html_()


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
        (3, "3 rounds are too few to compare them."),
    ],
)
def test_few_rounds_give_no_interval_of_the_wrappers_ratio(rounds: int, expected: str) -> None:
    report = make_report(eager=100.0, python=80.0, cpp=70.0)
    for name in ("python", "cpp"):
        timing = report.variant(name).timing
        assert timing is not None
        timing.samples_us, timing.few = timing.samples_us[:rounds], True
        timing.interval_us = median_interval(timing.samples_us)
    answer = wrapper_of(report)
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


def test_a_failed_variant_says_why_and_is_not_compared() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=30.0)
    cpp = report.variant("cpp")
    cpp.stage, cpp.timing = "failed", None
    cpp.problems = [Problem(severity="error", what="No compiler.")]
    result = overview(report)
    assert result.headline.startswith("The Python wrapper is fastest")
    assert (result.results[-1].state, result.results[-1].why) == ("failed", "No compiler.")
    assert result.wrapper is not None
    assert (result.wrapper.headline, result.wrapper.text) == (
        "It could not be built.",
        "No compiler.",
    )


WRONG = OutputError(
    path="",
    dtype="float32",
    max_abs=1.0,
    max_rel=1.0,
    tolerance_abs=1e-5,
    tolerance_rel=1e-5,
    ok=False,
)


def test_a_wrong_result_is_never_the_best() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=30.0)
    report.variant("cpp").accuracy = [WRONG]
    result = overview(report)
    assert result.headline.startswith(
        "Results of the C++ wrapper differ from eager's. The Python wrapper is fastest"
    )
    differs = [count for count in result.counts if count.view == "accuracy"]
    assert [(count.text, count.of) for count in differs] == [
        ("1 result differs from eager's", "cpp")
    ]
    assert not any(suggestion.variant == "cpp" for suggestion in result.suggestions)


def test_a_wrong_variant_that_is_faster_is_not_called_slower() -> None:
    report = make_report(eager=60.0, python=30.0)
    report.variant("python").accuracy = [WRONG]
    assert overview(report).headline == (
        "Results of the Python wrapper differ from eager's. "
        "No variant with correct results is measurably faster than eager."
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
    summary = report_without_texts.report(report, 1)
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


@pytest.mark.parametrize("what", ["No compiler was found.", "torch.compile failed: boom"])
def test_a_headline_says_once_that_compiling_failed(what: str) -> None:
    report = make_report(eager=100.0, python=50.0)
    variant = report.variant("python")
    variant.stage, variant.timing = "failed", None
    variant.problems = [Problem(severity="error", what=what)]
    headline = overview(report).headline
    assert headline.startswith("torch.compile failed: ")
    assert headline.count("torch.compile failed") == 1


def test_a_graph_break_that_was_an_error_is_not_counted_as_none() -> None:
    report = make_report(eager=100.0, python=50.0)
    variant = report.variant("python")
    assert "0 graph breaks" in [item.text for item in overview(report).counts]
    variant.stage, variant.timing = "failed", None
    variant.problems = [Problem(severity="error", what="Graph break with fullgraph=True: a call")]
    assert not any("break" in item.text for item in overview(report).counts)


def test_a_call_in_the_arguments_is_named_beside_the_figures() -> None:
    left_out = Problem(severity="warning", what="`net(x)` is left out.", facts={"inner_call": "f"})
    other = Problem(severity="warning", what="Something else.")
    report = make_report(eager=100, python=50)
    report.problems = [other, left_out]
    assert overview(report).scope == left_out.what
