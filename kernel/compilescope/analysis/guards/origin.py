"""The comments behind a printed guard: the user's line that made torch guard, and torch's notes.

``L['k'] == 2   # y = x * k  # model.py:7 in forward (HINT: …)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...report import SourceLine

_LINE = re.compile(r"# ([^#\n]*?[^#\s]):(\d+) in ([\w<>.]+)(.*)$", re.S)
_STRINGS = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.S)
_TRIES = 20
"""How many ``#`` are looked at before a guard is taken to name no line."""


def split(text: str, resolve: Files) -> tuple[str, SourceLine | None, str]:
    """Part a guard into its expression, the line it comes from, and what torch notes besides."""
    at = len(text)
    for _ in range(_TRIES):
        at = text.rfind("# ", 0, at)
        if at < 0:
            break
        match = _LINE.match(text, at)
        if match is None:
            continue
        file, line, function, note = match.groups()
        before = text[:at].rstrip()
        comment = _comment(before)
        expression = before if comment is None else before[:comment].rstrip()
        code = "" if comment is None else before[comment + 1 :].strip()
        origin = SourceLine(file=resolve(file), line=int(line), function=function, code=code)
        return expression, origin, _inner(note)
    comment = _comment(text)
    if comment is None:
        return text.rstrip(), None, ""
    return text[:comment].rstrip(), None, text[comment + 1 :].strip()


def _comment(text: str) -> int | None:
    """Where the first ``#`` outside of a text constant stands, behind a blank."""
    at = -1
    for _ in range(_TRIES):
        at = text.find("# ", at + 1)
        if at < 0:
            return None
        if at and text[at - 1].isspace():
            rest = _STRINGS.sub("", text[:at])
            if "'" not in rest and '"' not in rest:
                return at
    return None


def _inner(note: str) -> str:
    note = note.strip()
    return note[1:-1] if note.startswith("(") and note.endswith(")") else note


class Files:
    """Finds the full name of a file that is named in short.

    torch cuts off what the name has in common with its own folder's, be it in the middle of a word.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self.files = list(dict.fromkeys(files))
        self.found: dict[str, str] = {}

    def __call__(self, short: str) -> str:
        """The full name, where it can be told; else the short one."""
        if short not in self.found:
            self.found[short] = self._find(short)
        return self.found[short]

    def _find(self, short: str) -> str:
        ending = [file for file in self.files if file.endswith(short)]
        whole = [file for file in ending if re.fullmatch(r".*[\\/]|", file[: -len(short)])]
        for candidates in (whole, ending):
            if len(candidates) == 1:
                return candidates[0]
        return short
