"""The values for which an outlined compilation was compiled again, from its symbols and guards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis.guards.compiled_values import Values, as_in_reasons
from ..analysis.guards.guard_tree import parse_guards
from ..analysis.guards.reasons.parse_reason import read_failure
from ..analysis.guards.symbolic_shapes.symbols import read_symbols
from ..capture.records import Record
from ..report import Compilation, Guard


def guards_of_failed(text: str, reasons: Iterable[str]) -> list[Guard]:
    """Read the guards of a compilation on what torch's reasons name: the others are many."""
    named = "\n".join(reasons)
    return [
        guard
        for guard in parse_guards(text).guards
        if guard.source and as_in_reasons(guard.source) in named
    ]


def add_failures(
    compilation: Compilation, records: Sequence[Record], guards: Sequence[Guard]
) -> None:
    """Add the failed guards of a recompile, with the new values that its reasons lack.

    Parameters
    ----------
    compilation
        A recompile, whose reasons are read; changed in place.
    records
        Its records, of which those of symbols are used.
    guards
        Its guards on what the reasons name.
    """
    symbols = read_symbols(records, compilation.attempt)
    if compilation.recompile is None or not (symbols or guards):
        return
    now = Values(guards, symbols)
    compilation.recompile.failures = [
        read_failure(reason, {}, now) for reason in compilation.recompile.reasons
    ]
