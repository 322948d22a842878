"""Finds which first calls recompile because a call changes a value that a guard checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ..analysis.assemble import assemble
from ..analysis.guards.conditions import as_written
from ..analysis.guards.reasons.failed_guard import parse_failure
from ..analysis.guards.reasons.logged_reasons import parse_recompile
from ..analysis.guards.reasons.other_changes import other_changes
from ..analysis.guards.recompiles import Memory
from ..analysis.parts import collecting_failures
from ..capture.live import recording
from ..capture.records import Record
from ..isolation.code_swap import CodeCopies
from ..isolation.muted_output import quiet
from ..isolation.own_backward import Backward
from ..progress.progress import Monitor
from ..report import RecompileCause, Timing
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import GUARD_FILTER, compile_callable, given_by
from ..torch_api.dynamo.process_state import begin
from ..torch_api.trace.record_names import RECOMPILE_REASONS
from .comparison.call_result import outcome_of
from .subject_error import CALL_ERRORS

_CALLS = 6
"""Calls in a row. Dynamo makes a number dynamic once it has changed, but compiles for 0 and 1 by
themselves: only a recompile at the fifth call or later means that the next call recompiles too."""

_REGISTERED = re.compile(r"\._(?:parameters|buffers|modules)\['([A-Za-z_]\w*)'\]")
"""What a module has under that name, by Dynamo's path to it."""
_LENGTH = re.compile(r"^len\((.+)\)$")


class RecompilingCalls(NamedTuple):
    """The calls that recompile, and the value whose guard failed in each."""

    always: str = ""
    """The value for which every call recompiles; empty if there is none."""
    others: Sequence[str] = ()
    """The other values that every call changes although guards compare them."""
    causes: Sequence[RecompileCause] = ()
    """The guards that failed in the last call, with the values of the first call in which they did:
    those of the inspected call, and of the one after it."""
    first: Sequence[str] = ()
    """If not every call recompiles: the value of the second call, the third, …, until one does
    not recompile."""

    def add_to(self, timing: Timing) -> None:
        """Adds them to the timing of the calls."""
        timing.recompiles, timing.first_recompiles = self.always, list(self.first)
        timing.other_recompiles = list(self.others)
        timing.recompile_causes = list(self.causes)


def with_guards_of(variant: Variant) -> Variant:
    """A variant with the same guards that builds nothing: they do not depend on the backend."""
    filters = {name: f for name, f in variant.options.items() if name == GUARD_FILTER}
    return Variant(backend="eager", dynamic=variant.dynamic, options=filters)


def recompiling_calls(
    call: Callable[[Callable[..., object]], object],
    fn: Callable[..., object],
    code_copies: CodeCopies,
    backward: Backward | None,
    *,
    guards: Variant,
    monitor: Monitor,
) -> RecompilingCalls:
    """Makes calls in a row until one does not recompile, at most six.

    The caller keeps Dynamo's state, and afterwards restores the subject's state and installs the
    code that its builds need.

    Parameters
    ----------
    call
        Calls a given function with the subject's arguments.
    guards
        The variant that the calls compile: one of `with_guards_of`.

    Raises
    ------
    Cancelled
        The work was canceled between two calls.
    """
    begin()
    code_copies.install(code_copies.copy())
    values: list[str] = []
    calls: list[list[Record]] = []
    try:
        with quiet():
            compiled = compile_callable(fn, **given_by(guards))
            for number in range(_CALLS):
                monitor.check()
                records: list[Record] = []
                with recording(records):
                    outcome_of(call(compiled), backward)
                calls.append(records)
                if number == 0:
                    continue
                if not (value := _value(records)):
                    return RecompilingCalls(first=values)
                values.append(value)
    except CALL_ERRORS:  # the variants' own calls report the failure
        return RecompilingCalls()
    changed, causes = _changed([*calls[-2], *calls[-1]])
    others = [value for value in changed if value != values[-1]]
    earliest = values.index(values[-1])
    _, first = _changed([*calls[earliest], *calls[earliest + 1]])
    return RecompilingCalls(
        always=values[-1],
        others=others,
        causes=[first.get(subject, cause) for subject, cause in causes.items()],
    )


def _value(records: Sequence[Record]) -> str:
    """What the first guard that failed looks at, as the code writes it: ``self.calls``."""
    for record in records:
        if record.name == RECOMPILE_REASONS and record.payload:
            recompile = parse_recompile(record.payload)
            for reason in recompile.reasons:
                guard = reason.removeprefix(f"{recompile.previous}: ").partition("  #")[0].strip()
                return _written(parse_failure(guard).source or guard)
    return ""


def _changed(records: Sequence[Record]) -> tuple[list[str], dict[str, RecompileCause]]:
    """What the guards of two calls in a row state differently, and those that failed in the second.

    torch reports only the first of them. A number that Dynamo has made a symbol by then is not
    among it. The guards that failed are by subject.
    """
    memory = Memory()
    changed: dict[str, None] = {}
    causes: dict[str, RecompileCause] = {}
    with collecting_failures():  # the variants' own builds report the failures
        compilations = assemble(records, variant="", memory=memory)
    for compilation in compilations:
        now = memory.values.get(compilation.id)
        for cause in compilation.recompile.causes[:1] if compilation.recompile else ():
            # The report has none of these compilations.
            causes[cause.subject] = replace(cause, compilations=[])
        for failure in compilation.recompile.failures if compilation.recompile else ():
            earlier = memory.values.get(failure.compilation)
            if earlier is not None and now is not None:
                failures = [failure, *other_changes(failure, earlier, now)]
                changed.update(
                    dict.fromkeys(_written(each.source or each.guard) for each in failures)
                )
    return list(changed), causes


def _written(value: str) -> str:
    """A guarded value as the code writes it."""
    return _LENGTH.sub(r"\1", _REGISTERED.sub(r".\1", as_written(value)))
