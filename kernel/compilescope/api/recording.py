"""Records what other code compiles, limits it, and predicts recompiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..report import Report
    from ..report.what_if import WhatIf


@contextmanager
def watch(*, memory_mb: float = 256.0) -> Iterator[Report]:
    """Records everything that ``torch.compile`` compiles while the block runs.

    Compilations, recompiles and graph breaks of every thread and library appear in the report's
    ``compilations`` as soon as they are complete. The report is complete when the block ends, with
    or without an exception. The compilations are not changed, and calls of code that is already
    compiled cost nothing.

    Parameters
    ----------
    memory_mb
        The memory limit of the report, in MB. Beyond it, the oldest compilations lose their texts
        and say so.

    Yields
    ------
    Report
        The compilations so far.

    Raises
    ------
    CompilescopeError
        ``memory_mb`` is not a positive number.

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


@contextmanager
def budget(
    *,
    compilations: int | None = None,
    recompiles: int | None = None,
    graph_breaks: int | None = None,
    kernels: int | None = None,
    guards: int | None = None,
    compile_seconds: float | None = None,
    page: str | Path | None = None,
) -> Iterator[Report]:
    """Raises an error if the block compiles more than its budget.

    Records the block as `watch` does. Code that was compiled earlier and is only called in the
    block does not count. The pytest plugin does the same for tests marked ``compilescope``.

    Parameters
    ----------
    compilations, recompiles, graph_breaks, kernels, guards, compile_seconds
        Upper limits; None is no limit. A graph break counts once for each place in the code;
        kernels, guards and seconds are summed over all compilations.
    page
        An ``.html`` file that is written if a limit is exceeded.

    Yields
    ------
    Report
        What is compiled, as it happens.

    Raises
    ------
    BudgetError
        An ``AssertionError`` that says which limit is exceeded, by how much, and where in the code.
    CompilescopeError
        A limit is negative or no number.

    Examples
    --------
    >>> compiled = torch.compile(fn)
    >>> with cs.budget(recompiles=0, graph_breaks=0):
    ...     result = compiled(x)
    """
    from ..budgets.budget import Budget, check

    limits = Budget(
        compilations=compilations,
        recompiles=recompiles,
        graph_breaks=graph_breaks,
        kernels=kernels,
        guards=guards,
        compile_seconds=compile_seconds,
    )
    with watch() as report:
        yield report
    check(limits, report, None if page is None else Path(page))


def what_if(call: Report | Callable[..., Any], /, *args: Any, **kwargs: Any) -> WhatIf:
    """Predicts whether a call would reuse a compilation or recompile, without making the call.

    Nothing is run or compiled. The guards of the existing compilations are evaluated in the order
    in which torch tries them; this changes neither them nor their counters.

    Parameters
    ----------
    call
        A function or module that was compiled (what ``torch.compile`` returned, or what it was
        given), or the report of an inspection made in this kernel.
    args, kwargs
        The arguments of the call.

    Returns
    -------
    WhatIf
        The compilation that the call would reuse; or for each compilation the guard that fails
        first, the value it expects and the value it would find. Torch's modes count as they are
        now, or for a report as they were at its inspection.

    Raises
    ------
    CompilescopeError
        The arguments do not fit the call, or the report's subject is not in this kernel.

    Examples
    --------
    >>> compiled = torch.compile(fn)
    >>> result = compiled(x)
    >>> cs.what_if(compiled, x).verdict
    'reuse'
    """
    from ..session.lazy import session
    from ..session.what_if import ask_call

    return ask_call(session(), call, args, kwargs)
