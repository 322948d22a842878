"""The differences between two variants: structs of the report."""

from __future__ import annotations

from typing import Literal

from .compilation.parts import Direction
from .problem import Struct


class KernelChange(Struct):
    """A kernel of a variant and its counterpart in the baseline."""

    kernel: str = ""
    """Empty if only the baseline has one."""
    baseline: str = ""
    """Empty if only this variant has one."""
    outcome: Literal["identical", "renamed", "differs", "added", "removed"] = "identical"
    """renamed: identical except for its name."""
    lines: int = 0
    """The number of lines that differ."""
    why: str = ""
    compilation: str = ""
    baseline_compilation: str = ""
    direction: Direction = "inference"
    language: str = ""
    """As `Kernel.language`."""


class Change(Struct):
    """A difference other than a kernel."""

    kind: Literal["setting", "graph", "wrapper", "guards", "breaks", "compilations", "graphs"]
    what: str
    baseline: str = ""
    here: str = ""
    why: str = ""


class Changes(Struct):
    """The differences between a variant and another variant of the report."""

    baseline: str
    kernels: list[KernelChange] = []
    changes: list[Change] = []
    summary: str = ""
    """One sentence."""
    only_inductor: list[str] = []
    """Parts that only Inductor produces, and that are therefore not compared."""
    backend_words: str = ""
    """Which those are, as a sentence; empty for Inductor."""
    switches: list[str] = []
    """The switches in which the two differ: fields of `Variant`."""
