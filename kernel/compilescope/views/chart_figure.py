"""A Plotly bar figure that is also visible in hosts that cannot draw Plotly's figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plotly import io
from plotly.graph_objects import Figure

from . import wording
from .html.templating import render

_OF_PLOTLYS_TYPE = ("plotly_mimetype", "jupyterlab", "nteract", "vscode")
"""Plotly's renderers that emit only Plotly's own MIME type."""
_WIDTH = 240
"""The length of the longest row of bars in HTML, in pixels."""


@dataclass(frozen=True)
class Part:
    """A bar, or a part of a stacked one."""

    meaning: str
    """Its meaning; empty if its length is zero."""
    width: float
    """The width in pixels."""
    color: str


@dataclass(frozen=True)
class Row:
    """The bars of one variant, and the text next to them."""

    name: str
    parts: list[Part]
    label: str


class BarFigure(Figure):  # type: ignore[misc]
    """Horizontal bars. A frontend without a renderer of Plotly's type shows them as HTML.

    In a Jupyter kernel Plotly emits only its own MIME type. A frontend without a renderer for it
    (JupyterLab or Notebook in an environment without Plotly, nbconvert) then shows nothing.
    """

    def _ipython_display_(self) -> None:
        if io.renderers.default not in _OF_PLOTLYS_TYPE or not io.renderers.render_on_display:
            super()._ipython_display_()
            return
        from IPython.display import display

        rows = self.rows()
        text = "\n".join(f"{row.name}: {row.label}" for row in rows)
        html = render("chart.html", rows=rows, title=self.layout.xaxis.title.text)
        bundle = {**self._repr_mimebundle_(), "text/html": html, "text/plain": text}
        display(bundle, raw=True)  # type: ignore[no-untyped-call]

    def rows(self) -> list[Row]:
        """Return what the figure shows, with intervals in words."""
        speedups = {
            annotation.y: annotation.text.partition(", ")[2]
            for annotation in self.layout.annotations
        }
        names = list(self.data[0].y)
        totals = [sum(bar.x[at] for bar in self.data) for at in range(len(names))]
        scale = _WIDTH / (max(totals) or 1)
        rows = []
        for at, name in enumerate(names):
            parts = [
                Part(_meaning(bar, at), scale * bar.x[at], _color(bar, at)) for bar in self.data
            ]
            texts = [part.meaning for part in parts] + [speedups.get(name, "")]
            rows.append(Row(name, parts, ", ".join(filter(None, texts))))
        return rows


def _meaning(bar: Any, at: int) -> str:
    if bar.hovertext:
        return str(bar.hovertext[at]).partition(": ")[2]
    return f"{bar.name} {wording.duration(1e6 * bar.x[at])}" if bar.x[at] else ""


def _color(bar: Any, at: int) -> str:
    color = bar.marker.color
    return color if isinstance(color, str) else str(color[at])
