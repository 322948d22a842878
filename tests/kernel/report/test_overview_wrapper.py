"""Whether the C++ wrapper is worth its compile time."""

from __future__ import annotations

import re

import msgspec
import pytest
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    CompileTime,
    Problem,
    Report,
    Startup,
)
from compilescope.report.variant import Variant

from .overview_reports import look, make_report, wrapper_of


def report_of_short_wrapper(*, python: float = 78.0, cpp: float) -> Report:
    """The Python wrapper and its launches take 3.5 µs of a call."""
    report = make_report(eager=100.0, python=python, cpp=cpp)
    look(report, "python", wrapper=2.0, launches=1.5, kernels=python - 3.5)
    return report


def test_the_wrapper_is_worth_what_it_saves() -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    report.variant("cpp").compile_time = CompileTime(total_s=50.0)
    look(report, "python", wrapper=900.0, kernels=400.0, launches=700.0)
    answer = wrapper_of(report)
    assert answer.headline.startswith("Yes: ")
    assert re.search(r"It saves \S+ ms per call|It saves .* of .* per call \(\d\d %\)", answer.text)
    assert "The Python wrapper and its launches take 1.60 of 2.00 ms." in answer.text
    assert re.search(
        r"The first call took 40\.0 s longer with the C\+\+ one \(each measured once\), which "
        r"pays off after about \d\d,000 calls",
        answer.text,
    )


def test_times_of_another_run_are_said_to_be_of_one() -> None:
    report = make_report(eager=500.0, python=145.0, cpp=120.0)
    look(report, "python", wrapper=61.0, kernels=122.0, launches=70.0)
    answer = wrapper_of(report)
    assert (
        "In the separate run of the breakdown, the Python wrapper and its launches took "
        "131 of 253 µs. The first call took about as long with either wrapper."
    ) in answer.text


def test_a_backward_is_no_part_of_the_call_that_was_timed() -> None:
    report = make_report(eager=500.0, python=145.0, cpp=120.0)
    look(report, "python", wrapper=30.0, kernels=80.0, launches=35.0)
    python = report.variant("python")
    (forward,) = python.layers
    python.layers.append(msgspec.structs.replace(forward, direction="backward"))
    answer = wrapper_of(report)
    assert "The Python wrapper and its launches take 65.0 of 145 µs." in answer.text


def test_first_calls_that_contradict_each_other_are_not_subtracted() -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    for name, here_s, apart_s in (("python", 46.6, 35.0), ("cpp", 45.9, 63.5)):
        variant = report.variant(name)
        variant.compile_time = CompileTime(total_s=here_s)
        variant.startups = [Startup(cache="cold", first_call_s=apart_s)]
    answer = wrapper_of(report)
    assert answer.text.endswith(
        "It is not clear which wrapper has the shorter first call: with the Python wrapper it took "
        "46.6 s in the inspection and 35.0 s in a new process, with the C++ one 45.9 s and 63.5 s."
    )


def test_a_saving_of_a_few_percent_is_marginal() -> None:
    answer = wrapper_of(make_report(eager=5000.0, python=2000.0, cpp=1940.0))
    assert answer.headline.startswith("Marginal: 1.03")


def test_wrappers_are_compared_where_both_were_tried() -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    written = make_report(eager=5000.0, python=2100.0).variant("python")
    written.name, written.requested = "as written", Variant(dynamic=True)
    report.variants.insert(0, written)
    answer = wrapper_of(report)
    assert answer.headline.startswith("Yes: ")
    assert "These are python and cpp; as written was tried with one wrapper." in answer.text


@pytest.mark.parametrize(
    ("failed", "headline"),
    [
        ("cpp", "It could not be built."),
        ("python", "The Python wrapper could not be built."),
    ],
)
def test_a_wrapper_that_failed_is_not_called_generated(failed: str, headline: str) -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    for name in ("python", "cpp"):
        report.variant(name).stage, report.variant(name).timing = "sources", None
    report.variant(failed).stage = "failed"
    report.variant(failed).problems = [Problem(severity="error", what="No compiler.")]
    answer = wrapper_of(report)
    assert (answer.headline, answer.text) == (headline, "No compiler.")


def test_a_wrapper_that_is_only_captured_is_not_called_generated() -> None:
    report = make_report(eager=5000.0, python=2000.0, cpp=1000.0)
    for name, stage in (("python", "captured"), ("cpp", "sources")):
        report.variant(name).stage, report.variant(name).timing = stage, None  # type: ignore[assignment]
    answer = wrapper_of(report)
    assert answer.text == "The Python wrapper is being generated."


def test_the_wrapper_that_is_little_of_a_call_cannot_help() -> None:
    answer = wrapper_of(report_of_short_wrapper(cpp=78.0))
    assert answer.headline == "No: there is too little to save."
    assert "3.50 of 78.0 µs" in answer.text
    alone = make_report(eager=100.0, python=78.0)
    look(alone, "python", guards=70.0, wrapper=2.0, launches=1.5, kernels=4.5)
    result = overview(alone)
    answer = result.wrapper
    assert answer is not None
    assert answer.headline == "It cannot help."
    assert answer.requested is None
    # Nor is it suggested.
    assert "C++ wrapper" not in [suggestion.what for suggestion in result.suggestions]
    assert "can save no more." in answer.text


def test_a_difference_that_exceeds_the_wrapper_is_not_attributed_to_it() -> None:
    answer = wrapper_of(report_of_short_wrapper(cpp=90.0))
    assert answer.headline == "No: there is too little to save."
    unexplained = "The wrapper alone does not explain why the C++ one is"
    assert f"{unexplained} 1.16\u00d7 slower" in answer.text
    answer = wrapper_of(report_of_short_wrapper(python=90.0, cpp=78.0))
    assert answer.headline == "Yes: 1.15\u00d7 faster per call."
    assert f"{unexplained} 1.15\u00d7 faster" in answer.text
    # The wrapper takes more than the difference, or than the least that its interval allows.
    for spread, wrapper in ((0.01, 20.0), (0.03, 9.0)):
        report = make_report(spread, eager=100.0, python=90.0, cpp=78.0)
        look(report, "python", wrapper=wrapper, launches=2.0, kernels=88.0 - wrapper)
        answer = wrapper_of(report)
        assert answer.headline == "Yes: 1.15\u00d7 faster per call."
        assert unexplained not in answer.text


def test_what_launches_take_is_not_known_where_kernels_are_timed_with_them() -> None:
    report = make_report(eager=100.0, python=78.0, cpp=78.0)
    look(report, "python", wrapper=3.5, kernels=74.5)
    answer = wrapper_of(report)
    assert answer.headline == "No: it makes no difference."
    assert "The Python wrapper takes 3.50 of 78.0 µs." in answer.text
    report.variants.remove(report.variant("cpp"))
    answer = wrapper_of(report)
    assert answer.headline == "Not tried yet."
    assert "no more than that" not in answer.text


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


def test_a_wrapper_that_noise_left_at_nothing_has_no_time() -> None:
    report = make_report(eager=60.0, python=40.0, cpp=40.0)
    look(report, "python", wrapper=0.0, launches=0.0, kernels=40.0)
    answer = wrapper_of(report)
    too_short = "The time of the Python wrapper and its launches is too short to be measured in a "
    assert f"{too_short}call of 40.0 µs. " in answer.text
    report.variants.remove(report.variant("cpp"))
    answer = wrapper_of(report)
    assert answer.headline == "It cannot help."
    assert answer.text == f"{too_short}call of 40.0 µs, and a C++ one saves no more than that."


def test_the_wrapper_that_was_not_tried_is_there_to_be_added() -> None:
    answer = wrapper_of(make_report(eager=60.0, python=40.0))
    assert (answer.headline, answer.requested) == ("Not tried yet.", Variant(cpp_wrapper=True))
    assert answer.text == "Only the Python wrapper is in the report."
    assert 'variants=("python", "cpp")' in answer.remedy
    answer = wrapper_of(make_report(eager=60.0, cpp=40.0))
    assert (answer.headline, answer.requested) == ("Not compared yet.", Variant())
    assert answer.text == "Only the C++ wrapper is in the report."
    assert answer.remedy.startswith("Compare: ")
    both = wrapper_of(make_report(eager=60.0, python=40.0, cpp=30.0))
    assert both.requested is None


@pytest.mark.parametrize(
    ("timed", "there", "what"),
    [
        ((), ("python", "cpp"), "Both wrappers are built, but not timed."),
        ((), ("python",), "The Python wrapper is built, but not timed."),
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
    answer = wrapper_of(report)
    assert (answer.headline, answer.text, answer.unbuilt) == ("Not measured yet.", what, True)
    assert answer.remedy.startswith("cs.measure(report), in the session that inspected the call")
