"""Records what other code compiles, limits it, and predicts recompiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .compiled_callers import not_in_compiled_code
from .single_blocks import single_block

if TYPE_CHECKING:
    from ..report import Report
    from ..report.what_if import WhatIf


@not_in_compiled_code
@single_block
def watch(*, memory_mb: float = 256.0) -> Iterator[Report]:
    """Records everything that ``torch.compile`` compiles while the block runs.

    Compilations, recompiles and graph breaks of every thread and library appear in the report's
    ``compilations`` as soon as they are complete. The report is complete when the block ends, with
    or without an exception. Watching does not change what is compiled, and adds no overhead to
    calls of compiled code.

    Parameters
    ----------
    memory_mb
        The memory limit of the report (MB). Above it, the texts of the oldest compilations are
        dropped, and their ``reduced`` says so.

    Yields
    ------
    Report
        The compilations so far.

    Raises
    ------
    CompilescopeError
        ``memory_mb`` is not positive.

    Examples
    --------
    >>> with cs.watch() as report:
    ...     result = torch.compile(fn)(x)
    >>> len(report.compilations)
    1
    """
    from ..jobs.watch_switch import caller
    from ..session.lazy import session

    with session().watcher.block(memory_mb, caller()) as report:
        yield report


@not_in_compiled_code
@single_block
def budget(
    *,
    compilations: int | None = None,
    recompiles: int | None = None,
    graph_breaks: int | None = None,
    kernels: int | None = None,
    guards: int | None = None,
    compile_seconds: float | None = None,
    eager_fallbacks: int | None = 0,
    page: str | Path | None = None,
) -> Iterator[Report]:
    """Raises an error if the block compiles more than its budget.

    Records the block as `watch` does. Code that was compiled before the block does not count. The
    pytest plugin does the same for tests marked ``compilescope``.

    Parameters
    ----------
    compilations, recompiles, graph_breaks, kernels, guards, compile_seconds
        Upper limits, inclusive; None is no limit. A graph break counts once per line of code.
        Kernels, guards and compile time (s) are summed over all compilations.
    eager_fallbacks
        The limit of compilations that failed and that torch ran in eager without raising an error,
        as ``torch._dynamo.config.suppress_errors`` makes it do. Frames that a graph break or the
        recompile limit leaves to eager do not count.
    page
        The report is saved here, as ``.html`` or ``.json``, if a limit is exceeded.

    Yields
    ------
    Report
        The compilations so far.

    Raises
    ------
    BudgetError
        A limit is exceeded. It is an ``AssertionError`` that says which limit, by how much, and
        where in the code; also if the page could not be written.
    CompilescopeError
        A limit is negative or not a number, or the page has another ending.

    Examples
    --------
    >>> compiled = torch.compile(fn)
    >>> with cs.budget(recompiles=0, graph_breaks=0):
    ...     result = compiled(x)
    """
    from ..budgets.budget import Budget, check
    from ..report.saving.path_checks import report_path

    # Before the block: an error after it would hide the limit that is exceeded.
    target = None if page is None else report_path(page)
    limits = Budget(
        compilations=compilations,
        recompiles=recompiles,
        graph_breaks=graph_breaks,
        kernels=kernels,
        guards=guards,
        compile_seconds=compile_seconds,
        eager_fallbacks=eager_fallbacks,
    )
    with watch() as report:
        yield report
    check(limits, report, target)


@not_in_compiled_code
def what_if(call: Report | Callable[..., Any], /, *args: Any, **kwargs: Any) -> WhatIf:
    """Predicts whether a call would reuse a compilation or recompile, without making the call.

    Nothing is run or compiled. The guards of the existing compilations are evaluated in the order
    in which torch evaluates them. Neither the guards nor their counters change.

    Parameters
    ----------
    call
        A compiled function or module (the result or the argument of ``torch.compile``), or the
        report of an inspection in this kernel. Of what is not compiled itself, the answer is that
        for ``torch.compile`` of it, and says so.
    args, kwargs
        The arguments of the call.

    Returns
    -------
    WhatIf
        The compilation that the call would reuse. Otherwise, for each compilation, the first guard
        that fails, with the value it expects and the value of this call. torch's global modes (grad
        mode, autocast, …) are the current ones; for a report, those of its inspection.

    Raises
    ------
    CompilescopeError
        The call does not accept the arguments, or the report's call is not in this kernel.

    Examples
    --------
    >>> compiled = torch.compile(fn)
    >>> result = compiled(x)
    >>> cs.what_if(compiled, x).verdict
    'reuse'
    """
    from ..session.lazy import session
    from ..session.what_if import what_if_call

    return what_if_call(session(), call, args, kwargs)
