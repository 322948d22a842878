"""Messages to read a report, to save it, and to drop it."""

from __future__ import annotations

from typing import Literal

from ...report import Compilation, Graph, Region, VariantReport
from ...report.contents import Artifact
from .envelopes import Message


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
    """An artifact's text with its regions."""

    artifact: Artifact
    text: str
    regions: list[Region] = []
    lines: list[int] = []
    """For a compiled kernel: for each line of the text, the line of ``source`` that it came from; 0
    if unknown."""
    source: str = ""
    """For a compiled kernel: its source."""


class GetVariant(Message):
    """Asks for a variant with its compilations in outline.

    The outline has each compilation's frame, its recompile reasons and graph breaks, without code,
    graphs and `report.PARTS`.
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
    """The report's own struct with the requested parts.

    Kernels come without their source and assembly, which are artifacts; the names of the assembly's
    forms stay, without their texts.
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
    """Asks which texts of a report contain a text."""

    subject: str
    text: str
    """The text, within one line; case-sensitive."""


class SearchHit(Message):
    """A line that contains it."""

    variant: str
    compilation: str
    name: str
    """torch's name for the text, or the artifact's name."""
    line: int
    text: str


class SearchResult(Message):
    """The first lines that contain it."""

    hits: list[SearchHit] = []
    is_cut: bool = False
    """Whether there are more."""


class CompareTrace(Message):
    """Asks for the differences between a trace and another one, from before or after a change.

    The result is in the trace's summary; `report_changed` follows.
    """

    subject: str
    path: str
    """The path of the other trace, as the host of the panel names files."""
    every: bool = False
    """Whether to compare kernels and guards of all changed compilations, not only of the
    slowest."""


class ReadOn(Message):
    """Asks to read new records of the log; `report_changed` follows if there are any."""

    subject: str


class SaveReport(Message):
    """Asks for the whole report as JSON, as packed JSON or as one HTML file."""

    subject: str
    format: Literal["json", "packed", "html"] = "json"
    """packed: as a large page stores it. It is a tenth of the JSON, so that sending it does not
    delay other messages."""
    redact: bool = False
    """Whether to leave out paths and source code."""


class SaveReportResult(Message):
    """The file's text, for the browser to save or to keep."""

    filename: str
    text: str


class Forget(Message):
    """Drops a subject, its report and its captures."""

    subject: str
