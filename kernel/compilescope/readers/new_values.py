"""The values for which an outlined compilation was compiled again, from its symbols and guards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis.guards.compiled_values import Values, as_in_reasons
from ..analysis.guards.guard_tree import parse_guards, select_managers
from ..analysis.guards.reasons.logged_reasons import parse_recompile
from ..analysis.guards.reasons.parse_reason import has_new_value, read_failure
from ..analysis.guards.symbolic_shapes.symbols import read_symbols
from ..capture.records import Record
from ..report import Compilation, Guard

_SCOPES = ("L", "G")
"""The sources whose guards name values of their own."""


def need_guards(reasons: Iterable[str]) -> bool:
    """Whether torch's reasons lack new values, as those that compare a value do."""
    return not all(
        has_new_value(reason) for text in reasons for reason in parse_recompile(text).reasons
    )


def guards_of_failed(text: str, reasons: Iterable[str]) -> list[Guard]:
    """Read the guards of a compilation on what torch's reasons name: the others are many."""
    named = "\n".join(reasons)

    def are_named(sources: list[str]) -> list[bool]:
        # All at once, as there are thousands.
        shown = as_in_reasons("\n".join(sources)).split("\n")
        return [source in named or source in _SCOPES for source in shown]

    return [
        guard
        for guard in parse_guards(select_managers(text, are_named)).guards
        if guard.source and as_in_reasons(guard.source) in named
    ]


def add_failures(
    compilation: Compilation,
    records: Sequence[Record],
    guards: Sequence[Guard],
    *,
    are_logged: bool,
) -> None:
    """Add the failed guards of a recompile, with the new values that its reasons lack.

    Parameters
    ----------
    compilation
        A recompile, whose reasons are read; changed in place.
    records
        Its records, of which those of symbols are used.
    guards
        Its guards on what the reasons name, if the reasons `need_guards`.
    are_logged
        Whether the log has its guards.
    """
    if compilation.recompile is None:
        return
    symbols = read_symbols(records, compilation.attempt)
    now = Values(guards, symbols)
    failures = [read_failure(reason, {}, now) for reason in compilation.recompile.reasons]
    if symbols or guards or (are_logged and any(failure.new for failure in failures)):
        compilation.recompile.failures = failures
