"""Whole reports as the texts of files."""

from __future__ import annotations

from typing import Literal

from ..report import Report, renderers
from ..report.saving.page_contents import packed


def saved(report: Report, form: Literal["json", "packed", "html"]) -> tuple[str, str]:
    """The text of a report's file, and the ending of its name."""
    if form == "html":
        return renderers["page"](report), "html"
    text = report.to_json()
    # JupyterLab opens files with this ending as reports.
    return (packed(text) if form == "packed" else text), "compilescope.json"
