"""Which wrapper serves each graph of a tiered compilation, and how that came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from .problem import Problem, Struct
from .report import renderers

TierName = Literal["python", "cpp"]
TierState = Literal[
    "serves", "replaced", "waits", "builds", "checks", "checked", "failed", "unwanted"
]


class Tier(Struct):
    """One wrapper of a graph."""

    name: TierName
    state: TierState
    """serves; replaced (by the next tier); waits (for the process that builds); builds; checks (it
    is there, and the next call compares it with the first); checked (it agrees with the first, to
    which the graph is pinned); failed (``problem`` says why); unwanted
    (``why`` says why)."""
    seconds: float | None = None
    """What compiling it took: the first tier in your process, the next in one of its own. Of a
    first tier that torch had in its caches, what finding it took."""
    load_s: float | None = None
    """What loading it took: beside your calls, or at the first call if it was cached."""
    cached: bool = False
    """Whether it was built and checked by an earlier process."""
    why: str = ""
    """Why it is unwanted."""
    problem: Problem | None = None
    """Why it failed."""


class GraphTiers(Struct):
    """One graph that Inductor compiled, and its wrappers."""

    compilation: str
    """torch's compile id: ``0/0``."""
    kind: Literal["inference", "forward", "backward"]
    serving: TierName
    """The tier that serves the next call."""
    tiers: list[Tier]
    swapped_s: float | None = None
    """Seconds from when the first tier was ready until the next replaced it."""
    number: int = 0
    """Tells the graphs of a process apart."""
    pinned: bool = False
    """Whether it stays with the first tier until it is unpinned."""

    def __str__(self) -> str:
        return renderers["tiers text"](Tiers(graphs=[self]))


class Tiers(Struct):
    """The graphs of a tiered compilation, as they were when it was asked."""

    graphs: list[GraphTiers] = []

    def __str__(self) -> str:
        return renderers["tiers text"](self)

    def __iter__(self) -> Iterator[GraphTiers]:
        return iter(self.graphs)

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, place: int) -> GraphTiers:
        return self.graphs[place]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
