"""Reading a report: its summary, its parts, its file, its end."""

from __future__ import annotations

from typing import Literal

from ...report import Compilation, Graph, Region, VariantReport
from .envelopes import Message
from .outlines import Artifact


class GetReport(Message):
    """Asks for the summary of a subject's report."""

    subject: str


class GetArtifact(Message):
    """Asks for one artifact's text."""

    subject: str
    variant: str
    compilation: str
    artifact: str


class ArtifactResult(Message):
    """An artifact's text, and what its lines mean."""

    artifact: Artifact
    text: str
    regions: list[Region] = []
    lines: list[int] = []
    """Of a compiled kernel: for each line of the text, the line of ``source`` that it came from; 0
    where none is known."""
    source: str = ""
    """Of a compiled kernel: its source."""


class GetVariant(Message):
    """Asks for a variant with its compilations in outline.

    That is what every one is, why it was made and what broke, without code, graphs and
    `report.PARTS`.
    """

    subject: str
    variant: str


class VariantResult(Message):
    """The report's own struct, the large parts of its compilations left out."""

    revision: int
    variant: VariantReport


class GetCompilation(Message):
    """Asks for some parts of a compilation; see `report.PARTS`."""

    subject: str
    variant: str
    compilation: str
    parts: list[str]


class CompilationResult(Message):
    """The report's own struct with the parts that were asked for.

    Kernels come without their source and assembly, which are artifacts; of the assembly the forms
    that there are stay, without their texts.
    """

    revision: int
    compilation: Compilation


class GetGraph(Message):
    """Asks for a stage's graph."""

    subject: str
    variant: str
    compilation: str
    stage: str


class GraphResult(Message):
    """The report's own struct without the graph's text, which is an artifact."""

    revision: int
    graph: Graph


class Search(Message):
    """Asks which texts of a report hold a text."""

    subject: str
    text: str
    """Within one line; case counts."""


class SearchHit(Message):
    """A line that holds it."""

    variant: str
    compilation: str
    name: str
    """What torch calls the text, or the artifact's name."""
    line: int
    text: str


class SearchResult(Message):
    """The first lines that hold it."""

    hits: list[SearchHit] = []
    is_cut: bool = False
    """Whether there are more."""


class CompareTrace(Message):
    """Asks what differs between a trace and another one, from before or after a change.

    What comes of it is in the trace's summary: `report_changed` follows.
    """

    subject: str
    path: str
    """Of the other trace, as whoever shows the panel names files."""
    every: bool = False
    """Compare kernels and guards of all compilations that differ, not of the slowest alone."""


class ReadOn(Message):
    """Asks for what torch logged since; `report_changed` follows where that is anything."""

    subject: str


class SaveReport(Message):
    """Asks for the whole report as JSON or as one HTML file."""

    subject: str
    format: Literal["json", "html"] = "json"
    redact: bool = False
    """Without paths and source code."""


class SaveReportResult(Message):
    """The file's text, for the browser to save."""

    filename: str
    text: str


class Forget(Message):
    """Drops a subject, its report and its captures."""

    subject: str
