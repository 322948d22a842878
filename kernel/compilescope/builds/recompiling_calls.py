"""Whether every call of the subject recompiles, because it changes a value that a guard checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

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

_CALLS = 5
"""Calls in a row. Dynamo makes a number dynamic once it has changed, but compiles for 0 and 1 by
themselves: only from the fourth call on does a recompile mean that the next call recompiles too."""
_LAST = 2

_SOURCE = re.compile(r"[LG]\['(\w+)'\]")
"""A local or global variable, as guards name it."""
_LENGTH = re.compile(r"^len\((.+)\)$")


def changing_value(
    call: Callable[[Callable[..., object]], object],
    fn: Callable[..., object],
    code_copies: CodeCopies,
    backward: Backward | None,
) -> str:
    """The value whose guard fails in every one of the last calls in a row; empty if none does.

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
            for _ in range(_CALLS):
                records: list[Record] = []
                with recording(records):
                    outcome_of(call(compiled), backward)
                values.append(_value(records))
    except CALL_ERRORS:  # the variants' own calls report the failure
        return ""
    return values[-1] if all(values[-_LAST:]) else ""


def _value(records: Sequence[Record]) -> str:
    """What the first guard that failed looks at, as the code writes it: ``self.calls``."""
    for record in records:
        if record.name == "recompile_reasons" and record.payload:
            recompile = parse_recompile(record.payload)
            for reason in recompile.reasons:
                guard = reason.removeprefix(f"{recompile.previous}: ").partition("  #")[0].strip()
                value = _SOURCE.sub(r"\1", parse_failure(guard).source or guard)
                return _LENGTH.sub(r"\1", value)
    return ""
