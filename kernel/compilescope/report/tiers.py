"""Which wrapper serves each graph of a tiered compilation, and how that came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from .problem import Problem, Struct
from .report import renderers
from .units import duration

TierName = Literal["python", "cpp", "cuda_graphs"]
TierState = Literal[
    "serves", "replaced", "waits", "builds", "checks", "records", "checked", "failed", "unwanted"
]


class SwapGain(Struct):
    """What a swap gained: calls that both tiers served in turns after it, timed."""

    before_us: float
    """The median time of a call of the graph under the tier that was replaced (µs)."""
    after_us: float
    """The same under the tier that replaced it."""
    before_quartiles_us: tuple[float, float]
    """The lower and the upper quartile: half of the calls lie between them."""
    after_quartiles_us: tuple[float, float]
    calls: int
    """How many calls of each were timed."""
    is_host_time: bool = False
    """Whether the calls did not wait for the GPU: it is the time that the host needs."""

    @property
    def is_clear(self) -> bool:
        """Whether the quartiles do not overlap."""
        (before_low, before_high), (after_low, after_high) = (
            self.before_quartiles_us,
            self.after_quartiles_us,
        )
        return after_high < before_low or before_high < after_low

    def __str__(self) -> str:
        host = " of host time" if self.is_host_time else ""
        unclear = "" if self.is_clear else ", no clear difference"
        return f"{duration(self.before_us)} → {duration(self.after_us)}{host} per call{unclear}"


class Tier(Struct):
    """One wrapper of a graph, or the CUDA graphs of its last wrapper."""

    name: TierName
    state: TierState
    """serves; replaced (by the next tier); waits (for the process that builds; CUDA graphs: for the
    C++ wrapper); builds; checks (it is there, and the next call compares it with the first);
    records (the next calls warm up, record and replay, each compared); checked (its results are
    right, but the graph is pinned to an earlier tier); failed (``problem`` says why); unwanted
    (``why`` says why)."""
    seconds: float | None = None
    """What compiling it took: the first tier in your process, the next in one of its own. Of a
    first tier that torch had in its caches, what finding it took. Of CUDA graphs, what the calls
    took that warmed up and recorded."""
    load_s: float | None = None
    """What loading it took: beside your calls, or at the first call if it was cached."""
    cached: bool = False
    """Whether it was built and checked by an earlier process."""
    why: str = ""
    """Why it is unwanted."""
    problem: Problem | None = None
    """Why it failed."""
    swapped_s: float | None = None
    """Of CUDA graphs: seconds from when the first tier was ready until they served. Of the C++
    wrapper: `GraphTiers.swapped_s`."""
    gain: SwapGain | None = None
    """Of CUDA graphs: what they gained over the C++ wrapper. Its own: `GraphTiers.gain`."""
    pool_bytes: float | None = None
    """Of CUDA graphs: the size of the memory pool that all of them on this device share, once this
    one was recorded."""


class Gain(Struct):
    """What the swap to the C++ wrapper gained: calls that both wrappers served in turns, timed."""

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

    @staticmethod
    def of(swap: SwapGain) -> Gain:
        """What was measured of a swap from the Python wrapper to the C++ wrapper."""
        return Gain(
            python_us=swap.before_us,
            cpp_us=swap.after_us,
            python_quartiles_us=swap.before_quartiles_us,
            cpp_quartiles_us=swap.after_quartiles_us,
            calls=swap.calls,
            is_host_time=swap.is_host_time,
        )

    @property
    def swap(self) -> SwapGain:
        """The same as of any swap."""
        return SwapGain(
            before_us=self.python_us,
            after_us=self.cpp_us,
            before_quartiles_us=self.python_quartiles_us,
            after_quartiles_us=self.cpp_quartiles_us,
            calls=self.calls,
            is_host_time=self.is_host_time,
        )

    @property
    def is_clear(self) -> bool:
        """Whether the quartiles do not overlap."""
        return self.swap.is_clear

    def __str__(self) -> str:
        return str(self.swap)


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
    """Whether it is pinned to a tier; that is the first tier, if `pinned_to` does not say else."""
    gain: Gain | None = None
    """What the swap gained, once enough calls were timed; of a tier from the cache, as it was
    measured in the process that checked it."""
    pinned_to: TierName | None = None
    """The last tier that may serve until it is unpinned, if it is pinned."""

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
