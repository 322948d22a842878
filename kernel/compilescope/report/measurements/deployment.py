"""Ways to deploy a call, measured: what each costs, ships and gives up."""

from __future__ import annotations

from typing import Literal

from ..problem import Problem, Struct
from .timings import Speedup

Objective = Literal["latency", "cold", "balanced"]

PRELUDE = "import functools\nfrom pathlib import Path\n\nimport torch\n"
"""What the code of every way begins with."""


class DeployWay(Struct):
    """One way to deploy a call. Each figure is of a process of its own, on the wall clock."""

    name: str
    title: str = ""
    """What it is, in words."""
    code: str = ""
    """Makes ``compiled``: what the processes ran, after `PRELUDE`."""
    ship_code: str = ""
    """Writes what is shipped, after the first call."""
    load_code: str = ""
    """Makes ``compiled`` from what is shipped, in another process."""
    paste_code: str = ""
    """All of it to paste: imports, what makes ``compiled`` of ``model`` (of a function: ``fn``),
    how what is shipped is written and loaded."""
    cold_s: float | None = None
    """Until the first result, with nothing cached."""
    cached_s: float | None = None
    """Until the first result, with the caches of the first process."""
    shipped_s: float | None = None
    """Until the first result, with nothing but what is shipped."""
    first_s: float | None = None
    """Until the first result in a new process: with what is shipped where that works and is
    sooner, else with nothing cached."""
    call_us: float | None = None
    """The median of later calls."""
    call_interval_us: tuple[float, float] | None = None
    eager_us: float | None = None
    """Eager's median in the same process, in turns with these calls."""
    speedup: Speedup | None = None
    """Over eager, from those turns."""
    relative: float | None = None
    """A later call's time as a share of eager's, from those turns; 1 for eager. It compares ways,
    whose processes ran at different times: what slows the machine slows eager beside it too."""
    memory_bytes: float | None = None
    """The most that a process held until the first result: the largest resident size, or on a GPU
    what torch allocated there."""
    ships: list[str] = []
    """Names of the files that are shipped beside the model's own code and weights."""
    ship_bytes: int | None = None
    accurate: bool | None = None
    """Whether its results are eager's, within the tolerances of the types."""
    shipped_accurate: bool | None = None
    """The same, of what was shipped."""
    gives_up: list[str] = []
    safe: bool = True
    """Whether a call that it was not compiled for fails or compiles again: never a wrong result."""
    is_pareto: bool = False
    """Whether no other way of the variant beats it in both the first call and later calls."""
    best_for: list[Objective] = []
    """What `Report.best` takes it for, of the variant's ways and without a limit of memory."""
    why: str = ""
    """Why it was not measured here."""
    shipped_why: str = ""
    """Why nothing is shipped, or what failed there."""
    problem: Problem | None = None
