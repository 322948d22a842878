"""Operators that a C++ wrapper calls through Python, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import Count, Crossing, Report, Suggestion, VariantReport
from .ranked_suggestion import Ranked

_SHOWN = 2


def called_through_python(report: Report, now: VariantReport | None) -> list[Count]:
    """The operators that the C++ wrapper of a variant calls through Python.

    Parameters
    ----------
    now
        The overview's variant. If it has no such calls, the first variant that does is named.
    """
    for variant in (*([] if now is None else [now]), *report.variants):
        crossings = _crossings(variant)
        if crossings:
            is_other = variant is not now
            calls = sum(len(crossing.lines) for crossing in crossings)
            return [
                Count(
                    number=calls,
                    text=_text(crossings) + (f" ({variant.name})" if is_other else ""),
                    view="requested",
                    of=variant.name if is_other else "",
                )
            ]
    return []


def against_python_calls(variant: VariantReport) -> Iterator[Ranked]:
    """Suggest how an operator gets called without Python."""
    crossings = _crossings(variant)
    if crossings:
        yield Ranked(
            0.3,
            Suggestion(
                what=crossings[0].remedy,
                why=f"{_text(crossings)}. {crossings[0].why}",
                gain="not measured",
                view="requested",
            ),
        )


def _crossings(variant: VariantReport) -> list[Crossing]:
    if not variant.requested.cpp_wrapper:
        return []
    return [
        crossing
        for compilation in variant.compilations
        for crossing in compilation.crossings
        if crossing.artifact == "cpp"
    ]


def _text(crossings: list[Crossing]) -> str:
    operators = list(dict.fromkeys(crossing.operator for crossing in crossings))
    shown, more = operators[:_SHOWN], len(operators) - _SHOWN
    listed = f"{', '.join(shown)} and {more} more" if more > 0 else " and ".join(shown)
    return f"{listed} {'is' if len(operators) == 1 else 'are'} called through Python"
