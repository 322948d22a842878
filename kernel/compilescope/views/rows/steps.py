"""The times of measured wrappers' steps, by kind, as rows of words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...report import STEP_KINDS, Report, Steps
from ...report.units import percent
from .. import wording
from ..wrapper_pairs import compared
from .table import Column, Table

TABLE = Table(
    "steps",
    (
        Column("step", "step"),
        Column("count", "{wrapper}, steps", "Steps of this kind in the wrapper's code", "figure"),
        Column("time", "{wrapper}, time", "Host time of these steps in one call", "figure"),
        Column("share", "share", "Of the sum of all steps", "figure"),
    ),
)
"""The last three are there for each wrapper, with its name in the title."""


class Graph(NamedTuple):
    """The measured wrappers of one graph, side by side."""

    compilation: str
    direction: str
    wrappers: list[tuple[str, Steps]]
    """Names of variants, and their wrappers' steps."""


def measured(report: Report) -> Iterator[Graph]:
    """Yield the graphs with measured steps of a wrapper."""
    by_graph: dict[tuple[str, str, int], list[tuple[str, Steps]]] = {}
    for variant in compared(report):
        for compilation in variant.compilations:
            seen: dict[str, int] = {}
            for steps in compilation.steps:
                number = seen[steps.direction] = seen.get(steps.direction, 0) + 1
                if steps.whole_us is not None:
                    key = (compilation.id, steps.direction, number)
                    by_graph.setdefault(key, []).append((variant.name, steps))
    for (compilation_id, direction, _), wrappers in by_graph.items():
        yield Graph(compilation_id, direction, wrappers)


def headline(graph: Graph) -> str:
    """Return the title of the rows, and the time of a call of each wrapper."""
    calls = ", ".join(
        f"{name} {wording.duration(steps.whole_us or 0.0)}" for name, steps in graph.wrappers
    )
    return f"{graph.compilation} {graph.direction}: what the wrapper's steps cost ({calls})"


def columns(graph: Graph) -> list[Column]:
    """Return the columns: the kind of a step, and those of each wrapper."""
    step, *of_wrapper = TABLE.columns
    return [
        step,
        *(
            column._replace(title=column.title.format(wrapper=name))
            for name, _ in graph.wrappers
            for column in of_wrapper
        ),
    ]


def rows(graph: Graph) -> list[tuple[str, ...]]:
    """Return the kinds of steps in the order of a call, then the sums."""
    table = []
    for kind, title in STEP_KINDS.items():
        cells = [title]
        for _, steps in graph.wrappers:
            same_kind = next((kinds for kinds in steps.kinds if kinds.kind == kind), None)
            if same_kind is None:
                cells += ["", "", ""]
            else:
                cells += _cells(same_kind.count, same_kind.us, same_kind.share)
        if any(cells[1:]):
            table.append(tuple(cells))
    sums = ["sum"]
    for _, steps in graph.wrappers:
        sums += _cells(len(steps.steps), steps.sum_us, None)
    return [*table, tuple(sums)]


def remarks(graph: Graph) -> list[str]:
    """Return why sums may not agree with the whole, and how it was measured."""
    reasons = [f"{name}: {steps.why}" for name, steps in graph.wrappers if steps.why]
    ways = {
        f"{name}: {steps.steps[0].how}": None
        for name, steps in graph.wrappers
        if steps.steps and steps.steps[0].how
    }
    return [*reasons, *ways]


def _cells(count: int, us: float | None, share: float | None) -> list[str]:
    return [
        wording.whole_number(count),
        "" if us is None else wording.duration(us),
        "" if share is None else percent(share),
    ]
