"""First calls in separate processes: transferring the subject, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cloudpickle

from ...report.problem import Problem
from ...report.variant import Variant
from ...subject import pickled_subject
from ...torch_api.inductor.headers import FIRST_IMPORTS
from ..context import StudyContext
from .first_process import run_first_call


def packed(
    study: StudyContext, factory: Callable[[], Any] | None = None, *, takes_factory: str = ""
) -> bytes:
    """The subject, as `task` takes it.

    Parameters
    ----------
    factory
        What creates the subject in the process; None: the subject itself is sent.
    takes_factory
        As for `pickled_subject.pack`.

    Raises
    ------
    CompilescopeError
        It cannot be sent to another process.
    """
    study.snapshot.restore()
    if factory is not None:
        like = pickled_subject.Call(study.fn, tuple(study.args), dict(study.kwargs))
        return pickled_subject.pack(factory=factory, like=like)
    arguments = tuple(study.args), dict(study.kwargs)
    return pickled_subject.pack(study.fn, arguments, takes_factory=takes_factory)


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
    """Makes a first call in a process; returns its result, or why there is none.

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

    return run_first_call(
        command.format(imports=FIRST_IMPORTS),
        packed_task,
        caches,
        {**pickled_subject.header(), **header},
        variables=variables,
        cancelled=is_cancelled,
    )
