"""What limits a call."""

from __future__ import annotations

import re

import compilescope as cs
import msgspec
import pytest
from compilescope.analysis.overview import next_calls
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Compilation,
    Layer,
    Layers,
    Problem,
    Rank,
    Report,
    Sweep,
    SweepCell,
)
from compilescope.report.variant import Variant

from .overview_reports import limit_of, look, make_report, wrapper_of


def test_a_wrapper_that_one_direction_measured_apart_counts_with_its_kernels() -> None:
    report = make_report(eager=500.0, cpp=400.0)
    look(report, "cpp", eager=300.0, compiled=100.0)
    cpp = report.variant("cpp")
    (forward,) = cpp.layers
    layers = [Layer(kind="eager", us=200.0), Layer(kind="wrapper", us=20.0)]
    layers.append(Layer(kind="kernels", us=80.0))
    cpp.layers.append(Layers(whole_us=300.0, sum_us=300.0, layers=layers, direction="backward"))
    cpp.verdict = verdict(cpp, report)
    assert cpp.verdict is not None
    assert "the wrapper, which takes, with its kernels, 200 µs" in cpp.verdict.evidence
    assert forward.direction != "backward"


def test_a_call_of_which_nothing_was_compiled_has_no_wrappers_and_no_limit() -> None:
    report = make_report(spread=2.0, eager=60.0, python=60.0, cpp=60.0)
    what = "torch.compile compiled nothing."
    for variant in report.variants[1:]:
        variant.compilations = [Compilation(id="0/0")]
        variant.problems = [Problem(severity="warning", what=what)]
    for name in ("built", "sources"):
        summary = overview(report)
        assert (summary.headline, summary.wrapper, summary.limit) == (what, None, None), name
        # Measuring for longer compares eager with itself.
        assert summary.longer == ""
        for variant in report.variants:
            variant.timing, variant.stage = None, "sources"


def test_kernels_that_take_most_of_a_call_are_worth_a_study() -> None:
    report = make_report(eager=100.0, python=78.0)
    look(report, "python", wrapper=3.5, kernels=74.5)
    limits = limit_of(report)
    assert (limits.basis, limits.bound, limits.study) == ("measured", "unclear", "kernels")
    assert limits.remedy.startswith('cs.study(report, "kernels")')
    report.variant("python").studied.append("kernels")
    limits = limit_of(report)
    assert (limits.study, limits.remedy) == ("", "")
    look(report, "python", guards=70.0, kernels=8.0)
    limits = limit_of(report)
    assert (limits.bound, limits.study) == ("overhead", "")


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
    limit = limit_of(report)
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
    limit = limit_of(report)
    shares = {part.kind: part.text for part in limit.parts}
    assert shares["kernels"] == f"kernels {kernels}"
    assert sum(part.share for part in limit.parts) == pytest.approx(1)
    assert shares.get("other", "") == ("not attributed 8 %" if whole == 40 else "")
    assert limit.headline == f"Kernels take {kernels} of a call."
    assert limit.text.startswith(f"Kernels take {kernels} of ")


def test_a_breakdown_of_other_calls_than_those_timed_says_so() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=4.0, kernels=36.0)
    limit = limit_of(report)
    assert limit.calls == ""
    look(report, "python", guards=4.0, kernels=28.0)
    limit = limit_of(report)
    assert limit.parts
    assert re.fullmatch(
        r"The breakdown is a separate run, in which a call took 32\.0 µs instead of \d\d\.\d µs\.",
        limit.calls,
    )
    # The timed call is the forward; its backward may take any time.
    variant = report.variant("python")
    forward = Layers(
        direction="forward", whole_us=40.0, layers=[Layer(kind="compiled", us=40.0)], sum_us=40.0
    )
    backward = msgspec.structs.replace(forward, direction="backward", whole_us=90.0)
    variant.layers = [forward, backward]
    variant.verdict = verdict(variant, report)
    limit = limit_of(report)
    assert limit.calls == "The parts cover a call of 40.0 µs and its backward of 90.0 µs."
    assert limit.basis == "measured"


def test_the_bar_of_a_gpu_shows_what_a_call_waits_for() -> None:
    report = make_report(eager=60.0, python=40.0)
    variant = report.variant("python")
    kernels = Layer(kind="kernels", us=10.0, device_us=36.0)
    layers = [Layer(kind="guards", us=30.0), kernels]
    variant.layers = [Layers(whole_us=40.0, sum_us=40.0, layers=layers, device="cuda")]
    variant.verdict = verdict(variant, report)
    limit = limit_of(report)
    assert [part.text for part in limit.parts][-1] == "waiting for kernels 25 %"
    assert limit.headline == "Kernels take 90 % of a call."


def test_a_wrapper_that_is_timed_with_its_kernels_is_named_so() -> None:
    report = make_report(eager=60.0, cpp=40.0)
    look(report, "cpp", guards=4.0, compiled=36.0)
    limit = limit_of(report)
    assert (limit.bound, limit.basis) == ("unclear", "measured")
    assert [part.text for part in limit.parts][-1] == "wrapper with its kernels 90 %"
    assert limit.headline == "The wrapper with its kernels takes 90 % of a call."
    look(report, "cpp", guards=30.0, compiled=10.0)
    limit = limit_of(report)
    assert limit.headline == ("Overhead-bound: the wrapper and its kernels run for 25 % of a call.")
    assert "spent around the wrapper, which takes, with its kernels, 10.0 µs" in limit.text


def test_the_sentence_has_the_figures_of_the_bar() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=28.0, inductor=4.0, wrapper=6.0, launches=2.0, kernels=0.0)
    result = overview(report)
    assert result.limit is not None
    assert result.wrapper is not None
    shares = {part.kind: part.text for part in result.limit.parts}
    assert shares == {
        "guards": "Dynamo and guards 70 %",
        "aot": "runtime 10 %",
        "wrapper": "wrapper 15 %",
        "launches": "launches 5 %",
    }
    assert "8.00 of 40.0 µs (20 %)" in result.wrapper.text
    # The kernels' time was lost in the noise.
    assert result.limit.headline == "Overhead-bound: kernels run for under 1 % of a call."


def test_a_breakdown_of_other_calls_is_not_believed() -> None:
    report = make_report(eager=60.0, python=40.0)
    look(report, "python", guards=4000.0, kernels=36_000.0)
    limit = limit_of(report)
    assert (limit.bound, limit.parts) == ("unknown", [])
    assert "A call took 40.0 ms" in limit.text
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
    words = "cudagraphs is fastest: 102 µs per call."
    swept = Report(
        subject=report.subject,
        sweep=Sweep(
            cells=[SweepCell(key="a", name="cudagraphs", variant=Variant())], verdicts={"": words}
        ),
    )
    assert overview(swept).headline == words
    assert [(counted.text, counted.view) for counted in overview(swept).counts] == [
        ("1 cell compared", "sweep")
    ]
    result = overview(report)
    assert result.headline == "Code is generated; nothing is measured yet."
    assert result.results[1].why == "not measured yet"
    assert result.limit is not None
    assert (result.limit.text, result.limit.unbuilt) == ("The variant is not built.", True)
    eager = make_report(eager=60.0, python=40.0)
    eager.variant("python").timing = None
    assert overview(eager).headline == "Code is built; only eager is measured yet."
    eager.variant("python").stage = "sources"
    assert overview(eager).headline == "Code is generated; only eager is measured yet."


def test_what_a_rank_leaves_open_is_found_by_calling_ranks_again() -> None:
    report = make_report(eager=40.0, python=40.0, cpp=40.0)
    report.rank = Rank(rank=0, size=2)
    report.variant("cpp").timing = None
    shown = overview(report)
    assert shown.wrapper is not None
    assert shown.wrapper.remedy == "cs.ranks(factory), called again, builds and times them."
    assert shown.limit is not None
    assert shown.limit.remedy == ""
    report.variants.remove(report.variant("cpp"))
    answer = wrapper_of(report)
    assert answer.remedy.startswith("Compare: cs.ranks(factory, ")
    assert next_calls.measure_longer(report, 30).startswith("cs.ranks(factory), called again")


def test_no_study_of_a_rank_s_report_is_advised() -> None:
    report = make_report(eager=40.0, python=40.0)
    report.rank = Rank(rank=0, size=2)
    for attempt in (
        lambda: cs.measure(report),
        lambda: cs.study(report, "layers"),
        report.best,
    ):
        with pytest.raises(cs.CompilescopeError) as refused:
            attempt()
        assert "compilescope.ranks(factory" in refused.value.problem.remedy


@pytest.mark.parametrize(
    ("whole", "kernels", "headline"),
    [
        # The open tenth belongs to neither side for certain, and either way decides nothing.
        (1040.0, 830.0, "Kernels take 80 % of a call."),
        (1040.0, 200.0, "Overhead-bound: kernels run for 19 % of a call."),
        # It decides.
        (1040.0, 480.0, "Too noisy to judge."),
        # Layers that are this far from a call are of another one.
        (1400.0, 830.0, "Too noisy to judge."),
    ],
)
def test_time_that_layers_leave_open_matters_only_where_it_decides(
    whole: float, kernels: float, headline: str
) -> None:
    report = make_report(eager=5000.0, python=1040.0)
    look(report, "python", whole, wrapper=923.0 - kernels, kernels=kernels)
    variant = report.variant("python")
    (layers,) = variant.layers
    layers.agrees, layers.sum_us, layers.device, layers.why = False, 923.0, "cpu", "They differ."
    variant.verdict = verdict(variant, report)
    limit = limit_of(report)
    assert limit.headline == headline
    if headline.startswith("Too noisy"):
        assert (limit.text, limit.parts) == ("They differ.", [])
    else:
        assert limit.calls == (
            "The breakdown is a separate run, in which the layers add up to 923 µs and a call took "
            "1.04 ms."
        )
        assert sum(part.share for part in limit.parts) == pytest.approx(1.0)
        assert [part.text for part in limit.parts][-1] == "not attributed 11 %"


def test_noise_is_judged_of_what_is_measured() -> None:
    report = make_report(spread=3.0, eager=100.0, python=80.0, cpp=70.0)
    report.variant("cpp").timing = None
    assert overview(report).headline == (
        "Too noisy to judge whether the Python wrapper is faster than eager. "
        "The C++ wrapper is not measured yet."
    )
