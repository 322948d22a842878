"""Compiles with the Python wrapper first, the C++ wrapper later, and then with CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..report.tiers import TierName, Tiers


def tiered(
    model: Callable[..., Any],
    *,
    tiers: Sequence[str] = ("python", "cpp"),
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Any:
    """``torch.compile`` that starts with the Python wrapper and switches to the C++ wrapper.

    A separate process builds the C++ wrapper of each graph. Once it is built, a call compares both
    on its inputs, and later calls use it. If it cannot be built, or its results differ, the Python
    wrapper stays and a warning says why. ``torch.compile(model, backend="compilescope")`` does the
    same.

    Parameters
    ----------
    model
        What ``torch.compile`` takes: a module or a function.
    tiers
        ``("python",)`` builds no C++ wrapper. ``("python", "cpp", "cuda_graphs")`` records CUDA
        graphs of the C++ wrapper where torch would: a call then overwrites the results of the one
        before, as with ``mode="reduce-overhead"``.
    mode, options
        As ``torch.compile`` takes them.
    **given
        ``dynamic``, ``fullgraph`` and whatever else ``torch.compile`` takes.

    Returns
    -------
    Callable or Module
        What ``torch.compile`` returns.

    Raises
    ------
    CompilescopeError
        ``tiers`` is invalid.

    Examples
    --------
    >>> compiled = cs.tiered(fn, tiers=("python",))
    >>> torch.allclose(compiled(x), fn(x))
    True
    """
    from ..tiers.backend import tiered as compile_tiered

    return compile_tiered(model, tiers=tiers, mode=mode, options=options, **given)


def tiers(compiled: Any = None) -> Tiers:
    """Says which wrapper serves each graph of a tiered compilation, and why.

    Parameters
    ----------
    compiled
        What `tiered` returned, or ``torch.compile`` with the backend ``compilescope``; every graph
        of this process if None.

    Returns
    -------
    Tiers
        One `GraphTiers` per graph: forward, backward and each recompile. Prints as a table.

    Raises
    ------
    CompilescopeError
        ``compiled`` is not a result of ``torch.compile``.

    Examples
    --------
    >>> compiled = cs.tiered(fn)                              # doctest: +SKIP
    >>> result = compiled(x)                                  # doctest: +SKIP
    >>> print(cs.tiers(compiled))                             # doctest: +SKIP
    """
    from ..tiers.backend import tiers_of

    return tiers_of(compiled)


def pin_tier(compiled: Any, tier: TierName | None) -> Tiers:
    """Pins the graphs of a tiered compilation to a tier, or unpins them.

    >>> cs.pin_tier(compiled, "python")                       # doctest: +SKIP

    The C++ wrapper is still built. Graphs that are compiled later are not pinned.

    Parameters
    ----------
    compiled
        What `tiered` returned, or ``torch.compile`` with the backend ``compilescope``.
    tier
        The last tier that may serve: ``"python"`` pins to the Python wrapper, ``"cpp"`` does
        without CUDA graphs. None unpins: the last tier is used once its results are checked.

    Returns
    -------
    Tiers
        The current state of the graphs.

    Raises
    ------
    CompilescopeError
        The tier cannot be pinned, or ``compiled`` is nothing that ``torch.compile`` returned.
    """
    from ..tiers.backend import pin_tier as pin

    return pin(compiled, tier)
