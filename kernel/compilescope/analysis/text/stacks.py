"""Python tracebacks in text → source lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

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


def _is_marker(code: str) -> bool:
    return bool(code) and not code.strip("^~ ")
