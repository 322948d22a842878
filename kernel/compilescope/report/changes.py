"""What a variant changed in comparison with another: structs of the report."""

from __future__ import annotations

from typing import Literal

from .problem import Struct


class KernelChange(Struct):
    """A kernel of a variant beside the one that does its work in the baseline."""

    kernel: str = ""
    """Empty: only the baseline has one."""
    baseline: str = ""
    """Empty: only this variant has one."""
    outcome: Literal["identical", "renamed", "differs", "added", "removed"] = "identical"
    """renamed: the same but for its name."""
    lines: int = 0
    """How many lines differ."""
    why: str = ""
    compilation: str = ""
    baseline_compilation: str = ""
    direction: Literal["inference", "forward", "backward"] = "inference"
    language: str = ""
    """As in `Kernel.language`."""


class Change(Struct):
    """Something else than a kernel that differs."""

    kind: Literal["setting", "graph", "wrapper", "guards", "breaks", "compilations", "graphs"]
    what: str
    baseline: str = ""
    here: str = ""
    why: str = ""


class Changes(Struct):
    """What a variant changed, against another variant of the report."""

    baseline: str
    kernels: list[KernelChange] = []
    changes: list[Change] = []
    summary: str = ""
    """One sentence."""
    only_inductor: list[str] = []
    """What a report has of Inductor alone, and is therefore missing here."""
    switches: list[str] = []
    """The switches in which the two differ: fields of `Variant`."""
