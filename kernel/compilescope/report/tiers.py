"""Which wrapper serves each graph of a tiered compilation, and how that came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from .problem import Problem, Struct
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
        host = " of the host" if self.is_host_time else ""
        unclear = "" if self.is_clear else ", no clear difference"
        return f"{duration(self.python_us)} → {duration(self.cpp_us)}{host} a call{unclear}"


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
        return _table([self])


class Tiers(Struct):
    """The graphs of a tiered compilation, as they were when it was asked."""

    graphs: list[GraphTiers] = []

    def __str__(self) -> str:
        if not self.graphs:
            return "no graph has tiers yet"
        return _table(self.graphs)

    def __iter__(self) -> Iterator[GraphTiers]:
        return iter(self.graphs)

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, place: int) -> GraphTiers:
        return self.graphs[place]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


_TITLES: dict[TierName, str] = {"python": "Python wrapper", "cpp": "C++ wrapper"}


def _table(graphs: list[GraphTiers]) -> str:
    rows = [("graph", "serves", *_TITLES.values())]
    notes: list[str] = []
    for graph in graphs:
        cells = {tier.name: _cell(tier, graph) for tier in graph.tiers}
        title = f"{graph.compilation} {graph.kind}"
        rows.append((title, graph.serving, *(cells[name] for name in _TITLES)))
        for tier in graph.tiers:
            why = tier.problem.why if tier.problem is not None else tier.why
            if why and why not in notes:
                notes.append(why)
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *notes])


def _cell(tier: Tier, graph: GraphTiers) -> str:
    seconds = "" if tier.seconds is None else f" in {tier.seconds:.1f} s"
    gain = "" if graph.gain is None else f", {graph.gain}"
    if tier.cached and tier.state == "serves" and tier.name == "cpp":
        return f"from the cache{gain}"
    pinned = ", pinned" if graph.pinned else ""
    if tier.name == "python":
        return f"compiled{seconds}{pinned}"
    swapped = "" if graph.swapped_s is None else f", swapped in after {graph.swapped_s:.1f} s"
    return {
        "serves": f"built{seconds}{swapped}{gain}",
        "replaced": f"built{seconds}",
        "waits": "waits to be built",
        "builds": "being built",
        "checks": f"built{seconds}, checked at the next call",
        "checked": f"built{seconds}, checked",
        "failed": "failed",
        "unwanted": "not built",
    }[tier.state]
