"""The report in a cell, in a file and in a terminal. Every view reads a report and nothing else."""

from functools import partial

from ..report import renderers
from . import html, text

renderers.update(text=text.render, html=html.render, page=partial(html.render, full=True))
