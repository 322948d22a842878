"""Ways to deploy a call: the measured cost, the shipped files and the restrictions of each."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Literal

from ..problem import Problem, Struct
from .timings import Speedup

WHOLE = "torch.compile"
"""The way that compiles the whole call with the settings of the variant."""
BLOCKS, NESTED = "blocks compiled", "nested region"
"""The ways that compile a model's repeated block once."""
WAY_STUDIES = ("deploy", "blocks")
"""The studies that measure ways to deploy."""
Objective = Literal["latency", "cold", "balanced"]

WAYS_UNDECIDED = (
    "No compiled way that can be recommended is clearly faster than eager: the measurement is too "
    "noisy or too short. "
    "Measure again on a quiet machine."
)
"""The text in place of a recommendation if noise hides whether a way is faster than eager."""

WAYS_SLOWER = (
    "No compiled way that can be recommended is faster than eager. Leave the call uncompiled."
)
"""The text in place of a recommendation if that is so, and eager is not among the ways."""

WAYS_PENDING = "{} of {} ways are measured: no recommendation yet."
"""The text in place of a recommendation while ways are measured."""

PACKAGE = "model.pt2"
"""The file of AOTInductor's package in the code of its way."""

WRITTEN = "pass  # the package is there"
"""What writes the shipped files where the way itself has written them."""

_IMPORTS = {
    "functools.": "import functools",
    "os.": "import os",
    "Path(": "from pathlib import Path",
}


def with_imports(code: str) -> str:
    """A way's code after the imports that it needs.

    Examples
    --------
    >>> print(with_imports("compiled = torch.compile(model)"))
    import torch
    <BLANKLINE>
    compiled = torch.compile(model)
    """
    lines = [line for use, line in _IMPORTS.items() if re.search(rf"\b{re.escape(use)}", code)]
    return "\n".join([*lines, *([""] if lines else []), "import torch", "", code])


def in_contexts(code: str, contexts: Sequence[str]) -> str:
    """A way's code inside the contexts in which it was measured.

    Examples
    --------
    >>> print(in_contexts("compiled = torch.compile(model)", ["torch.no_grad()"]))
    with torch.no_grad():  # calls of compiled, too
        compiled = torch.compile(model)
    """
    if not contexts:
        return code
    return f"with {', '.join(contexts)}:  # calls of compiled, too\n{textwrap.indent(code, '    ')}"


class DeployWay(Struct):
    """One way to deploy a call. Each figure is wall-clock time in a separate process."""

    name: str
    """Its name: ``eager``, ``torch.compile``."""
    title: str = ""
    """A description in a few words."""
    code: str = ""
    """The code that the measuring processes ran to create ``compiled``, without its imports,
    `contexts` and `process_settings`."""
    ship_code: str = ""
    """Code that writes the shipped files, after the first call."""
    load_code: str = ""
    """Code that creates ``compiled`` from the shipped files, in another process."""
    contexts: list[str] = []
    """torch's modes in which its processes ran, as the contexts of a ``with`` statement:
    ``torch.no_grad()``, ``torch.autocast("cpu", dtype=torch.bfloat16)``."""
    process_settings: list[str] = []
    """torch's process-wide settings in its processes that differ from torch's defaults and change
    compiled code, as statements: ``torch.set_default_dtype(torch.float64)``."""
    paste_code: str = ""
    """All the code to paste: imports, `process_settings`, the creation of ``compiled`` from
    ``model`` (for a function: ``fn``), and writing and loading the shipped files, in its
    `contexts`."""
    cold_s: float | None = None
    """Time to the first result with empty caches (s)."""
    cached_s: float | None = None
    """Time to the first result with the caches that the first process filled (s)."""
    shipped_s: float | None = None
    """Time to the first result with empty caches and the shipped files (s)."""
    first_s: float | None = None
    """Time to the first result in a new process (s): with the shipped files if that works and is
    faster, otherwise with empty caches."""
    call_us: float | None = None
    """The median latency of later calls (µs)."""
    call_interval_us: tuple[float, float] | None = None
    """The 95 % interval of that median (µs); None if there are too few samples."""
    eager_us: float | None = None
    """Eager's median latency in the same process (µs), interleaved with these calls."""
    speedup: Speedup | None = None
    """The speedup over eager, from the interleaved calls."""
    settled: bool = True
    """Whether the latencies, eager's included, had settled when the warm-up ended."""
    relative: float | None = None
    """The latency of later calls divided by eager's, from the interleaved calls; 1 for eager. Use
    it to compare ways: their processes ran at different times, and load on the machine slows eager
    in the same process too."""
    memory_bytes: float | None = None
    """The peak memory of a process until the first result (bytes): the resident size, or on a GPU
    the memory that torch allocated there."""
    ships: list[str] = []
    """Names of the files to ship in addition to the model's code and weights."""
    ship_bytes: int | None = None
    """The size of these files (bytes)."""
    accurate: bool | None = None
    """Whether its results equal eager's, within the tolerances of the dtypes."""
    shipped_accurate: bool | None = None
    """The same for a process that loads the shipped files."""
    as_eager: bool | None = None
    """Whether its results equal eager's, also those with the shipped files where they were tried.
    None where they were not compared."""
    comparison: str = ""
    """Which result differs from eager's, and by how much; or why none was compared."""
    restrictions: list[str] = []
    """Its restrictions, in a few words each."""
    safe: bool = True
    """Whether other arguments recompile or raise an error, instead of silently giving wrong
    results."""
    is_pareto: bool = False
    """Whether no other way of the variant is faster in both the first call and later calls."""
    best_for: list[Objective] = []
    """The objectives for which `Report.best` chooses it among the variant's ways, without a memory
    limit. Empty for all ways if noise hides whether one is faster than eager."""
    took_s: float | None = None
    """How long measuring it took, all its processes together (s)."""
    machine: str = ""
    """Where it was measured if not on the kernel's machine: ``node7, cuda:0 NVIDIA H100``."""
    why: str = ""
    """Why it was not measured."""
    shipped_why: str = ""
    """Why nothing is shipped, or why shipping failed."""
    problem: Problem | None = None
    """The error, if measuring it failed."""
