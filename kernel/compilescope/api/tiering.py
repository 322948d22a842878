"""Compiles with the Python wrapper first, the C++ wrapper later, and then with CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .compiled_callers import not_in_compiled_code

if TYPE_CHECKING:
    from ..report.tiers import TierName, Tiers


@not_in_compiled_code
def tiered(
    model: Callable[..., Any],
    *,
    tiers: Sequence[str] = ("python", "cpp"),
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Any:
    """``torch.compile`` that starts with the Python wrapper and switches to the C++ wrapper.

    A separate process builds the C++ wrapper of each graph. Then both wrappers run on the inputs of
    a call, in a background thread where that is safe, and their results are compared; if they
    agree, later calls use the C++ wrapper. If the build fails or the results differ, the graph
    keeps the Python wrapper and a warning says why; a new process does not build it again.
    ``torch.compile(model, backend="compilescope")`` does the same.

    Parameters
    ----------
    model
        A module or a function, as for ``torch.compile``.
    tiers
        ``("python", "cpp")``; ``("python",)`` to build no C++ wrapper; or ``("python", "cpp",
        "cuda_graphs")`` to also record CUDA graphs of the C++ wrapper where torch would: a call
        then overwrites the results of the previous one, as with ``mode="reduce-overhead"``.
    mode, options
        As for ``torch.compile``.
    **given
        Further arguments of ``torch.compile``, such as ``dynamic`` and ``fullgraph``.

    Returns
    -------
    Callable or Module
        The result of ``torch.compile``.

    Raises
    ------
    CompilescopeError
        ``tiers`` is none of these.
    RuntimeError
        Inductor has no such mode or option, or both ``mode`` and ``options`` are given.

    Examples
    --------
    >>> compiled = cs.tiered(fn, tiers=("python",))
    >>> torch.testing.assert_close(compiled(x), fn(x))
    """
    from ..tiers.backend import tiered as compile_tiered

    return compile_tiered(model, tiers=tiers, mode=mode, options=options, **given)


@not_in_compiled_code
def tiers(compiled: Any = None) -> Tiers:
    """Returns which wrapper each graph of a tiered compilation uses, and why.

    Parameters
    ----------
    compiled
        The result of `tiered`, or of ``torch.compile`` with the backend ``compilescope``. None:
        every graph of this process.

    Returns
    -------
    Tiers
        One `GraphTiers` per graph: forward, backward and each recompile. Prints as a table. It
        includes graphs that were compiled for another result of ``torch.compile`` and that calls
        of this one use (`GraphTiers.shared`), as for two instances of a class.

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


@not_in_compiled_code
def pin_tier(compiled: Any, tier: TierName | None) -> Tiers:
    """Pins the graphs of a tiered compilation to a tier, or unpins them.

    The C++ wrapper is still built. Graphs that are compiled later are not pinned. A graph that
    another result of ``torch.compile`` uses too is pinned for both (`GraphTiers.shared`).

    Parameters
    ----------
    compiled
        The result of `tiered`, or of ``torch.compile`` with the backend ``compilescope``.
    tier
        The last tier that calls may use: ``"python"`` pins to the Python wrapper, ``"cpp"`` turns
        CUDA graphs off. None unpins: the last tier is used once its results are checked.

    Returns
    -------
    Tiers
        The state of the graphs afterwards.

    Raises
    ------
    CompilescopeError
        ``tier`` is none of these, ``compiled`` is not a result of ``torch.compile``, or it has no
        graphs with tiers: another backend compiled it, or it was not called yet.

    Examples
    --------
    >>> compiled = cs.tiered(fn)                              # doctest: +SKIP
    >>> result = compiled(x)                                  # doctest: +SKIP
    >>> cs.pin_tier(compiled, "python")[0].pinned             # doctest: +SKIP
    True
    """
    from ..tiers.backend import pin_tier as pin

    return pin(compiled, tier)
