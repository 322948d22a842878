"""Which wrapper serves each graph of a tiered compilation, and how that came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from .problem import Problem, Struct
from .report import renderers
from .units import duration

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


class Gain(Struct):
    """What a swap gained: calls that both wrappers served in turns after it, timed."""

    python_us: float
    """The median time of a call of the graph under the Python wrapper (µs)."""
    cpp_us: float
    """The same under the C++ wrapper."""
    python_quartiles_us: tuple[float, float]
    """The lower and the upper quartile: half of the calls lie between them."""
    cpp_quartiles_us: tuple[float, float]
    calls: int
    """How many calls of each were timed."""
    is_host_time: bool = False
    """Whether the calls did not wait for the GPU: it is the time that the host needs."""

    @property
    def is_clear(self) -> bool:
        """Whether the quartiles do not overlap."""
        (python_low, python_high), (cpp_low, cpp_high) = (
            self.python_quartiles_us,
            self.cpp_quartiles_us,
        )
        return cpp_high < python_low or python_high < cpp_low

    def __str__(self) -> str:
        host = " of host time" if self.is_host_time else ""
        unclear = "" if self.is_clear else ", no clear difference"
        return f"{duration(self.python_us)} → {duration(self.cpp_us)}{host} per call{unclear}"


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
    gain: Gain | None = None
    """What the swap gained, once enough calls were timed; of a tier from the cache, as it was
    measured in the process that checked it."""

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
