"""Which wrapper each graph of a tiered compilation uses, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from .compilation.parts import Direction
from .problem import Problem, Struct
from .provided_functions import renderers
from .units import duration

sources: list[Callable[[], list[GraphTiers]]] = []
"""The function that returns the tiers of the process. A layer above registers it once a tiered
graph is compiled."""


def current() -> list[GraphTiers]:
    """Every graph of the process that has tiers and can still be called."""
    return [graph for source in sources for graph in source()]


TierName = Literal["python", "cpp", "cuda_graphs"]
TierState = Literal[
    "serves", "replaced", "waits", "builds", "checks", "records", "checked", "failed", "unwanted"
]


class SwapGain(Struct):
    """The speedup of a swap: after it, both tiers alternate for some calls, which are timed."""

    before_us: float
    """The median time of a call of the graph with the replaced tier (µs)."""
    after_us: float
    """The median time with the tier that replaced it (µs)."""
    before_quartiles_us: tuple[float, float]
    """The lower and the upper quartile with the replaced tier (µs)."""
    after_quartiles_us: tuple[float, float]
    """The lower and the upper quartile with the tier that replaced it (µs)."""
    calls: int
    """The number of timed calls of each tier."""
    is_host_time: bool = False
    """On a GPU: whether the times end when the call returns, before the GPU has finished."""

    @property
    def is_clear(self) -> bool:
        """Whether the quartiles do not overlap."""
        (before_low, before_high), (after_low, after_high) = (
            self.before_quartiles_us,
            self.after_quartiles_us,
        )
        return after_high < before_low or before_high < after_low

    @property
    def is_slower(self) -> bool:
        """Whether calls are clearly slower after the swap."""
        return self.is_clear and self.after_us > self.before_us

    def __str__(self) -> str:
        host = " of host time" if self.is_host_time else ""
        unclear = "" if self.is_clear else ", no clear difference"
        return f"{duration(self.before_us)} → {duration(self.after_us)}{host} per call{unclear}"


class Tier(Struct):
    """One wrapper of a graph, or the CUDA graphs of its last wrapper."""

    name: TierName
    """``python`` and ``cpp`` are the wrappers, ``cuda_graphs`` the CUDA graphs of the last one."""
    state: TierState
    """serves: calls use it. replaced: calls use the next tier. waits: queued for the process that
    builds; CUDA graphs wait for the C++ wrapper. builds: being built. checks: built; its results
    are compared with the first tier's, in the next call or in a background thread with that call's
    inputs. records: the next calls warm up, record and replay, and each is compared. checked: the
    results agree, but the graph is pinned to an earlier tier. failed: see ``problem``. unwanted:
    not built, or not used because its calls are slower, see ``why``."""
    seconds: float | None = None
    """Its compile time (s): the Python wrapper's in your process, the C++ wrapper's in a separate
    one. For a Python wrapper from torch's caches, the time to load it. For CUDA graphs, the time of
    the calls that warmed up and recorded."""
    load_s: float | None = None
    """The time to load the built library (s), in a background thread; in the first call if the
    library was cached."""
    cached: bool = False
    """Whether it was built and checked before, by an earlier process or in this one; for
    ``failed``: whether that was found before, and it was not built again."""
    why: str = ""
    """For ``unwanted``: the reason."""
    problem: Problem | None = None
    """For ``failed``: the error."""
    swapped_s: float | None = None
    """For CUDA graphs: the time from when the first tier was ready until they replaced the C++
    wrapper (s). For the C++ wrapper see `GraphTiers.swapped_s`."""
    gain: SwapGain | None = None
    """The measured speedup over the tier before it, once enough calls were timed. For a tier from
    the cache, the measurement of the process that checked it."""
    pool_bytes: float | None = None
    """For CUDA graphs: the size of the memory pool that all of them on this device share, after
    this one was recorded."""


class GraphTiers(Struct):
    """One graph that Inductor compiled, and its wrappers."""

    compilation: str
    """torch's compile id: ``0/0``."""
    kind: Direction
    """Whether the graph is for inference, or is the forward or backward of training."""
    serving: TierName
    """The tier that the next call uses."""
    tiers: list[Tier]
    """Its wrappers: the Python wrapper first."""
    swapped_s: float | None = None
    """The time from when the Python wrapper was ready until the C++ wrapper replaced it (s)."""
    number: int = 0
    """A number that is unique among the graphs of a process."""
    pinned: bool = False
    """Whether it is pinned to a tier: to `pinned_to`, or to the Python wrapper if that is None."""
    pinned_to: TierName | None = None
    """The last tier that calls may use until the graph is unpinned."""
    shared: bool = False
    """Whether it was compiled for another result of ``torch.compile``: a pin applies to every
    result that uses it. Only `compilescope.tiers` and `compilescope.pin_tier` of a result say it.
    """
    lines: list[str] = []
    """The state of each tier with its times, and why there is no other, in words."""

    @property
    def gain(self) -> SwapGain | None:
        """The measured speedup of the C++ wrapper over the Python wrapper (`Tier.gain`)."""
        return next((tier.gain for tier in self.tiers if tier.name == "cpp"), None)

    def __str__(self) -> str:
        return renderers["tiers text"](Tiers(graphs=[self]))


class Tiers(Struct):
    """The state of the graphs of a tiered compilation at one point in time. Prints as a table."""

    graphs: list[GraphTiers] = []
    """One entry per graph: forward, backward and each recompile."""
    why: str = ""
    """Why no graph has tiers, where none can have any."""

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
