"""How figures read, the same in every sentence and in every view."""

from __future__ import annotations

import re

from ...report import SourceLine
from ...report.units import duration


def of_whole(part_us: float, whole_us: float) -> str:
    """Return a part of a time in the whole's unit: ``0.75 of 2.19 ms``."""
    part, whole = duration(part_us), duration(whole_us)
    unit = whole.rpartition(" ")[2]
    if part.endswith(f" {unit}"):
        return f"{part.rpartition(' ')[0]} of {whole}"
    return f"{part} of {whole}"


def percent(share: float) -> str:
    """Return a share in whole percent; ``under 1 %`` of what is there."""
    return "under 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 guard`` or ``2 guards``; an irregular plural is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def round_number(value: float) -> str:
    """Return a large number with two digits that count: ``57,000``."""
    if value < 10:
        return f"{max(value, 1):.0f}"
    digits = len(str(int(value))) - 2
    return f"{round(value, -digits):,.0f}"


def place(where: SourceLine | None) -> str:
    """Return ``file:line``, the file without its folders; empty for an unknown place.

    A notebook cell has a file name that says nothing to its author: it reads ``cell, line 3``.
    """
    if where is None:
        return ""
    parts = where.file.replace("\\", "/").split("/")
    if any(part.startswith("ipykernel_") for part in parts[:-1]):
        return f"cell, line {where.line}"
    number = re.match(r"<ipython-input-(\d+)-", parts[-1])
    if number:
        return f"In[{number[1]}], line {where.line}"
    return f"{parts[-1]}:{where.line}" if parts[-1] else f"line {where.line}"
