"""A trace at a glance: its processes, what cost time and need not, its ranks, and another trace."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from .environment import Environment
from .problem import Problem, SourceLine, Struct

_LEFT_OUT = "(left out)"

Outcome = Literal["compiled", "failed", "eager"]
DivergenceKind = Literal[
    "compilations", "graph", "cache", "collectives", "tensors", "runtimes", "execution"
]


class CompilationLine(Struct):
    """A compilation in the list of all."""

    id: str
    process: str
    frame: SourceLine | None = None
    started_s: float | None = None
    """Seconds since the epoch."""
    duration_s: float | None = None
    """None while it is not finished, or where torch logged no time."""
    recompile: str = ""
    """The first reason."""
    graph_breaks: int = 0
    outcome: Outcome = "compiled"
    """failed: the error reached the caller. eager: torch left the frame to eager."""
    caches: dict[str, str] = {}
    """Cache → its answer: hit, miss or bypass."""
    nodes: int | None = None
    """Of Dynamo's graph; None where torch logged no number."""


class LostTime(Struct):
    """Compile time with one cause."""

    kind: Literal["failure", "recompiles", "graph break", "restarts", "cache bypass"]
    seconds: float
    """Measured by torch, of the process where it is longest: ranks compile at the same time."""
    what: str
    """``4 recompiles of forward``."""
    why: str = ""
    remedy: str = ""
    where: SourceLine | None = None
    process: str = ""
    compilations: list[str] = []
    """Compile ids in that process."""


class RankDivergence(Struct):
    """Something that some ranks compiled differently from the rest."""

    kind: DivergenceKind
    what: str
    """``the Dynamo graph of 0/0, line 12``."""
    compilation: str
    ranks: list[int]
    """Those that differ from most of the others."""
    here: str
    """What these have."""
    there: str
    """What the others have."""
    started_s: float | None = None
    """When the first of these ranks began the compilation, in seconds since the epoch."""
    serious: bool = False
    """It may hang the ranks or mix up data."""
    why: str = ""


class RankTime(Struct):
    """How long a rank compiled."""

    rank: int
    compile_time_s: float
    slowest: str = ""
    """The compile id that took longest."""


class RankComparison(Struct):
    """The ranks of a run, compared."""

    times: list[RankTime]
    """In the order of the ranks."""
    divergences: list[RankDivergence] = []
    """The earliest first."""
    sentence: str = ""
    """What comes of it: who diverged first and where, and who is slowest."""

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
    """What differs in a compilation that both traces have."""

    function: str
    before: str
    """The compile id in the first trace."""
    after: str
    graph: str = ""
    """The first text that differs: ``the Dynamo graph, line 6``. Later ones follow from it."""
    line_before: str = ""
    line_after: str = ""
    outcome: tuple[Outcome, Outcome] | None = None
    """Where one failed, or was left to eager, and the other was not."""
    recompile: tuple[str, str] | None = None
    """The first reason, where it differs."""
    kernels_gone: list[str] = []
    kernels_new: list[str] = []
    kernels_changed: list[str] = []
    """Of the same operators, with other code."""
    guards_gone: list[str] = []
    guards_new: list[str] = []
    is_read: bool = True
    """Whether kernels and guards were compared."""


class ProcessDifference(Struct):
    """What differs between a process of the one trace and its partner in the other."""

    before: str
    after: str
    figures: list[FigureChange] = []
    in_changed: list[FigureChange] = []
    """Kernels and guards of the compilations that differ or have no partner, and were read."""
    compile_time_s: tuple[float, float] = (0.0, 0.0)
    gone: list[CompilationLine] = []
    """Compilations that only the first trace has."""
    new: list[CompilationLine] = []
    """Compiled anew: only the second has them."""
    changed: list[CompilationChange] = []
    slower: list[TimeChange] = []
    """By a fifth and a tenth of a second at least, the most seconds first."""
    faster: list[TimeChange] = []
    unread: int = 0
    """Of how many changed compilations kernels and guards were not compared."""


class TraceDifference(Struct):
    """What differs between two traces; what ``compilescope diff --json`` prints of them."""

    before: str = ""
    """What the first trace is called."""
    after: str = ""
    shown: Literal["before", "after"] = "after"
    """Which of the two the report holds."""
    processes: list[ProcessDifference] = []
    only_before: list[str] = []
    """Processes without a partner."""
    only_after: list[str] = []

    def without_quotes(self) -> TraceDifference:
        """The same without what it quotes of graphs, guards and reasons."""
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
    """How many calls of the tree it stands in."""
    where: SourceLine
    compilations: list[str] = []
    """The ids of what Dynamo started to compile there."""


class Stacks(Struct):
    """Which calls led to which compilations, as a tree whose branches share their beginnings."""

    processes: list[str] = []
    """Those whose compilations have these stacks."""
    lines: list[StackLine] = []
    """Each call before the calls in it."""
    unknown: list[str] = []
    """Compilations whose stack torch did not log."""
    left_out: int = 0
    """How many compilations have no line here, since there are too many."""


class ProcessSummary(Struct):
    """What one process compiled."""

    name: str
    compilations: int
    recompiles: int
    graph_breaks: int
    failures: int
    compile_time_s: float
    unfinished: list[str] = []
    """Compile ids of what Dynamo started on and torch did not say the end of."""
    caches: dict[str, dict[str, int]] = {}
    """Cache → how often it answered hit, miss, bypass."""
    problems: list[Problem] = []


class TraceSummary(Struct):
    """A trace at a glance; what ``compilescope trace --json`` prints."""

    name: str
    environment: Environment
    processes: list[ProcessSummary]
    slowest: list[CompilationLine] = []
    fix_first: list[LostTime] = []
    """What cost compile time and need not, the longest first."""
    ranks: RankComparison | None = None
    difference: TraceDifference | None = None
    """From the trace that it was opened beside."""
    stacks: list[Stacks] = []
    """Empty where nobody asked for them."""
    is_followed: bool = False
    """What torch logs from now on is read too."""
    written: str = ""
    """When a log was last written to (ISO 8601)."""
    problems: list[Problem] = []
