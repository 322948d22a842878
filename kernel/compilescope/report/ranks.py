"""One rank of a distributed run, and where it differs from the others: structs of the report."""

from __future__ import annotations

from typing import Literal

from .problem import SourceLine, Struct


class Collective(Struct):
    """A collective that the compiled code calls."""

    operator: str
    compilation: str = ""
    variant: str = ""
    direction: Literal["inference", "forward", "backward"] = "inference"
    node: str = ""
    group: str = ""
    reduction: str = ""
    """``sum``, ``max``; empty where nothing is reduced."""
    outside: bool = False
    """Not of the compiled code: ``torch.distributed`` called it beside that, as
    DistributedDataParallel does."""
    bytes: float | None = None
    shape: list[str] = []
    dtype: str = ""
    line: int | None = None
    """Of the wrapper."""
    waited: int | None = None
    """The line at which its result is waited for."""
    between: int | None = None
    """How many kernels run meanwhile."""
    sources: list[SourceLine] = []


class RankDifference(Struct):
    """Something that another rank has otherwise."""

    what: str
    """``guards of 0/0``, ``the Python wrapper of 0/0, line 12``."""
    kind: Literal["compilations", "graph", "code", "kernels", "guards", "collectives", "settings"]
    here: str = ""
    there: str = ""
    other: int = 0
    """The other rank."""
    serious: bool = False
    """It may hang or go wrong: another order of collectives, say."""
    why: str = ""


class Rank(Struct):
    """Which rank a report is of."""

    rank: int
    size: int
    backend: str = ""
    device: str = ""
    collectives: list[Collective] = []
    differences: list[RankDifference] = []
    same: bool = True
    group: str = ""
    """What the reports of one run share."""
