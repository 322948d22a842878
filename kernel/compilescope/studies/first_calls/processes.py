"""First calls in separate processes: transferring the subject, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cloudpickle

from ...processes.runner import Ended, Limits, describe_exit, run
from ...progress.progress import Cancelled
from ...report.errors import CompilescopeError
from ...report.problem import Problem
from ...report.variant import Variant
from ...subject import pickled_subject
from ...torch_api.inductor.headers import FIRST_IMPORTS
from ..context import StudyContext

TIMEOUT_S = 600.0
AFTER_TIMEOUT = "Give the study a call that compiles faster: a part of the model, say."
AFTER_DEATH = "See what it wrote last. If the call alone ends Python as well, it is not the study."
_LAST = 2000
"""How much of what a process wrote is shown when it died."""


def packed(study: StudyContext) -> bytes:
    """The subject, as `task` takes it.

    Raises
    ------
    CompilescopeError
        It cannot be sent to another process.
    """
    study.snapshot.restore()
    try:
        return pickled_subject.pack(study.fn, (tuple(study.args), dict(study.kwargs)))
    except CompilescopeError as error:
        raise CompilescopeError(
            error.problem.what, error.problem.why, pickled_subject.REMOVE_UNPICKLABLE
        ) from error


def task(variant: Variant, subject: bytes) -> bytes:
    """What the process is given to do."""
    data: bytes = cloudpickle.dumps((variant, subject))
    return data


def first_call(
    study: StudyContext,
    command: str,
    packed_task: bytes,
    caches: Path,
    header: Mapping[str, Any],
    *,
    variables: Mapping[str, str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> bytes | Problem:
    """Makes a first call in a process; what it gives, or why it gave nothing.

    Parameters
    ----------
    command
        The Python code that the process runs, with a place for the ``imports`` that are timed.
    packed_task
        By `task`.
    caches
        The folder of torch's caches.
    header
        Further arguments of the process.
    meanwhile
        Called again and again while the process runs.

    Raises
    ------
    Cancelled
        The study was canceled.
    """

    def is_cancelled() -> bool:
        meanwhile()
        return study.monitor.cancelled

    ended = run(
        ("-c", command.format(imports=FIRST_IMPORTS)),
        packed_task,
        header={**pickled_subject.header(), "caches": str(caches), **header},
        limits=Limits(timeout_s=TIMEOUT_S),
        cancelled=is_cancelled,
        variables=variables,
        folder=caches,
    )
    if ended.how == "cancelled":
        raise Cancelled
    if ended.how == "done":
        return ended.result
    return Problem(
        severity="error",
        what=describe_ending(ended, TIMEOUT_S),
        remedy=AFTER_TIMEOUT if ended.how == "timeout" else AFTER_DEATH,
        detail=last_words(ended),
    )


def describe_ending(ended: Ended, timeout_s: float) -> str:
    """What became of a process that gave nothing, in a sentence."""
    if ended.how == "timeout":
        return f"It was ended after {timeout_s:g} s."
    return f"Its process died: {describe_exit(ended.exit_code)}."


def last_words(ended: Ended) -> str:
    """The end of what a process wrote."""
    return ended.errors[-_LAST:]
