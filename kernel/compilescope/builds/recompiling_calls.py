"""Finds which first calls recompile because a call changes a value that a guard checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..analysis.guards.failed_guard import parse_failure
from ..analysis.guards.logged_reasons import parse_recompile
from ..capture.live import recording
from ..capture.records import Record
from ..isolation.code_swap import CodeCopies
from ..isolation.muted_output import quiet
from ..isolation.own_backward import Backward
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import compile_callable, given_by
from ..torch_api.dynamo.process_state import begin
from .call_result import outcome_of
from .subject_error import CALL_ERRORS

_CALLS = 6
"""Calls in a row. Dynamo makes a number dynamic once it has changed, but compiles for 0 and 1 by
themselves: only a recompile at the fifth call or later means that the next call recompiles too."""

_SOURCE = re.compile(r"[LG]\['(\w+)'\]")
"""A local or global variable, as guards name it."""
_REGISTERED = re.compile(r"\._(?:parameters|buffers|modules)\['([A-Za-z_]\w*)'\]")
"""What a module has under that name, by Dynamo's path to it."""
_LENGTH = re.compile(r"^len\((.+)\)$")


class RecompilingCalls(NamedTuple):
    """The calls that recompile, and the value whose guard failed in each."""

    always: str = ""
    """The value for which every call recompiles; empty if there is none."""
    first: Sequence[str] = ()
    """If not every call recompiles: the value of the second call, the third, …, until one does
    not recompile."""


def recompiling_calls(
    call: Callable[[Callable[..., object]], object],
    fn: Callable[..., object],
    code_copies: CodeCopies,
    backward: Backward | None,
) -> RecompilingCalls:
    """Makes calls in a row until one does not recompile, at most six.

    Guards are Dynamo's, whatever the backend: the calls compile with ``backend="eager"``, which
    builds nothing. The caller keeps Dynamo's state, and restores the subject's afterwards.

    Parameters
    ----------
    call
        Calls a given function with the subject's arguments.
    """
    begin()
    code_copies.install(code_copies.copy())
    values: list[str] = []
    try:
        with quiet():
            compiled = compile_callable(fn, **given_by(Variant(backend="eager")))
            outcome_of(call(compiled), backward)
            for _ in range(1, _CALLS):
                records: list[Record] = []
                with recording(records):
                    outcome_of(call(compiled), backward)
                if not (value := _value(records)):
                    return RecompilingCalls(first=values)
                values.append(value)
    except CALL_ERRORS:  # the variants' own calls report the failure
        return RecompilingCalls()
    return RecompilingCalls(always=values[-1])


def _value(records: Sequence[Record]) -> str:
    """What the first guard that failed looks at, as the code writes it: ``self.calls``."""
    for record in records:
        if record.name == "recompile_reasons" and record.payload:
            recompile = parse_recompile(record.payload)
            for reason in recompile.reasons:
                guard = reason.removeprefix(f"{recompile.previous}: ").partition("  #")[0].strip()
                value = _SOURCE.sub(r"\1", parse_failure(guard).source or guard)
                return _LENGTH.sub(r"\1", _REGISTERED.sub(r".\1", value))
    return ""
