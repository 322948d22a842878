"""Compilations that a log does not show the end of."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.figures.wording import place
from ..report import Problem
from .lazy_trace import ProcessLog

_NAMED = 3
"""How many compilations a problem names."""


def unfinished_problems(logs: Iterable[ProcessLog]) -> list[Problem]:
    """A problem for each process whose log ends within a compilation.

    Parameters
    ----------
    logs
        Those that may still be written are left out.
    """
    problems = []
    for log in logs:
        ids = [events.id for events in log.events.values() if events.is_unfinished]
        if not ids or not log.is_whole:
            continue
        named = [_described(log, compile_id) for compile_id in ids[:_NAMED]]
        more = [f"{len(ids) - _NAMED} more"] if len(ids) > _NAMED else []
        problems.append(
            Problem(
                severity="warning",
                what=f"{log.name} ends within {', '.join([*named, *more])}.",
                why="The process was killed or died while torch compiled, or it still compiles.",
                remedy="If it died, look at the end of its stderr.",
            )
        )
    return problems


def _described(log: ProcessLog, compile_id: str) -> str:
    events = log.events[compile_id]
    frame = log.outline(events).frame
    where = f" ({frame.function}, {place(frame)})" if frame is not None else ""
    part = "the backward of " if events.is_done else ""
    return f"{part}{compile_id}{where}"
