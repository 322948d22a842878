"""Remarks on the measurements of several ways to deploy a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..units import duration_range
from .deployment import PACKAGE, DeployWay

_UNEVEN = 1.25
"""How many times eager's latencies may differ between processes on an evenly fast machine."""
_SAVES_LITTLE = 2.0
_BUILD_S = 3.0
"""So many times, and seconds, longer as shipped than cached: something is compiled again."""


def remarks_on(ways: Sequence[DeployWay]) -> list[str]:
    """What explains the figures of a variant's ways, a sentence or two each.

    Examples
    --------
    >>> slow = DeployWay(name="torch.compile", ships=["caches.bin"], cached_s=4.1, shipped_s=41.8)
    >>> print(remarks_on([slow])[0].partition(":")[0])
    As shipped, the C++ compiler runs again
    """
    return [*_elsewhere(ways), *_uneven(ways), *_built_again(ways)]


def _elsewhere(ways: Sequence[DeployWay]) -> Iterator[str]:
    """Which ways were measured on other machines than the kernel's."""
    names: dict[str, list[str]] = {}
    for way in ways:
        if way.cold_s is not None:
            names.setdefault(way.machine, []).append(way.name)
    others = "; ".join(f"{', '.join(of)} on {machine}" for machine, of in names.items() if machine)
    if others:
        compare = " Compare the factors, not the times." if len(names) > 1 else ""
        yield f"Measured on other machines: {others}.{compare}"


def _uneven(ways: Sequence[DeployWay]) -> Iterator[str]:
    """Whether the machine was as fast for one way as for another, by what eager took."""
    eager = [way.eager_us for way in ways if way.eager_us]
    if len({way.machine for way in ways if way.cold_s is not None}) > 1:
        return  # they differ anyway
    if eager and max(eager) > _UNEVEN * min(eager):
        yield (
            f"Eager took {duration_range(min(eager), max(eager))} in these processes: the "
            "machine was faster for some ways than for others. Compare the factors, not the times."
        )


def _built_again(ways: Sequence[DeployWay]) -> Iterator[str]:
    """Why shipped files without libraries save little where there is C++ to compile."""
    names = [
        way.name
        for way in ways
        if way.ships
        and PACKAGE not in way.ships
        and way.cached_s is not None
        and way.shipped_s is not None
        and way.shipped_s > max(_SAVES_LITTLE * way.cached_s, way.cached_s + _BUILD_S)
    ]
    if names:
        yield (
            "As shipped, the C++ compiler runs again: the files do not contain the libraries that "
            f"it built ({', '.join(names)}). Shipping the folder of torch's caches, too "
            "(TORCHINDUCTOR_CACHE_DIR), avoids that."
        )
