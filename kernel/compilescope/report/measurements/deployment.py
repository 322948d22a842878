"""Ways to deploy a call: the measured cost, the shipped files and the restrictions of each."""

from __future__ import annotations

from typing import Literal

from ..problem import Problem, Struct
from .timings import Speedup

BLOCKS, NESTED = "blocks compiled", "nested region"
"""The ways that compile a model's repeated block once."""
Objective = Literal["latency", "cold", "balanced"]

PRELUDE = "import functools\nfrom pathlib import Path\n\nimport torch\n"
"""The beginning of every way's code."""


class DeployWay(Struct):
    """One way to deploy a call. Each figure is wall-clock time in a separate process."""

    name: str
    title: str = ""
    """What it is, in words."""
    code: str = ""
    """Code that creates ``compiled``, as the processes ran it after `PRELUDE`."""
    ship_code: str = ""
    """Code that writes the shipped files, after the first call."""
    load_code: str = ""
    """Code that creates ``compiled`` from the shipped files, in another process."""
    paste_code: str = ""
    """All the code to paste: imports, the creation of ``compiled`` from ``model`` (for a function:
    ``fn``), and writing and loading the shipped files."""
    cold_s: float | None = None
    """Until the first result, with nothing cached."""
    cached_s: float | None = None
    """Until the first result, with the caches of the first process."""
    shipped_s: float | None = None
    """Until the first result, with nothing but the shipped files."""
    first_s: float | None = None
    """Until the first result in a new process: with the shipped files if that works and is faster,
    otherwise with nothing cached."""
    call_us: float | None = None
    """The median of later calls."""
    call_interval_us: tuple[float, float] | None = None
    eager_us: float | None = None
    """Eager's median in the same process, interleaved with these calls."""
    speedup: Speedup | None = None
    """The speedup over eager, from the interleaved calls."""
    relative: float | None = None
    """A later call's time as a share of eager's, from the interleaved calls; 1 for eager. It makes
    ways comparable whose processes ran at different times, since load on the machine slows eager in
    the same process too."""
    memory_bytes: float | None = None
    """The peak memory of a process until the first result: the largest resident size, or on a GPU
    torch's allocations there."""
    ships: list[str] = []
    """Names of the files that are shipped in addition to the model's code and weights."""
    ship_bytes: int | None = None
    accurate: bool | None = None
    """Whether its results equal eager's, within the tolerances of the dtypes."""
    shipped_accurate: bool | None = None
    """The same for the shipped files."""
    gives_up: list[str] = []
    safe: bool = True
    """Whether a call that it was not compiled for fails or recompiles, and never returns a wrong
    result."""
    is_pareto: bool = False
    """Whether no other way of the variant beats it in both the first call and later calls."""
    best_for: list[Objective] = []
    """The objectives for which `Report.best` chooses it among the variant's ways, without a memory
    limit."""
    why: str = ""
    """Why it was not measured."""
    shipped_why: str = ""
    """Why nothing is shipped, or why shipping failed."""
    problem: Problem | None = None
