"""The outlines of reports that the panel gets before it requests their parts."""

from __future__ import annotations

import msgspec

from ...report import Environment, ListedProblem, Overview, Peaks, Problem, Rank, Subject
from ...report.contents import Sides, SweepSummary, VariantSummary
from ...report.subjects.traces import TraceSummary
from ...report.variant import Variant
from .envelopes import Message


class ReportSummary(Message):
    """A report without its texts."""

    revision: int
    subject: Subject
    environment: Environment
    variants: list[VariantSummary] = []
    problems: list[Problem] = []
    listed_problems: list[ListedProblem] = []
    """Those and the problems of the variants, each once, the worst first."""
    files: dict[str, str] = {}
    peaks: list[Peaks] = []
    sweep: SweepSummary | None = None
    rank: Rank | None = None
    overview: Overview | None = None
    trace: TraceSummary | None = None
    """For a trace that is read on demand."""
    asked: list[str] = []
    """The variants that the last inspection of the call requested."""
    ready: list[Variant] = []
    """Variants that the report does not have but whose code is already generated."""
    sides: Sides = msgspec.field(default_factory=Sides)
    """The variants that are shown side by side until the user chooses others: those that the last
    inspection requested, if there are two."""


class SubjectSummary(Message):
    """A row of the list of subjects."""

    subject: Subject
    revision: int
    variants: list[str] = []
    problems: int = 0
    group: str = ""
    """The id that the ranks of one run share."""
    rank: int | None = None
    ranks: int = 0
    """How many ranks the run has."""
