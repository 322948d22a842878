"""Parses the comment after a printed guard: the user's line that caused it, and torch's notes.

``L['k'] == 2   # y = x * k  # model.py:7 in forward (HINT: …)``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from ...report import SourceLine

_LINE = re.compile(r"# ([^#\n]*?[^#\s]):(\d+) in ([\w<>.]+)(.*)$", re.S)
_STRINGS = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.S)
_HASH = re.compile(r"(?<=\s)#(?= |$)")
"""How the comment after a guard begins: with nothing after it where the source is not available."""
_TRIES = 20
"""How many ``#`` are examined before a guard counts as having no line."""


def split(text: str, resolve: Files) -> tuple[str, SourceLine | None, str]:
    """Split a guard into its expression, the line it comes from, and torch's notes."""
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


def with_full_path(text: str, resolve: Files) -> str:
    """A guard whose comment names the file of its line in full."""
    at = text.rfind("# ")
    match = _LINE.match(text, at) if at >= 0 else None
    if match is None:
        return text
    return f"{text[: match.start(1)]}{resolve(match.group(1))}{text[match.end(1) :]}"


def _comment(text: str) -> int | None:
    """The position of the first ``#`` after a blank and outside of a string."""
    for match in itertools.islice(_HASH.finditer(text), _TRIES):
        rest = _STRINGS.sub("", text[: match.start()])
        if "'" not in rest and '"' not in rest:
            return match.start()
    return None


def _inner(note: str) -> str:
    note = note.strip()
    return note[1:-1] if note.startswith("(") and note.endswith(")") else note


class Files:
    """Finds the full name of a file from its short name.

    torch cuts off the prefix that the name shares with its own folder, even within a word.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self.files = list(dict.fromkeys(files))
        self.full_names: dict[str, str] = {}
        """Short name → the requested file."""

    def __call__(self, short: str) -> str:
        """The full name if it is known, otherwise the short one."""
        if short not in self.full_names:
            self.full_names[short] = self._find(short)
        return self.full_names[short]

    def _find(self, short: str) -> str:
        ending = [file for file in self.files if file.endswith(short)]
        whole = [file for file in ending if re.fullmatch(r".*[\\/]|", file[: -len(short)])]
        for candidates in (whole, ending):
            if len(candidates) == 1:
                return candidates[0]
        return short
