"""Formats figures for all sentences and views."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ...notebook_cells import is_cell
from ...report import FIRST_CALL_PARTS, SourceLine
from ...report.units import duration, whole_number


def of_whole(part_us: float, whole_us: float) -> str:
    """Return a part of a time in the whole's unit: ``0.75 of 2.19 ms``."""
    part, whole = duration(part_us), duration(whole_us)
    unit = whole.rpartition(" ")[2]
    if part.endswith(f" {unit}"):
        return f"{part.rpartition(' ')[0]} of {whole}"
    return f"{part} of {whole}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 guard`` or ``2 guards``; pass an irregular plural."""
    return f"{whole_number(number)} {noun if number == 1 else plural or noun + 's'}"


def compile_time(seconds: float) -> str:
    """Return ``68.0 s of compile time``; empty if none is known."""
    return f"{duration(seconds * 1e6)} of compile time" if seconds else ""


def round_number(value: float) -> str:
    """Return a large number rounded to two significant digits: ``57,000``."""
    if value < 10:
        return f"{max(value, 1):.0f}"
    digits = len(str(int(value))) - 2
    return whole_number(int(round(value, -digits)))


def place(where: SourceLine | None) -> str:
    """Return ``file:line``, the file without its folders; empty for an unknown place.

    The file name of a notebook cell means nothing to its author: it becomes ``cell [7], line 3``,
    or ``cell line 3`` if the cell's number is unknown.
    ``src/words/format.ts`` has the same rules; both are tested with ``tests/data/formats.json``.
    """
    if where is None:
        return ""
    if where.cell is not msgspec.UNSET:
        return f"cell [{where.cell}], line {where.line}"
    if is_cell(where.file):
        return f"cell line {where.line}"
    name = where.file.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{where.line}" if name else f"line {where.line}"


def largest_parts(parts: Mapping[str, float]) -> str:
    """Return the two longest parts of a first call: ``C++ build 4.11 s, AOTAutograd 659 ms``.

    Parameters
    ----------
    parts
        As in `CompileTime` (s).
    """
    known = sorted(
        (
            (seconds, FIRST_CALL_PARTS[part])
            for part, seconds in parts.items()
            if part in FIRST_CALL_PARTS and part != "other"
        ),
        reverse=True,
    )
    return ", ".join(f"{name} {duration(seconds * 1e6)}" for seconds, name in known[:2] if seconds)
