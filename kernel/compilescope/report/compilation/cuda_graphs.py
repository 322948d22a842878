"""Whether CUDA graphs were captured, how often they were replayed, and why not: structs."""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct


class Skip(Struct):
    """Why torch skipped CUDA graphs."""

    reason: str
    """Torch's reason."""
    compilation: str = ""
    meaning: str = ""
    remedy: str = ""
    setting: str = ""
    """The setting that would allow the capture, as code, if there is one."""
    where: SourceLine | None = None


class Partition(Struct):
    """A partition of a graph, which is or is not captured separately."""

    name: str
    captured: bool = True
    compilation: str = ""
    kernels: int = 0
    why: str = ""
    words: str = ""
    """``captured, 3 launches``."""


class CudaGraphs(Struct):
    """Whether and how a variant used CUDA graphs."""

    outcome: Literal["captured", "partly", "skipped", "not asked", "no GPU", "unknown"] = "unknown"
    why: str = ""
    captured: int = 0
    replayed: int = 0
    re_recorded: int = 0
    calls: int = 0
    """The number of calls over which those were counted."""
    skips: list[Skip] = []
    partitions: list[Partition] = []
    memory_bytes: float | None = None
    """The size of their memory pool."""
    how: str = ""
    words: str = ""
    """The outcome in words: ``would be captured in part``."""
    counts: str = ""
    """``in 4 calls: 1 recorded, 2 replayed, 0 recorded again``; empty if nothing was counted."""
