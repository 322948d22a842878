"""The summary of a trace: its processes, avoidable compile time, its ranks, another trace."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from ..compilation.artifacts import Outcome
from ..environment import Environment
from ..problem import Problem, SourceLine, Struct
from .compilation_row import CompilationRow

_LEFT_OUT = "(left out)"

DivergenceKind = Literal[
    "compilations", "graph", "cache", "collectives", "tensors", "runtimes", "execution"
]


class CompilationLine(CompilationRow, kw_only=True):
    """A compilation in the list of all compilations."""

    process: str
    graph_breaks: int = 0
    caches: dict[str, str] = {}
    """Cache → its answer: hit, miss or bypass."""
    nodes: int | None = None
    """The number of nodes of Dynamo's graph; None if torch logged none."""


class BackwardLine(CompilationLine):
    """The backward of a compilation whose forward has a line of its own.

    torch compiles it when it first runs. ``started_s``, ``duration_s`` and ``outcome`` are its own.
    """

    backward: bool = True


class LostTime(Struct):
    """Compile time with one cause."""

    kind: Literal["failure", "recompiles", "graph break", "restarts", "cache bypass"]
    seconds: float
    """Measured by torch, in the process where it is longest, since ranks compile in parallel;
    0 for a graph break for which nothing was compiled again."""
    what: str
    """``4 recompiles of forward``."""
    why: str = ""
    remedy: str = ""
    where: SourceLine | None = None
    process: str = ""
    compilations: list[str] = []
    """Compile ids in that process."""


class RankDivergence(Struct):
    """An artifact that some ranks compiled differently from the rest."""

    kind: DivergenceKind
    what: str
    """``the Dynamo graph of 0/0, line 12``."""
    compilation: str
    ranks: list[int]
    """The ranks that differ from the majority."""
    here: str
    """The value of these ranks."""
    there: str
    """The value of the others."""
    started_s: float | None = None
    """When the first of these ranks began the compilation, in seconds since the epoch."""
    serious: bool = False
    """Whether it may hang the ranks or corrupt data."""
    why: str = ""


class RankTime(Struct):
    """The compile time of a rank."""

    rank: int
    compile_time_s: float
    slowest: str = ""
    """The compile id that took longest."""


class RankComparison(Struct):
    """The ranks of a run, compared."""

    times: list[RankTime]
    """The times of the ranks, in the order of the ranks."""
    divergences: list[RankDivergence] = []
    """The earliest first."""
    sentence: str = ""
    """The conclusion: which rank diverged first and where, and which is slowest."""

    @property
    def ranks(self) -> list[int]:
        """The ranks that wrote a log."""
        return [rank_time.rank for rank_time in self.times]


class FigureChange(Struct):
    """A count before and after."""

    name: str
    before: int
    after: int


class TimeChange(Struct):
    """The compile time of a compilation before and after; each was measured once."""

    function: str
    before: str
    """The compile id in the first trace."""
    after: str
    before_s: float
    after_s: float


class CompilationChange(Struct):
    """The differences in a compilation that both traces have."""

    function: str
    before: str
    """The compile id in the first trace."""
    after: str
    graph: str = ""
    """The first text that differs: ``the Dynamo graph, line 6``. Later ones follow from it."""
    line_before: str = ""
    line_after: str = ""
    outcome: tuple[Outcome, Outcome] | None = None
    """The outcomes, if only one of the two failed or fell back to eager."""
    outcome_words: str = ""
    """``compiled → fell back to eager``; empty if the outcomes are the same."""
    recompile: tuple[str, str] | None = None
    """The first reason, if it differs."""
    kernels_gone: list[str] = []
    kernels_new: list[str] = []
    kernels_changed: list[str] = []
    """Kernels with the same operators but different code."""
    guards_gone: list[str] = []
    guards_new: list[str] = []
    is_read: bool = True
    """Whether kernels and guards were compared."""


class ProcessDifference(Struct):
    """The differences between a process of one trace and its partner in the other."""

    before: str
    after: str
    figures: list[FigureChange] = []
    in_changed: list[FigureChange] = []
    """Kernels and guards of the compared compilations that differ or have no partner."""
    compile_time_s: tuple[float, float] = (0.0, 0.0)
    gone: list[CompilationLine] = []
    """Compilations that only the first trace has."""
    new: list[CompilationLine] = []
    """Compilations that only the second trace has."""
    changed: list[CompilationChange] = []
    slower: list[TimeChange] = []
    """Changes of at least a fifth and a tenth of a second, the largest first."""
    faster: list[TimeChange] = []
    unread: int = 0
    """The number of changed compilations whose kernels and guards were not compared."""
    notes: list[str] = []
    """Whether both compiled the same code, and what was not compared, in sentences."""


class TraceDifference(Struct):
    """The differences between two traces, as ``compilescope diff --json`` prints them."""

    before: str = ""
    """The name of the first trace."""
    after: str = ""
    shown: Literal["before", "after"] = "after"
    """Which of the two traces the report holds."""
    processes: list[ProcessDifference] = []
    only_before: list[str] = []
    """Processes without a partner."""
    only_after: list[str] = []

    def without_quotes(self) -> TraceDifference:
        """The same without quotes of graphs, guards and reasons."""
        processes = [
            replace(
                process,
                gone=list(map(_unquoted_line, process.gone)),
                new=list(map(_unquoted_line, process.new)),
                changed=list(map(_unquoted_change, process.changed)),
            )
            for process in self.processes
        ]
        return replace(self, processes=processes)


def _unquoted_line(line: CompilationLine) -> CompilationLine:
    return replace(line, recompile=line.recompile and _LEFT_OUT)


def _unquoted_change(change: CompilationChange) -> CompilationChange:
    return replace(
        change,
        line_before=change.line_before and _LEFT_OUT,
        line_after=change.line_after and _LEFT_OUT,
        recompile=change.recompile and (_LEFT_OUT, _LEFT_OUT),
        guards_gone=[_LEFT_OUT] * len(change.guards_gone),
        guards_new=[_LEFT_OUT] * len(change.guards_new),
    )


class StackLine(Struct):
    """A call in a tree of calls."""

    depth: int
    """The number of calls above it in the tree."""
    where: SourceLine
    compilations: list[str] = []
    """The ids of the compilations that Dynamo started there."""


class Stacks(Struct):
    """The calls that led to each compilation, as a tree."""

    processes: list[str] = []
    """The ranks whose compilations have these stacks."""
    lines: list[StackLine] = []
    """Each call before the calls in it."""
    unknown: list[str] = []
    """Compilations whose stack torch did not log."""
    left_out: int = 0
    """How many compilations are left out because there are too many."""


class ProcessSummary(Struct):
    """The compilations of one process."""

    name: str
    compilations: int
    recompiles: int
    graph_breaks: int
    failures: int
    compile_time_s: float
    fallbacks: int = 0
    """Compilations after which torch ran the frame in eager."""
    unfinished: list[str] = []
    """Compile ids of compilations that Dynamo started and whose end torch did not log."""
    caches: dict[str, dict[str, int]] = {}
    """Cache → how often it answered hit, miss, bypass."""
    problems: list[Problem] = []
    counts: list[str] = []
    """What happened, in short phrases: ``3 compilations``, ``1 recompile``."""


class TraceSummary(Struct):
    """The summary of a trace, as ``compilescope trace --json`` prints it."""

    name: str
    environment: Environment
    processes: list[ProcessSummary]
    slowest: list[CompilationLine] = []
    fix_first: list[LostTime] = []
    """Avoidable compile time, the longest first."""
    ranks: RankComparison | None = None
    difference: TraceDifference | None = None
    """The difference from the trace that it was opened with."""
    stacks: list[Stacks] = []
    """Empty unless requested."""
    is_followed: bool = False
    """Whether records that torch logs from now on are read too."""
    written: str = ""
    """When a log was last written to (ISO 8601)."""
    problems: list[Problem] = []
