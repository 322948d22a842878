"""Budgets: how much a block of code may compile, and what exceeded it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..analysis.figures.counts import counts, guard_count, kernel_count
from ..analysis.figures.wording import count
from ..analysis.problems.compile_failures import is_hidden_failure
from ..report import Compilation, Problem, Report, SourceLine, VariantReport
from ..report.errors import CompilescopeError

_MAX_PLACES = 5
"""The maximum number of code lines that a message names for one figure."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Upper limits on what may be compiled; a figure that is None has no limit.

    Parameters
    ----------
    compilations
        Frames compiled, recompiles included.
    recompiles
        Frames compiled again because a guard failed.
    graph_breaks
        Places in the code that break a graph.
    kernels
        Generated and extern kernels, summed over all compilations.
    guards
        Guards, summed over all compilations.
    compile_seconds
        Time spent in compiling, in seconds, of all threads together.
    eager_fallbacks
        Compilations that failed and that torch ran in eager, raising nothing.

    Raises
    ------
    CompilescopeError
        A limit is negative or not a number, or one of a count is not a whole number.
    """

    compilations: int | None = None
    recompiles: int | None = None
    graph_breaks: int | None = None
    kernels: int | None = None
    guards: int | None = None
    compile_seconds: float | None = None
    eager_fallbacks: int | None = 0

    def __post_init__(self) -> None:
        for name, limit in self.limits().items():
            is_time = name == "compile_seconds"
            kinds = (int, float) if is_time else int
            if isinstance(limit, bool) or not isinstance(limit, kinds) or not limit >= 0:
                number = "a number" if is_time else "a whole number"
                raise CompilescopeError(
                    f"The budget {name}={limit!r} is not {number} of zero or more.",
                    remedy=f"Leave it out, or give {number}.",
                )

    def limits(self) -> dict[str, Any]:
        """Figure → limit, of those that have one."""
        limits = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: limit for name, limit in limits.items() if limit is not None}


@dataclass(frozen=True)
class Excess:
    """A figure that is over its limit."""

    figure: str
    """Name of the field of `Budget`."""
    value: float
    limit: float
    places: tuple[str, ...] = ()
    """The lines of the user's code, with the reason."""

    def __str__(self) -> str:
        over = self.value - self.limit
        text = f"{self.figure}: {_number(self.value)}, budget {_number(self.limit)}"
        lines = [f"{text} ({_number(over)} over)"]
        lines += [f"  {place}" for place in self.places[:_MAX_PLACES]]
        hidden = len(self.places) - _MAX_PLACES
        if hidden > 0:
            lines.append(f"  and {hidden} more")
        return "\n".join(lines)


class BudgetError(AssertionError):
    """A block compiled more than its budget allows.

    Parameters
    ----------
    excesses
        Every figure over its limit.
    report
        What was compiled.
    page
        The page that shows it, if one was written.
    unwritten
        Why a requested page could not be written.

    Examples
    --------
    >>> try:
    ...     with cs.budget(compilations=0):
    ...         result = torch.compile(fn)(x)
    ... except cs.BudgetError as error:
    ...     print(error.excesses[0].figure, len(error.report.variants[0].compilations))
    compilations 1
    """

    def __init__(
        self,
        excesses: list[Excess],
        report: Report,
        page: Path | None = None,
        unwritten: str = "",
    ) -> None:
        lines = [f"{count(len(excesses), 'compile budget')} exceeded"]
        lines += [str(excess) for excess in excesses]
        if page is not None:
            lines.append(f"The report is in {page}")
        if unwritten:
            lines.append(f"The report could not be written: {unwritten}")
        super().__init__("\n".join(lines))
        self.excesses = excesses
        self.report = report
        self.page = page


def excesses(budget: Budget, report: Report) -> list[Excess]:
    """Compare what a report's variants compiled with a budget.

    Parameters
    ----------
    budget
        The limits.
    report
        The report of a watch, a trace or an inspection; its variants are summed.

    Returns
    -------
    list of Excess
        The figures that are over their limit, in the order of `Budget`'s fields.
    """
    over = []
    for name, limit in budget.limits().items():
        value = _value(name, report)
        if value > limit:
            over.append(Excess(name, value, limit, tuple(_places(name, report))))
    return over


def _value(figure: str, report: Report) -> float:
    if figure == "compile_seconds":
        return math.fsum(_seconds(compilation) for compilation in report.compilations)
    if figure == "eager_fallbacks":
        return sum(len(problem.compilations) for problem in _hidden_failures(report))
    if figure == "recompiles":
        # Also those that torch does not compile any more, because of its recompile limit.
        return len(list(_places(figure, report)))
    return sum(counts(variant)[figure.replace("_", " ")] for variant in report.variants)


def _places(figure: str, report: Report) -> Iterator[str]:
    if figure == "eager_fallbacks":
        for problem in _hidden_failures(report):
            yield _line(problem.where, problem.what)
        return
    for variant in report.variants:
        yield from _PLACES[figure](variant)


def _hidden_failures(report: Report) -> list[Problem]:
    of_variants = (problem for variant in report.variants for problem in variant.problems)
    return [problem for problem in (*report.problems, *of_variants) if is_hidden_failure(problem)]


def check(budget: Budget, report: Report, page: Path | None = None) -> None:
    """Raise if a report exceeds a budget.

    Parameters
    ----------
    budget
        The limits.
    report
        What was compiled.
    page
        The HTML file for the report if a limit is exceeded; its folder is created.

    Raises
    ------
    BudgetError
        At least one limit is exceeded. It also says if the page could not be written.
    """
    over = excesses(budget, report)
    if not over:
        return
    unwritten = ""
    if page is not None:
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            report.save(page)
        except (OSError, CompilescopeError) as error:
            page, unwritten = None, str(error)
    raise BudgetError(over, report, page, unwritten)


def _compilation_places(variant: VariantReport) -> Iterator[str]:
    for compilation in variant.compilations:
        yield _line(compilation.frame, f"compiled as {compilation.id}")


def _recompile_places(variant: VariantReport) -> Iterator[str]:
    for compilation in variant.compilations:
        if compilation.recompile is not None:
            cause = compilation.recompile.cause
            yield _line(compilation.frame, cause or "no reason recorded")


def _break_places(variant: VariantReport) -> Iterator[str]:
    for graph_break in variant.breaks:
        yield _line(graph_break.cause.where, graph_break.cause.reason)


def _largest(
    figure: Callable[[Compilation], float], describe: Callable[[float], str]
) -> Callable[[VariantReport], Iterator[str]]:
    def places(variant: VariantReport) -> Iterator[str]:
        for compilation in sorted(variant.compilations, key=figure, reverse=True):
            yield _line(compilation.frame, f"{describe(figure(compilation))} in {compilation.id}")

    return places


def _seconds(compilation: Compilation) -> float:
    return compilation.duration_s or 0.0


_PLACES: dict[str, Callable[[VariantReport], Iterator[str]]] = {
    "compilations": _compilation_places,
    "recompiles": _recompile_places,
    "graph_breaks": _break_places,
    "kernels": _largest(kernel_count, lambda number: count(int(number), "kernel")),
    "guards": _largest(guard_count, lambda number: count(int(number), "guard")),
    "compile_seconds": _largest(_seconds, lambda seconds: f"{seconds:.2f} s"),
}


def _line(where: SourceLine | None, text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    if where is None:
        return first
    function = f" in {where.function}" if where.function else ""
    return f"{where.file}:{where.line}{function}: {first}"


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:d}"
    return f"{value:.2f}" if abs(value) >= _SMALL else f"{value:.2g}"


_SMALL = 0.1
"""Below it, two decimals may hide a number."""
