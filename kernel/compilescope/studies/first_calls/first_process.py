"""Starts the process of a first call, and says why it has no result.

This module does not import torch: on a cluster it runs in the worker, which stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...processes.runner import Ended, Limits, describe_exit, run
from ...progress.progress import Cancelled
from ...report.problem import Problem

TIMEOUT_S = 600.0
AFTER_TIMEOUT = "Give the study a call that compiles faster: a part of the model, say."
AFTER_DEATH = (
    "See its last output. If the call alone crashes Python too, the study is not the cause."
)
_LAST = 2000
"""How much of what a process wrote is shown when it died."""


def run_first_call(
    command: str,
    packed_task: bytes,
    caches: Path,
    header: Mapping[str, Any],
    *,
    variables: Mapping[str, str] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    stepped: Callable[[str], None] = lambda step: None,
) -> bytes | Problem:
    """Makes a first call in a process; returns its result, or why there is none.

    Parameters
    ----------
    command
        The Python code that the process runs.
    packed_task
        By `processes.task`.
    caches
        The folder of torch's caches.
    header
        By `pickled_subject.header`, with further arguments of the process.
    cancelled, stepped
        As for `runner.run`.

    Raises
    ------
    Cancelled
        It was canceled.
    OSError
        The process cannot be started, or the disk is full.
    """
    ended = run(
        ("-c", command),
        packed_task,
        header={**header, "caches": str(caches)},
        limits=Limits(timeout_s=TIMEOUT_S),
        cancelled=cancelled,
        stepped=stepped,
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
    """How a process without a result ended, as a sentence."""
    if ended.how == "timeout":
        return f"It was ended after {timeout_s:g} s."
    return f"Its process died: {describe_exit(ended.exit_code)}."


def last_words(ended: Ended) -> str:
    """The end of what a process wrote."""
    return ended.errors[-_LAST:]
