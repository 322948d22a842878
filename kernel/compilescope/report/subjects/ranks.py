"""One rank of a distributed run and its differences from other ranks: structs of the report."""

from __future__ import annotations

from typing import Literal

from ..compilation.parts import Direction
from ..problem import SourceLine, Struct


class Collective(Struct):
    """A collective that the compiled code calls."""

    operator: str
    name: str = ""
    """The operator without its namespace and overload: ``all_reduce_``."""
    compilation: str = ""
    variant: str = ""
    direction: Direction = "inference"
    node: str = ""
    group: str = ""
    reduction: str = ""
    """``sum``, ``max``; empty if nothing is reduced."""
    outside: bool = False
    """Whether ``torch.distributed`` called it outside the compiled code, as DistributedDataParallel
    does."""
    bytes: float | None = None
    shape: list[str] = []
    dtype: str = ""
    line: int | None = None
    """The line of the wrapper."""
    waited: int | None = None
    """The line that waits for its result."""
    between: int | None = None
    """How many kernels overlap with it."""
    sources: list[SourceLine] = []


class RankDifference(Struct):
    """A difference between this rank and another."""

    what: str
    """``guards of 0/0``, ``the Python wrapper of 0/0, line 12``."""
    kind: Literal["compilations", "graph", "code", "kernels", "guards", "collectives", "settings"]
    here: str = ""
    there: str = ""
    other: int = 0
    """The other rank."""
    serious: bool = False
    """Whether it may cause a hang or wrong results, such as another order of collectives."""
    why: str = ""
    where: SourceLine | None = None
    """The line that makes one of the ranks compile more; None if unknown."""


class Rank(Struct):
    """The rank that a report belongs to."""

    rank: int
    size: int
    backend: str = ""
    device: str = ""
    collectives: list[Collective] = []
    differences: list[RankDifference] = []
    same: bool = True
    """Whether it compiled the same code as the ranks that it is compared with."""
    group: str = ""
    """The id that the reports of one run share."""
    title: str = ""
    """``Rank 0 of 2, gloo on cpu``."""
    outcome: str = ""
    """The result of the comparison, in a few words; empty if there was nothing to compare."""
