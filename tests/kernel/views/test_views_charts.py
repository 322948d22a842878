"""The report's figures as Plotly charts."""

from __future__ import annotations

import json

import compilescope as cs
import pytest
from compilescope import extras
from compilescope.views import charts

from ..views_report import report, timing


def test_the_bars_are_the_medians_with_their_intervals() -> None:
    figure = charts.timings(report())
    assert figure is not None
    (bar,) = figure.data
    assert list(bar.y) == ["eager", "python"]
    assert list(bar.x) == [182.4, 96.2]
    assert bar.error_x.array == pytest.approx((182.4 * 0.02, 96.2 * 0.02))
    assert bar.error_x.arrayminus == pytest.approx((182.4 * 0.01, 96.2 * 0.01))
    assert [annotation.text for annotation in figure.layout.annotations] == [
        "182 µs",
        "96.2 µs, 1.90\u00d7 faster",
    ]
    assert "(µs)" in figure.layout.xaxis.title.text


def test_long_calls_are_in_milliseconds() -> None:
    result = report()
    result.variants[0].timing = timing(50_000.0, 1.0)
    figure = charts.timings(result)
    assert figure is not None
    assert list(figure.data[0].x) == pytest.approx([50.0, 0.0962])
    assert "(ms)" in figure.layout.xaxis.title.text
    assert figure.layout.xaxis.range[1] > 50 * 1.02


def test_the_label_of_the_widest_interval_has_room() -> None:
    result = report()
    result.variants[0].timing = timing(50_000.0, 10.0)
    figure = charts.timings(result)
    assert figure is not None
    longest = max(figure.layout.annotations, key=lambda item: item.x)
    assert figure.layout.xaxis.range[1] >= longest.x
    for label in figure.layout.annotations:
        assert figure.layout.margin.r >= label.xshift + 6.5 * len(label.text)


def test_compile_time_is_stacked_by_part() -> None:
    figure = charts.compile_times(report())
    assert figure is not None
    assert figure.layout.barmode == "stack"
    assert {bar.name: list(bar.x) for bar in figure.data} == {"Dynamo": [0.5], "C++ build": [2.08]}


def test_they_stand_on_the_background_of_the_page() -> None:
    for figure in (charts.timings(report()), charts.compile_times(report())):
        assert figure is not None
        sent = json.loads(figure.to_json())
        assert sent["layout"]["paper_bgcolor"] == sent["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"
        assert len(figure.to_json()) < 10_000


@pytest.mark.parametrize(
    ("what", "label"),
    [
        ("latency", "96.2 µs (95.2\u201398.1 µs), 1.90\u00d7 faster"),
        ("compile time", "Dynamo 500 ms"),
    ],
)
def test_where_plotlys_type_is_not_drawn_html_is(
    what: str, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    monkeypatch.setattr("plotly.io.renderers.default", "plotly_mimetype")
    cs.chart(report(), what)._ipython_display_()
    [bundle] = shown
    assert "application/vnd.plotly.v1+json" in bundle
    assert label in bundle["text/html"]
    assert label in bundle["text/plain"]
    assert "<script" not in bundle["text/html"]


def test_nothing_measured_is_no_chart() -> None:
    result = report()
    result.variants = result.variants[2:]
    assert charts.timings(result) is None
    assert charts.compile_times(result) is None


def test_a_chart_is_had_by_its_name() -> None:
    assert cs.chart(report()) == charts.timings(report())
    assert cs.chart(report(), "compile time") == charts.compile_times(report())
    with pytest.raises(cs.CompilescopeError, match="no chart 'pie'"):
        cs.chart(report(), "pie")


def test_a_report_without_times_says_so() -> None:
    unmeasured = report()
    unmeasured.variants = unmeasured.variants[2:]
    with pytest.raises(cs.CompilescopeError, match="no latency to chart"):
        cs.chart(unmeasured)


def test_without_plotly_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(cs.CompilescopeError, match=r"pip install plotly"):
        cs.chart(report())
