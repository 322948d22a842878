"""Parses Python tracebacks, as text or as torch logs them, into source lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...capture.logged_values import logged_count
from ...package_folder import INSIDE
from ...report import SourceLine

_FRAME = re.compile(r'^\s*File "(.*)", line (\d+), in (.*)$')


def read_stack(text: str | Iterable[str]) -> list[SourceLine]:
    """Read ``File "…", line N, in f`` and the line of code under each.

    Parameters
    ----------
    text
        A traceback as Python prints it; other lines are passed over.

    Returns
    -------
    list of SourceLine
        Innermost frame last.
    """
    lines = text.split("\n") if isinstance(text, str) else list(text)
    frames = []
    for index, line in enumerate(lines):
        match = _FRAME.match(line)
        if match is None:
            continue
        code = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if _FRAME.match(code) or not lines[index + 1 : index + 2] or _is_marker(code):
            code = ""
        file, number, function = match.groups()
        frames.append(SourceLine(file=file, line=int(number), function=function, code=code))
    return frames


def logged_line(frame: Mapping[str, Any]) -> SourceLine:
    """Read one frame of a stack that torch logged.

    Parameters
    ----------
    frame
        ``{"filename": …, "line": …, "name": …, "loc": …}``.

    Returns
    -------
    SourceLine
        What is missing is empty, or 0.
    """
    return SourceLine(
        file=str(frame.get("filename", "")),
        line=logged_count(frame.get("line")) or 0,
        function=str(frame.get("name", "")),
        code=str(frame.get("loc") or ""),
    )


def logged_stack(stack: Any) -> list[SourceLine]:
    """Read a stack that torch logged, innermost frame last; empty where there is none.

    While torch retraces a graph, no line of the user's is known. The stack is then that of the
    logging itself, which ends in a frame of this package: it is empty, too.
    """
    frames = stack if isinstance(stack, list | tuple) else []
    return below_us([logged_line(frame) for frame in frames if isinstance(frame, dict)])


def below_us(stack: list[SourceLine]) -> list[SourceLine]:
    """The frames of the subject, without those of the inspection that called it."""
    inside = [index for index, frame in enumerate(stack) if frame.file.startswith(INSIDE)]
    return stack[inside[-1] + 1 :] if inside else stack


def _is_marker(code: str) -> bool:
    return bool(code) and not code.strip("^~ ")
