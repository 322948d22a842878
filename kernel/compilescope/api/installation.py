"""Checks the installation and configures this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compiled_callers import not_in_compiled_code

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from ..report.checkup import Checkup


@not_in_compiled_code
def doctor() -> Checkup:
    """Checks that everything that ``torch.compile`` depends on is installed and works.

    Tests the C++ compiler, OpenMP, headers, Triton, the GPU's toolkit, cache folders, versions, the
    notebook and environment variables, in separate processes and within a time limit. It changes
    and installs nothing, and deletes the files that it creates.

    Returns
    -------
    Checkup
        Displays the result of each check and how to fix what does not work.

    Raises
    ------
    CompilescopeError
        torch cannot be imported because its cache folder cannot be created.

    Examples
    --------
    >>> print(cs.doctor())                                    # doctest: +SKIP
    """
    from ..session.lazy import session
    from ..views.progress import Line

    session()
    from ..checks.examination import Examination, kernel_info
    from ..progress.progress import Progress

    examination = Examination(kernel_info=kernel_info())
    with Line() as line:
        while not examination.wait(0.2):
            now = examination.checkup()
            line.show(Progress(step=f"checking {', '.join(now.waiting[:2])}"))
    return examination.checkup()


@not_in_compiled_code
def configure(
    *, ahead_mb: float | None = None, executors: Mapping[str, Executor | str] | None = None
) -> None:
    """Changes settings of this process. What is left out stays as it is.

    Parameters
    ----------
    ahead_mb
        The limit of wrapper code that is generated in advance, together with the requested wrapper
        (MB; initially 32). Code beyond that is generated on request. 0 turns this off.
    executors
        The executors that sweeps and studies take by name, instead of those named before: name →
        any executor of ``concurrent.futures``, or ``"gpus"`` as for `sweep`. ``executor`` of
        `sweep` and `study` and ``%%compile --executor`` take the names, and the panel offers them.

    Raises
    ------
    CompilescopeError
        ``ahead_mb`` is negative, infinite or not a number, or ``executors`` has a name that is
        empty or ``"gpus"``, or a value that is no executor.

    Examples
    --------
    >>> cs.configure(ahead_mb=32)
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> cs.configure(executors={"two at a time": ThreadPoolExecutor(2)})
    >>> result = cs.sweep(fn, (x,), executor="two at a time")  # doctest: +SKIP
    >>> cs.configure(executors={})
    """
    from ..report.argument_checks import check_number
    from ..session.lazy import session

    check_number("ahead_mb", ahead_mb, _MEGABYTES, zero=True, optional=True)

    current = session()
    from ..builds import pregenerated_code
    from ..processes.executors import name_executors

    if executors is not None:
        name_executors(executors)
        current.note_choices()
    if ahead_mb is not None:
        pregenerated_code.limit(ahead_mb)


_MEGABYTES = "megabytes: 32, or 0 for nothing"
"""What `configure` takes as ``ahead_mb``."""
