"""Inserts a mark before each step of a wrapper: a line that records when the step begins.

The time between two marks is that of the first one's step, plus the cost of one mark. The function
begins with several marks in a row, which measure that cost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..analysis.wrapper.regions import scan, to_regions
from ..analysis.wrapper.steps import starts_inside, steps_of
from ..report import Step, WrapperLanguage
from ..torch_api.inductor.wrappers import marked_wrappers

CALIBRATING = 4
"""Marks in a row at the function's beginning; the first step is behind the last of them."""

_HEAD = re.compile(r"\s*def |(?:\w+ )*(?:\w+::)*inductor_entry_impl\(")
_WITH = re.compile(r"\s*with .*:$")


class MarkedText(msgspec.Struct, kw_only=True):
    """A text with marks."""

    text: str
    steps: list[Step]
    """The steps, with lines of the text without marks."""
    slots: list[int | None]
    """Number of a mark → the place of its step in ``steps``; None for those that tell the cost."""


def marked(text: str, artifact: WrapperLanguage) -> MarkedText | None:
    """Inserts marks into a wrapper; None where it has no function to put them into."""
    regions = to_regions(scan(text, artifact), "inference")
    steps = steps_of(text, artifact, regions)
    entry = next(
        (region for region in regions if region.kind == "entry" and region.label == "call"), None
    )
    if entry is None or not steps:
        return None
    lines = text.split("\n")
    slots: list[int | None] = []
    before: dict[int, list[str]] = {}
    for place, step in enumerate(steps):
        line = step.start
        if _HEAD.match(lines[line - 1]):
            line = _body(lines, line)
            if step.start == entry.start:
                for _ in range(CALIBRATING - 1):
                    before.setdefault(line, []).append(_mark(lines, line, len(slots), artifact))
                    slots.append(None)
        elif not starts_inside(lines, step):
            continue
        before.setdefault(line, []).append(_mark(lines, line, len(slots), artifact))
        slots.append(place)
        behind = _end_of_with(lines, step, entry.end) if artifact == "python" else None
        if behind is not None:
            # What the block does at its end is part of the step that opens it.
            inner, after = behind
            before.setdefault(after, []).insert(0, _mark(lines, inner, len(slots), artifact))
            slots.append(place)
    marked_lines: list[str] = []
    for number, line_text in enumerate(lines, start=1):
        if artifact == "cpp" and number == entry.start:
            marked_lines.append(marked_wrappers.CPP_HEAD.format(count=len(slots)))
        marked_lines += before.get(number, [])
        marked_lines.append(line_text)
    return MarkedText(text="\n".join(marked_lines), steps=steps, slots=slots)


def _mark(lines: Sequence[str], line: int, slot: int, artifact: WrapperLanguage) -> str:
    """A mark, indented as a line is."""
    text = lines[line - 1]
    indent = text[: len(text) - len(text.lstrip())]
    return indent + marked_wrappers.MARKS[artifact].format(slot=slot)


def _body(lines: Sequence[str], head: int) -> int:
    """The first line of code of the function whose head begins at a line."""
    number = head
    while not lines[number - 1].rstrip().endswith(("{", ":")):
        number += 1
    number += 1
    while not lines[number - 1].strip() or lines[number - 1].lstrip().startswith("#"):
        number += 1
    return number


def _end_of_with(lines: Sequence[str], step: Step, end: int) -> tuple[int, int] | None:
    """Of a ``with`` that a step opens: a line of code in its block, and the first behind it."""
    opening = next((n for n in range(step.start, step.end + 1) if _WITH.match(lines[n - 1])), None)
    if opening is None:
        return None
    indent = _indent(lines[opening - 1])
    inner = _body(lines, opening)
    for number in range(inner, len(lines) + 1):
        text = lines[number - 1]
        if text.strip() and not text.lstrip().startswith("#") and _indent(text) <= indent:
            return inner, number
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
