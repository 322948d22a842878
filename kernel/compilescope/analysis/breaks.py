"""``dynamo_graph_break_reason`` → a break: what, why, what to do, where."""

from __future__ import annotations

import re
from pathlib import Path

from ..report import Break, SourceLine
from .stacks import read_stack

_PLACE = re.compile(r"Graph break in user code at (.*):(\d+)\s*$")
_REASON = re.compile(r"Graph Break Reason: (.*)$")
_WHILE = re.compile(r"Encountered graph break when attempting to trace")
_LINK = re.compile(r"For more details about this graph break, please visit: (\S+)")
_FIELD = re.compile(r"\s*(Explanation|Hint|Developer debug context): ?(.*)$")
_USER_STACK = "User code traceback:"
_ENDS = (_USER_STACK, "Traceback (most recent", "Stack variable source attribution")


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
        found_link = _LINK.search(line)
        begun = _FIELD.match(line)
        if place and where is None:
            where = SourceLine(file=place.group(1), line=int(place.group(2)))
        elif found_link:
            link, current = found_link.group(1), None
        elif begun:
            current = begun.group(1)
            fields[current].append(begun.group(2))
        elif current:
            fields[current][-1] += "\n" + line
        else:
            stated = _REASON.match(line)
            said = stated.group(1) if stated else line.strip()
            if said:
                reason.append(said)
    stack = _below_us(read_stack(_user_stack(lines)))
    if where and stack:
        same = [frame for frame in stack if (frame.file, frame.line) == (where.file, where.line)]
        where = same[-1] if same else where
    elif stack:
        where = stack[-1]
    if len(reason) > 1 and _WHILE.match(reason[0]):
        reason = reason[1:]
    return Break(
        reason="\n".join(reason),
        explanation="\n".join(map(_dedent, fields["Explanation"])),
        hints=[_dedent(hint) for hint in fields["Hint"]],
        context="\n".join(map(_dedent, fields["Developer debug context"])),
        link=link,
        where=where,
        stack=stack,
    )


def _end_of_message(lines: list[str]) -> int:
    """Where the message ends and the first traceback begins."""
    for index, line in enumerate(lines):
        if line.startswith(_ENDS):
            return index
    return len(lines)


_OURS = str(Path(__file__).parents[1])


def _below_us(stack: list[SourceLine]) -> list[SourceLine]:
    """The frames of the subject: without those of the inspection that called it."""
    ours = [index for index, frame in enumerate(stack) if frame.file.startswith(_OURS)]
    return stack[ours[-1] + 1 :] if ours else stack


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
