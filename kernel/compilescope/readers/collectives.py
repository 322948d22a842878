"""Collectives that Inductor scheduled and its code does not call, such as a missing wait."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ..capture.logged_values import decoded
from ..report import Problem
from ..torch_api.trace.record_names import OUTPUT_CODE
from .lazy_trace import ProcessLog
from .outlines import Events, Text

SCHEDULE = "inductor_collective_schedule"
_CALL = re.compile(
    r"(?m)^(?!\s*(?:#|//)).*?(?:"
    # The Python wrapper's.
    r"_c10d_functional\.(\w+)(?:\.default)?\("
    # The C++ wrapper's by torch's C shim, which only some operators have; by the dispatcher;
    # and by Python. A profiled wrapper names the shim's function also in a string.
    r"|\baoti_torch_[a-z]+__c10d_functional_(\w+)\("
    r'|(?:aoti_torch_call_dispatcher|findSchemaOrThrow)\("_c10d_functional::(\w+)"'
    r'|PyUnicode_FromString\("torch\.ops\._c10d_functional\.(\w+)\.default"'
    r")"
)
"""A call; graphs in comments name the same operators. Most traces have none."""


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
    scheduled: Counter[str] = Counter()
    called: Counter[str] = Counter()
    for schedule, code in _pairs(events):
        scheduled.update(_scheduled(log.text_at(schedule.offset)))
        calls = _CALL.finditer(log.text_at(code.offset))
        called.update(_short(match[match.lastindex or 0]) for match in calls)
    return [
        f"{name}: {number} scheduled, {called[name]} called"
        for name, number in scheduled.items()
        if called[name] != number
    ]


def _pairs(events: Events) -> Iterator[tuple[Text, Text]]:
    """Each schedule with the code that it is of: torch logs the code just before.

    It logs the code of a cached graph too, and no schedule.
    """
    code: Text | None = None
    for text in events.texts:
        if text.name == OUTPUT_CODE:
            code = text
        elif text.name == SCHEDULE and code is not None:
            yield text, code
            code = None


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
