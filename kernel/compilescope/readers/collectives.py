"""Collectives that Inductor scheduled and its code does not call, such as a missing wait."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ..capture.logged_values import decoded
from ..report import Problem
from .lazy_trace import ProcessLog
from .outlines import Events

_SCHEDULE = "inductor_collective_schedule"
_CODE = "inductor_output_code"
_CALL = r"(?m)^(?!\s*(?:#|//)).*?_c10d_functional[._](\w+?)(?:\.default)?\("
"""A call in either wrapper; graphs in comments name the same operators. Most traces have none."""


def collective_problems(logs: Sequence[ProcessLog]) -> list[Problem]:
    """Compare each schedule with the calls in the code that was generated from it.

    Parameters
    ----------
    logs
        The processes of a trace.

    Returns
    -------
    list of Problem
        One for each compilation in which the two differ.
    """
    problems = []
    for log in logs:
        for events in log.events.values():
            differences = _differences(log, events)
            if differences:
                process = f"[{log.name}] " if len(logs) > 1 else ""
                problems.append(
                    Problem(
                        severity="warning",
                        what=f"{process}The code of {events.id} does not call the collectives that "
                        f"Inductor scheduled: {'; '.join(differences)}.",
                        why="A result that is used before its wait may be incomplete, and a rank "
                        "that calls fewer collectives than the others hangs.",
                        remedy="Look for the calls of torch.ops._c10d_functional in the code.",
                        facts={"compilation": events.id, "kind": "collectives"},
                    )
                )
    return problems


def _differences(log: ProcessLog, events: Events) -> list[str]:
    if not {_SCHEDULE, _CODE} <= {text.name for text in events.texts}:
        return []
    texts: dict[str, list[str]] = {_SCHEDULE: [], _CODE: []}
    for text in events.texts:
        if text.name in texts:
            texts[text.name].append(log.text_at(text.offset))
    scheduled = Counter(name for text in texts[_SCHEDULE] for name in _scheduled(text))
    calls = (match[1] for text in texts[_CODE] for match in re.finditer(_CALL, text))
    called = Counter(map(_short, calls))
    return [
        f"{name}: {number} scheduled, {called[name]} called"
        for name, number in scheduled.items()
        if called[name] != number
    ]


def _scheduled(text: str) -> list[str]:
    try:
        names = decoded(text)
    except ValueError:
        return []  # damaged: nothing to compare
    if not isinstance(names, list):
        return []
    matches = (re.search(r"_c10d_functional\.(\w+)", str(name)) for name in names)
    return [_short(match[1]) for match in matches if match]


def _short(name: str) -> str:
    return name.rstrip("_")
