"""Whether CUDA graphs were captured, how often they were replayed, and why not: structs."""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct


class Skip(Struct):
    """Why torch did without CUDA graphs."""

    reason: str
    """As torch says it."""
    compilation: str = ""
    meaning: str = ""
    remedy: str = ""
    setting: str = ""
    """The one setting that would have it captured, as code, where there is one."""
    where: SourceLine | None = None


class Partition(Struct):
    """A part of a graph that is, or is not, captured by itself."""

    name: str
    captured: bool = True
    compilation: str = ""
    kernels: int = 0
    why: str = ""


class CudaGraphs(Struct):
    """What became of CUDA graphs under a variant."""

    outcome: Literal["captured", "partly", "skipped", "not asked", "no GPU", "unknown"] = "unknown"
    why: str = ""
    captured: int = 0
    replayed: int = 0
    re_recorded: int = 0
    calls: int = 0
    """Over how many calls those were counted."""
    skips: list[Skip] = []
    partitions: list[Partition] = []
    memory_bytes: float | None = None
    """What their pool holds."""
    how: str = ""
