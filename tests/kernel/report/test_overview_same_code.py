"""Variants with the same code: none is recommended against another, whatever noise measured."""

from __future__ import annotations

from compilescope.analysis.changes.same_code import plainest
from compilescope.analysis.overview.overview import overview
from compilescope.report import Code, Effective, Kernel, Report
from compilescope.views.html import report as html

from .overview_reports import make_report, wrapper_of

NOT_IN_EFFECT = Effective(setting="CUDA graphs", requested="on", actual="off", differs=True)


def coded(**medians: float) -> Report:
    """A report of a call on a CPU, where a mode changes nothing of the code of a wrapper."""
    report = make_report(**medians)
    for position, variant in enumerate(report.variants):
        for compilation in variant.compilations:
            identity = f"# AOT ID: ['{position}_inference']\n"
            if variant.requested.cpp_wrapper:
                compilation.code = Code(cpp=f"{identity}void call()")
            else:
                compilation.code = Code(python=f"{identity}def call(args):")
            compilation.kernels = [Kernel(name="k", language="cpp", source="void k() {}")]
        if variant.requested.mode:
            variant.effective = [NOT_IN_EFFECT]
    return report


def three_equal_ones() -> Report:
    return coded(
        eager=100.0,
        python=60.0,
        **{"cpp max-autotune": 53.0, "cpp": 50.0, "cpp reduce-overhead": 47.0},
    )


def test_the_plainest_of_equal_variants_stands_for_them() -> None:
    report = three_equal_ones()
    assert {name: stands.name for name, stands in plainest(report.variants).items()} == {
        "eager": "eager",
        "python": "python",
        "cpp max-autotune": "cpp",
        "cpp": "cpp",
        "cpp reduce-overhead": "cpp",
    }
    result = overview(report)
    assert result.headline.startswith("The C++ wrapper is fastest: ")
    assert result.headline.endswith("cpp max-autotune and cpp reduce-overhead have the same code.")
    assert [row.variant for row in result.results if row.best] == ["cpp"]
    same = {row.variant: row.same_code for row in result.results if row.same_code}
    words = "same code as the C++ wrapper"
    assert same == {"cpp max-autotune": words, "cpp reduce-overhead": words}
    assert f'title="{words}"' in html.render(report)
    suggested = [suggestion for suggestion in result.suggestions if suggestion.variant]
    assert [suggestion.what for suggestion in suggested] == ["Use the C++ wrapper"]


def test_the_code_that_is_in_use_is_not_suggested() -> None:
    result = overview(coded(eager=100.0, python=60.0, **{"reduce-overhead": 40.0}))
    assert result.headline.startswith("The Python wrapper is fastest: ")
    assert result.headline.endswith(" reduce-overhead has the same code.")
    assert not [suggestion for suggestion in result.suggestions if suggestion.variant]


def test_a_mode_without_effect_does_not_take_the_place_of_the_cpp_wrapper() -> None:
    report = coded(eager=200.0, python=100.0, cpp=60.0, **{"cpp reduce-overhead": 40.0})
    answer = wrapper_of(report)
    assert answer.headline.startswith("Yes: ")


def test_what_runs_differently_is_not_the_same_code() -> None:
    graphs = coded(eager=100.0, python=60.0, **{"reduce-overhead": 40.0})
    graphs.variant("reduce-overhead").effective = [
        Effective(setting="CUDA graphs", requested="on", actual="on")
    ]
    unknown = coded(eager=100.0, python=60.0, **{"reduce-overhead": 40.0})
    unknown.variant("reduce-overhead").effective = []
    kernels = coded(eager=100.0, python=60.0, **{"reduce-overhead": 40.0})
    kernels.variant("reduce-overhead").compilations[0].kernels[0].source = "void k() { f(); }"
    for report in (graphs, unknown, kernels):
        result = overview(report)
        assert result.headline.startswith("reduce-overhead is fastest: ")
        assert [suggestion.variant for suggestion in result.suggestions] == ["reduce-overhead"]
        assert not any(row.same_code for row in result.results)
