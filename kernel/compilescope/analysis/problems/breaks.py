"""Parses ``dynamo_graph_break_reason``: the cause, place and remedy, and what runs in eager."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...capture.records import Record
from ...report import Break, SourceLine
from ...report.resumed import plain_function, readable_text, resumed_at
from ...torch_api.trace.record_names import (
    CHROMIUM_EVENT,
    DYNAMO_ERROR,
    GRAPH_BREAK_REASON,
)
from ..text.methods import qualified_name
from ..text.stacks import below_us, read_stack
from .failed_records import METRICS, restart_reasons

_PLACE = re.compile(r"Graph break in user code at (.*):(\d+)\s*$")
_REASON = re.compile(r"Graph Break Reason: (.*)$")
_WHILE = re.compile(r"Encountered graph break when attempting to trace")
_LINK = re.compile(r"For more details about this graph break, please visit: (\S+)")
_VISIT = "please visit: "
_FIELD = re.compile(r"\s*(Explanation|Hint|Developer debug context): ?(.*)$")
_USER_STACK = "User code traceback:"
_UNHANDLED = "Failed to handle graph break gracefully"
"""The beginning of torch's message if the whole frame runs in eager; the reason follows."""
_UNRESUMABLE = "Encountered graph break that we cannot resume from"
"""The beginning of torch's message if the rest of the frame runs in eager; the reason follows."""
_NESTED_BREAK = "*** While handling this graph break"
_ENDS = (_USER_STACK, "Traceback (most recent", "Stack variable source attribution")


def read_breaks(records: Sequence[Record], frame: SourceLine | None) -> list[Break]:
    """Read the breaks of one compilation, each once, even if several attempts hit it.

    Parameters
    ----------
    records
        The compilation's, of all attempts.
    frame
        The function that was compiled.
    """
    if not any(record.name == GRAPH_BREAK_REASON for record in records):
        return []
    attempt_starts: dict[int, float] = {}
    for record in records:
        if record.event != CHROMIUM_EVENT:
            attempt_starts.setdefault(record.attempt, record.time_s)
    counted_until = dict(attempt_starts)
    failed = any(record.name == DYNAMO_ERROR for record in records)
    logged = [
        (record, record.payload, parse_break(record.payload))
        for record in records
        if record.name == GRAPH_BREAK_REASON and record.payload
    ]
    reasons = [reason for record in records for reason in _restart_reasons(record)]
    # A branch on data may be in an attempt that Dynamo repeats for another reason. Of a frame that
    # it leaves to eager, torch logs no reasons.
    repeated = {
        record.attempt
        for record, _, graph_break in logged
        if record.attempt + 1 in attempt_starts
        and (not reasons or causes_restart(graph_break, reasons))
    }
    breaks: list[Break] = []
    for record, payload, graph_break in logged:
        is_unhandled = f"Graph Break Reason: {_UNHANDLED}" in payload
        if is_unhandled or failed or record.attempt in repeated:
            # Otherwise torch keeps the graph traced up to the break, so no time is lost.
            graph_break.duration_us = round(
                (record.time_s - counted_until[record.attempt]) * 1e6, 1
            )
            counted_until[record.attempt] = record.time_s
        if is_unhandled:
            graph_break.eager = _whole_frame(frame)
        elif f"Graph Break Reason: {_UNRESUMABLE}" in payload:
            graph_break.eager = _rest_of_frame(frame)
        else:
            graph_break.eager = _statement(graph_break, frame)
        same = next((other for other in breaks if same_break(other, graph_break)), None)
        if same is None:
            breaks.append(graph_break)
        else:
            if graph_break.duration_us is not None:
                same.duration_us = (same.duration_us or 0.0) + graph_break.duration_us
            same.eager = graph_break.eager
    return breaks


def causes_restart(graph_break: Break, reasons: Sequence[str]) -> bool:
    """Whether the break is one of torch's reasons for starting a frame again."""
    first = graph_break.reason.partition("\n")[0]
    return any(first in reason for reason in reasons)


def _restart_reasons(record: Record) -> list[str]:
    metrics = record.metadata.get(record.event) if record.event in METRICS else None
    return restart_reasons(metrics) if isinstance(metrics, dict) else []


def same_break(graph_break: Break, other: Break) -> bool:
    """Whether two breaks are the same one: the same reason at the same line."""
    return break_key(graph_break) == break_key(other)


def break_key(graph_break: Break) -> tuple[str, str, int]:
    """A key that is equal for two records of the same break."""
    where = graph_break.where
    return (
        graph_break.reason.partition("\n")[0],
        where.file if where else "",
        where.line if where else 0,
    )


def line_of(graph_break: Break, frame: SourceLine | None) -> SourceLine | None:
    """The line of the compiled function at the break, which may be inside a function it calls."""
    for place in graph_break.stack:
        if frame and (place.file, plain_function(place.function)) == (
            frame.file,
            plain_function(frame.function),
        ):
            return place
    return graph_break.where


def skips_frame(graph_break: Break, frame: SourceLine | None) -> bool:
    """Whether torch leaves the frame to eager because of the break, or the rest of it.

    It compiles nothing of the frame if the break is in a loop, and nothing of the rest if it cannot
    resume the function after the break, as at an RNN that is called.
    """
    return graph_break.eager in (_whole_frame(frame), _rest_of_frame(frame))


def _whole_frame(frame: SourceLine | None) -> str:
    if frame is None:
        return "the whole frame"
    if resumed_at(frame.function) is not None:
        return f"{qualified_name(frame)} on"
    return f"all of {qualified_name(frame)}"


def _rest_of_frame(frame: SourceLine | None) -> str:
    return f"the rest of {plain_function(qualified_name(frame)) if frame else 'the frame'}"


def _statement(graph_break: Break, frame: SourceLine | None) -> str:
    place = line_of(graph_break, frame)
    if place is None:
        return ""
    return place.code.strip() or f"line {place.line}"


def parse_break(text: str) -> Break:
    """Read one graph break.

    Parameters
    ----------
    text
        The artifact's text: the place, the reason with its explanation and hints, a link, then the
        user's stack and Dynamo's own (which is left out).
    """
    lines = text.split("\n")
    where: SourceLine | None = None
    reason: list[str] = []
    fields: dict[str, list[str]] = {"Explanation": [], "Hint": [], "Developer debug context": []}
    link = ""
    current: str | None = None
    end = _end_of_message(lines)
    for line in lines[:end]:
        place = _PLACE.match(line)
        found_link = _LINK.search(line) if _VISIT in line else None  # a search is slow
        field_start = _FIELD.match(line)
        if place and where is None:
            where = SourceLine(file=place.group(1), line=int(place.group(2)))
        elif found_link:
            link, current = link or found_link.group(1), None
        elif line.startswith(_NESTED_BREAK):
            current = None
        elif field_start:
            current = field_start.group(1)
            fields[current].append(field_start.group(2))
        elif current:
            fields[current][-1] += "\n" + line
        else:
            stated = _REASON.match(line)
            stripped = stated.group(1) if stated else line.strip()
            if stripped:
                reason.append(stripped)
    stack = below_us(read_stack(_user_stack(lines)))
    if where and stack:
        same = [frame for frame in stack if (frame.file, frame.line) == (where.file, where.line)]
        where = same[-1] if same else where
    elif stack:
        where = stack[-1]
    while len(reason) > 1 and (
        _WHILE.match(reason[0]) or reason[0].startswith((_UNHANDLED, _UNRESUMABLE))
    ):
        reason = reason[1:]
    return Break(
        reason="\n".join(reason),
        explanation=readable_text("\n".join(map(_dedent, fields["Explanation"]))),
        hints=[_dedent(hint) for hint in fields["Hint"]],
        context=readable_text("\n".join(map(_dedent, fields["Developer debug context"]))),
        link=link,
        where=where,
        stack=stack,
    )


def _end_of_message(lines: list[str]) -> int:
    """The position where the message ends and the first traceback begins."""
    for index, line in enumerate(lines):
        if line.startswith(_ENDS):
            return index
    return len(lines)


def _user_stack(lines: list[str]) -> list[str]:
    """The lines of the user's own traceback."""
    begin = next((i for i, line in enumerate(lines, 1) if line.startswith(_USER_STACK)), None)
    if begin is None:
        return []
    for end in range(begin, len(lines)):
        if lines[end] and not lines[end].startswith(" "):
            return lines[begin:end]
    return lines[begin:]


def _dedent(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n")).strip()
