"""Warns of a tier that is not available."""

from __future__ import annotations

import logging
import warnings

from ..report.problem import Problem

_log = logging.getLogger(__name__)
_warned: dict[str, Problem] = {}
"""Cause → the problem that was warned of."""


class TierWarning(UserWarning):
    """A tier that is not available. Calls use the tier before it.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", cs.TierWarning)
    ...     compiled = cs.tiered(fn)
    """


def warn_once(problem: Problem) -> None:
    """Warn of a problem, unless another graph had one with the same cause."""
    # A missing compiler fails each graph in the same way.
    if _warned.setdefault(problem.why, problem) is not problem:
        return
    text = " ".join(part for part in (problem.what, problem.why, problem.remedy) if part)
    try:
        warnings.warn(text, TierWarning, stacklevel=2)
    except TierWarning:
        # Warnings are errors here, and this may be the thread of a call, or that of the builder.
        _log.warning(text)
