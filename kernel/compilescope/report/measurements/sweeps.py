"""A sweep: a subject under many variants and shapes, each cell in a process of its own.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..compilation.artifacts import Effective
from ..problem import Problem, Struct
from ..variant import Variant
from .timings import CompileTime, OutputError, Timing

CellState = Literal[
    "waiting", "running", "done", "failed", "crashed", "timeout", "memory", "cancelled"
]


class SweepCell(Struct, kw_only=True):
    """One variant on one set of arguments, cold, in a process of its own."""

    key: str
    """The same for the same subject, variant, arguments, torch and device: what a resumed sweep
    goes by."""
    name: str
    """The variant's."""
    variant: Variant
    shape: str = ""
    """The name of the set of arguments; empty where there is only one."""
    arguments: list[str] = []
    state: CellState = "waiting"
    """failed: torch refused it. crashed: the process died. timeout, memory: it was ended."""
    step: str = ""
    """Of one that runs: loading, running eager, compiling, waiting, measuring."""
    timing: Timing | None = None
    """Its ratio is to eager, measured in the same process in turns with it."""
    throughput_per_s: float | None = None
    """Calls, or items where the sweep was told how many a call has."""
    compile_time: CompileTime | None = None
    memory_bytes: float | None = None
    """The most that a call took beyond what was held before: on the GPU by torch's allocator, on
    the CPU of the process."""
    accuracy: list[OutputError] = []
    accurate: bool | None = None
    effective: list[Effective] = []
    """Settings that torch carried out otherwise."""
    problem: Problem | None = None
    worker: str = ""
    """Where it ran: host and process."""
    device: str = ""
    started_s: float | None = None
    took_s: float | None = None
    tries: int = 0


class Sweep(Struct, kw_only=True):
    """The cells of a sweep, in the order in which they were asked for."""

    id: str = ""
    cells: list[SweepCell] = []
    state: Literal["waiting", "running", "done", "cancelled", "failed"] = "waiting"
    shapes: list[str] = []
    items: float = 1.0
    """Items a call, by which throughput counts."""
    unit: str = "calls"
    folder: str = ""
    """Where finished cells are kept."""
    executor: str = ""
    started_s: float | None = None
    took_s: float | None = None
    winner: str = ""
    """The key of the fastest cell that is right; per shape, see `winners`."""
    winners: dict[str, str] = {}
    """Shape → the key of its winner."""
    pareto: list[str] = msgspec.field(default_factory=list)
    """Keys of the cells that no other beats in both compile time and latency, by shape."""
    code: str = ""
    """The winner, to paste."""
    codes: dict[str, str] = {}
    """Shape → its winner, to paste."""
    verdicts: dict[str, str] = {}
    """Shape → which cell is fastest, no more than what the intervals allow, in words."""
    problems: list[Problem] = []
