"""The report's figures as Plotly charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import extras
from ..analysis.figures.intervals import known_interval
from ..report import FIRST_CALL_PARTS, Report, Timing
from ..report.errors import CompilescopeError
from . import wording
from .wrapper_pairs import compared

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# A gray that reads on white and on near-black: the charts have no background of their own.
_INK = "#808890"
_GRID = "rgba(128,128,128,0.22)"
_CHARACTER, _GAP = 7, 8
"""The largest width of a label's character, and the space before the label, in pixels."""
_BAR, _BASELINE = "#3b7ddd", "#8c959f"
_PART_COLORS = {
    "dynamo": "#3b7ddd",
    "guards": "#8fb8f0",
    "aot_autograd": "#2a9d8f",
    "inductor": "#8e6bd1",
    "code_generation": "#c77dbb",
    "triton": "#5fa83e",
    "cpp_build": "#d98a2b",
    "load": "#c2585c",
    "other": "#8c959f",
}


CHARTS = ("latency", "compile time")


def chart(report: Report, what: str) -> Figure:
    """The chart of a name in `CHARTS`.

    Raises
    ------
    CompilescopeError
        There is no such chart, Plotly is not installed, or the report holds nothing to draw.
    """
    if what not in CHARTS:
        raise CompilescopeError(f"There is no chart {what!r}.", remedy=f"Use one of {CHARTS}.")
    if missed := extras.missed("plotly"):
        raise CompilescopeError(missed)
    if what == "latency":
        figure, remedy = timings(report), "Inspect with run=True, or measure it."
    else:
        figure, remedy = compile_times(report), "Inspect with run=True."
    if figure is None:
        raise CompilescopeError(f"The report has no {what} to chart.", remedy=remedy)
    return figure


def timings(report: Report) -> Figure | None:
    """Return the median of a call under each variant, with its 95 % interval.

    None when nothing was timed.
    """
    from plotly.graph_objects import Bar

    timed = [
        (variant.name, variant.timing) for variant in compared(report) if variant.timing is not None
    ]
    if not timed:
        return None
    longest = max(timing.interval_us[1] for _, timing in timed)
    unit, scale = ("µs", 1.0) if longest < 1e4 else ("ms", 1e-3)
    # Without an interval there is none to draw.
    bounded = [(t, known_interval(t) or (t.median_us, t.median_us)) for _, t in timed]
    bar = Bar(
        x=[scale * timing.median_us for _, timing in timed],
        y=[name for name, _ in timed],
        orientation="h",
        marker={"color": [_BASELINE if name == t.baseline else _BAR for name, t in timed]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [scale * (high - t.median_us) for t, (_, high) in bounded],
            "arrayminus": [scale * (t.median_us - low) for t, (low, _) in bounded],
            "color": _INK,
        },
        hovertext=[f"{name}: {_time_text(timing)}" for name, timing in timed],
        hoverinfo="text",
    )
    figure = _figure([bar], f"latency of a call ({unit}), median and 95 % interval", len(timed))
    for name, timing in timed:
        figure.add_annotation(
            x=scale * timing.interval_us[1],
            y=name,
            text=_label(name, timing),
            showarrow=False,
            xanchor="left",
            xshift=_GAP,
        )
    # The labels are right of the intervals, and Plotly reserves no space for them. In pixels, since
    # a share of a narrow notebook's width is too small.
    figure.update_xaxes(range=[0, 1.02 * scale * longest])
    room = max(len(_label(name, timing)) for name, timing in timed) * _CHARACTER + _GAP
    return figure.update_layout(margin_r=room)


def compile_times(report: Report) -> Figure | None:
    """Return the parts of each variant's compile time, in seconds; None when nothing was built."""
    from plotly.graph_objects import Bar

    built = [
        (variant.name, variant.compile_time) for variant in compared(report) if variant.compile_time
    ]
    parts = [part for part in FIRST_CALL_PARTS if any(time.parts.get(part) for _, time in built)]
    if not parts:
        return None
    bars = [
        Bar(
            x=[time.parts.get(part, 0.0) for _, time in built],
            y=[name for name, _ in built],
            name=FIRST_CALL_PARTS[part],
            orientation="h",
            marker={"color": _PART_COLORS[part]},
            hovertemplate="%{y}: %{x:.2f} s<extra>%{fullData.name}</extra>",
        )
        for part in parts
    ]
    figure = _figure(bars, "compile time (s)", len(built))
    return figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={
            "orientation": "h",
            "traceorder": "normal",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "x": 0,
        },
        margin_t=50,
        height=110 + 34 * len(built),
    )


def _figure(bars: list[object], title: str, rows: int) -> Figure:
    from .chart_figure import BarFigure

    return BarFigure(
        data=bars,
        layout={
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": _INK, "size": 12},
            "height": 70 + 34 * rows,
            "margin": {"l": 10, "r": 10, "t": 10, "b": 45},
            "bargap": 0.35,
            "showlegend": False,
            "xaxis": {
                "title": {"text": title, "font": {"size": 12}},
                "gridcolor": _GRID,
                "zerolinecolor": _GRID,
            },
            "yaxis": {"autorange": "reversed", "automargin": True, "ticksuffix": "  "},
        },
    )


def _time_text(timing: Timing) -> str:
    return f"{wording.duration(timing.median_us)} ({timing.interval})"


def _label(name: str, timing: Timing) -> str:
    text = wording.duration(timing.median_us)
    speedup = wording.speedup(timing)
    return text if name == timing.baseline or not speedup else f"{text}, {speedup}"
