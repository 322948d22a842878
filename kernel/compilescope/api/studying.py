"""Runs studies of a report's variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..studies.table import lists_studies
from .compiled_callers import not_in_compiled_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Executor
    from typing import Any

    from ..report import Report


@not_in_compiled_code
@lists_studies
def study(
    report: Report,
    *studies: str,
    variants: object = None,
    ways: str | Iterable[str] | None = None,
    executor: Executor | str | None = None,
    factory: Callable[[], Any] | None = None,
) -> Report:
    """Runs extra measurements of variants of a report.

    Parameters
    ----------
    report
        The report of a call that was inspected in this kernel.
    *studies
        Names of studies. None given: all that apply, except those "run only if named":

        {studies}
    variants
        As for `measure`. None: all that are built.
    {options}
    executor
        Of the studies ``deploy`` and ``blocks``: any executor of ``concurrent.futures``, or its
        name, as for `sweep`; each way is a task, whose processes run on the worker's machine. None:
        this machine, one way after the other. ``"gpus"``: one way at a time on each of its GPUs.
    factory
        Of the same studies, as for `sweep`: returns the report's call as ``(fn, args)`` or ``(fn,
        args, kwargs)`` in each process, to which the call is not sent then. For large models, and
        for calls that cannot be pickled.

    Returns
    -------
    Report
        The same report, with the results. A study that fails adds a problem to its variant.

    Raises
    ------
    CompilescopeError
        The report's call is not in this kernel, a study, variant or way does not exist, none of the
        studies takes ``executor`` or ``factory``, there is no executor of that name, it is
        ``"gpus"`` and there is no GPU, none of the variants could be built, or another thread is
        inspecting.

    Examples
    --------
    >>> report = cs.inspect(fn, (x,), variants="python")
    >>> report = cs.study(report, "routes")
    >>> "routes" in report.variant("python").studied
    True
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as executor:
    ...     report = cs.study(report, "deploy", ways="eager", executor=executor)
    >>> report.variant("python").ways[0].name
    'eager'
    >>> report = cs.study(report, "deploy", ways="eager", factory=lambda: (fn, (x,)))
    """
    from ..session import requests
    from ..session.lazy import session
    from ..studies.context import StudyProcesses
    from ..views.progress import Line

    with Line() as line:
        return requests.study(
            session(),
            report,
            studies,
            variants=variants,
            options={"ways": ways},
            processes=StudyProcesses(executor, factory),
            progress=line.show,
        )
