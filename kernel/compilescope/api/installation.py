"""Checks the installation and configures this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..report.checkup import Checkup


def doctor() -> Checkup:
    """Checks that everything that ``torch.compile`` depends on is installed and works.

    Tries the C++ compiler, OpenMP, headers, Triton, the GPU's toolkit, cache folders, versions, the
    notebook and the environment's settings, in separate processes and within a time limit. Nothing
    is changed, installed or kept.

    Returns
    -------
    Checkup
        Displays the result of each check and, where something is wrong, what to do.

    Raises
    ------
    CompilescopeError
        torch cannot be loaded because its cache folder cannot be made.

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
            line.show(Progress(step=f"looking at {', '.join(now.waiting[:2])}"))
    return examination.checkup()


def configure(*, ahead_mb: float) -> None:
    """Changes a setting of this process.

    Parameters
    ----------
    ahead_mb
        How many megabytes of wrapper code may be generated ahead, together with the wrapper that
        was requested (32). Code beyond that is generated on request. 0 turns this off.

    Raises
    ------
    CompilescopeError
        ``ahead_mb`` is negative or not a number.

    Examples
    --------
    >>> cs.configure(ahead_mb=32)
    """
    from ..report.errors import CompilescopeError

    if not 0 <= ahead_mb < float("inf"):
        raise CompilescopeError(
            f"ahead_mb is {ahead_mb!r}.", remedy="Give megabytes: 32, or 0 for nothing."
        )
    from ..session.lazy import session

    session()
    from ..builds import ahead

    ahead.limit(ahead_mb)
