"""The report in a cell, in a file and in a terminal. Every view reads a report and nothing else."""

from ..analysis.overview import overview
from ..checkup import faces
from ..report import concluding, renderers
from . import checkup, html, html_sweep, page, text, text_sweep

# What a report prints, what a cell shows of it, and what `save` writes. It stands below the views
# and cannot import them: importing this package is what gives it a face.
concluding.update(overview=overview)
renderers.update(text=text.render, html=html.render, page=page.render)
faces.update(text=checkup.text, html=checkup.html)
renderers.update({"sweep html": html_sweep.render, "sweep text": text_sweep.render})
