"""A sweep: a subject under many variants and shapes, each cell in a separate process.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..problem import Problem, Struct
from ..variant import Effective, Variant
from .accuracy import OutputError
from .timings import CompileTime, Timing

CellState = Literal[
    "waiting", "running", "done", "failed", "crashed", "timeout", "memory", "cancelled"
]


STATE_WORDS: dict[CellState, str] = {
    "done": "measured",
    "failed": "failed",
    "crashed": "crashed",
    "timeout": "timed out",
    "memory": "out of memory",
    "cancelled": "canceled",
    "running": "running",
    "waiting": "waiting",
}


class SweepCell(Struct, kw_only=True):
    """One variant with one set of arguments, measured cold in a separate process."""

    key: str
    """The key, equal for the same subject, variant, arguments, torch and device. A resumed sweep
    finds finished cells by it."""
    name: str
    """The variant's name."""
    variant: Variant
    """The settings that were measured."""
    shape: str = ""
    """The name of the set of arguments; empty where there is only one."""
    arguments: list[str] = []
    """One line per argument: ``x: float32[4, 8] cpu``."""
    state: CellState = "waiting"
    """failed: torch raised an error. crashed: the process died. timeout, memory: the sweep ended
    it."""
    step: str = ""
    """The step of a running cell: loading, running eager, compiling, waiting, measuring."""
    timing: Timing | None = None
    """Its ratio is to eager, measured interleaved in the same process."""
    throughput_per_s: float | None = None
    """Calls per second, or items per second if the sweep knows the items per call."""
    compile_time: CompileTime | None = None
    """The time of the first call with cold caches, and its parts."""
    memory_bytes: float | None = None
    """The peak memory of a call beyond what was held before it: of torch's allocator on a GPU, of
    the process on the CPU."""
    accuracy: list[OutputError] = []
    """The differences of its results from eager's."""
    accurate: bool | None = None
    """Whether they are within the tolerances; None if they were not compared."""
    result: str = ""
    """The comparison with eager in words: ``within 1.2e-06``; empty if it was not made."""
    effective: list[Effective] = []
    """Settings whose effective value differs from the request."""
    problem: Problem | None = None
    """Why it has no measurement."""
    worker: str = ""
    """Where it ran: host and process."""
    device: str = ""
    """The device that it was measured on."""
    started_s: float | None = None
    """When it started, in seconds since 1970."""
    took_s: float | None = None
    """How long it took (s)."""
    tries: int = 0
    """How many times it was started: more than once if a worker died."""
    reused: bool = False
    """Whether an earlier sweep measured it."""

    @property
    def title(self) -> str:
        """The variant's name, and the shape's if there is one."""
        return f"{self.name} on {self.shape}" if self.shape else self.name

    @property
    def has_ended(self) -> bool:
        """Whether it neither waits nor runs."""
        return self.state not in ("waiting", "running")


class Sweep(Struct, kw_only=True):
    """The cells of a sweep, in the order requested."""

    id: str = ""
    """Identifies a sweep within its process."""
    cells: list[SweepCell] = []
    """The cells: by shape, and then by variant."""
    state: Literal["waiting", "running", "done", "cancelled", "failed"] = "waiting"
    """Whether it is running, and how it ended."""
    shapes: list[str] = []
    """The names of the sets of arguments."""
    items: float = 1.0
    """Items per call, for the throughput."""
    unit: str = "calls"
    """The name of the items."""
    folder: str = ""
    """The folder of finished cells."""
    executor: str = ""
    """What ran the cells, in words."""
    started_s: float | None = None
    """When it started, in seconds since 1970."""
    took_s: float | None = None
    """How long it took (s)."""
    left: str = ""
    """The estimated time of the remaining cells, in words; empty if unknown."""
    waits_for: str = ""
    """What it waits for before any cell can start, in words; empty if nothing."""
    cell_s: float | None = None
    """The estimated time of a cell, from the cells of this sweep or of earlier ones."""
    status: str = ""
    """The state of the sweep and the number of finished cells: ``Sweeping: 2 of 6 cells``."""
    status_detail: str = ""
    """The running cells, the remaining or elapsed time, and how many cells have no result or are
    reused."""
    fraction: float = 0.0
    """The part of the cells that have ended and were not canceled, from 0 to 1."""
    winner: str = ""
    """The key of the fastest cell with correct results; per shape, see `winners`."""
    winners: dict[str, str] = {}
    """Shape → the key of its winner."""
    pareto: list[str] = msgspec.field(default_factory=list)
    """Keys of the cells that no other beats in both compile time and latency, by shape."""
    code: str = ""
    """The winner as code to paste; empty if it is not clearly faster than eager."""
    codes: dict[str, str] = {}
    """Shape → its winner as code to paste, if that is clearly faster than eager."""
    verdicts: dict[str, str] = {}
    """Shape → the fastest cell, in words, as far as the intervals allow a statement."""
    overall: str = ""
    """The variant that is fastest over all shapes, or that none is clearly faster than eager, in
    words; empty if the verdict of the only shape says it."""
    problems: list[Problem] = []
    """Problems of the sweep itself; those of a cell are in `SweepCell.problem`."""
