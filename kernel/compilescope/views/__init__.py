"""The report in a cell, in a file and in a terminal. Every view reads a report and nothing else."""

from functools import partial

from ..report import renderers
from . import html, text


def register() -> None:
    """Give reports their faces: what they print, what a cell shows, what ``save`` writes."""
    renderers.update(text=text.render, html=html.render, page=partial(html.render, full=True))
