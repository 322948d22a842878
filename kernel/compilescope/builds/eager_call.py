"""Calls a subject in eager: also what the user compiled inside it is called without torch.compile.

The rest of a call would be compiled otherwise: for a training step that calls ``model``, which
``torch.compile`` returned, eager would be as fast as the variants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch

from ..isolation.global_state import is_autocast_on
from ..isolation.user_state import Snapshot
from ..measure.call_in_context import Surrounded
from ..measure.stopwatch import Call
from ..report.problem import Problem, in_short
from .subject_error import CALL_ERRORS, SubjectError

_Result = TypeVar("_Result")
_ERRORS: tuple[type[BaseException], ...] = (SubjectError, *CALL_ERRORS)


def eager_call(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], snapshot: Snapshot
) -> Call:
    """Eager's call without arguments, as a `Sampler` takes it.

    In autocast, each call casts the weights again, as the user's own `with` block around a call
    does: the end of the block drops the casts, and compiled code keeps none either.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    snapshot
        Of the same call.
    """

    def call() -> object:
        return fn(*args, **kwargs)

    def cast_again() -> object:
        try:
            return fn(*args, **kwargs)
        finally:
            torch.clear_autocast_cache()

    chosen = cast_again if is_autocast_on() else call
    return Surrounded(chosen, snapshot.inner.direct) if snapshot.inner else chosen


def in_eager(attempt: Callable[[], _Result], snapshot: Snapshot) -> _Result:
    """Makes a first call in eager, or more of them.

    If that fails, it is repeated as the user wrote it: some functions only work if they are
    compiled, such as attention with more scores than memory.

    Parameters
    ----------
    attempt
        Calls the subject.
    snapshot
        Its state, restored before the repetition; remembers that it was necessary.
    """
    try:
        with snapshot.inner.direct():
            return attempt()
    except _ERRORS as error:
        if not snapshot.inner:
            raise
        failed = in_short(error.error if isinstance(error, SubjectError) else error)
    # Outside the handler, as the exception keeps the call's values alive.
    snapshot.restore()
    snapshot.inner.keep_compiled(failed)
    return attempt()


def partly_compiled(snapshot: Snapshot) -> list[Problem]:
    """A note if eager calls code that the user compiled inside the subject, still compiled."""
    failed = snapshot.inner.failed
    if not failed:
        return []
    return [
        Problem(
            severity="info",
            what="Eager is compiled in part: functions inside the subject that you compiled are "
            "called as they are.",
            why=f"Without their torch.compile, the call raised {failed}.",
        )
    ]
