"""Dynamo's printed guard tree → guards with what they check and the line they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..report import Guard, SourceLine

_LINE = re.compile(r"[| ]*\+- (\w+)(?:: (.*))?$", re.S)
_BRANCH = re.compile(r"[| ]*\+- ")
_MANAGERS = re.compile(r"\w*(?:GuardManager|Manager)$")
_SOURCE = re.compile(r"source=(.*?), accessed_by=")
_ORIGIN = re.compile(r"\s+#(?: (.*?))?\s+# (\S+):(\d+) in ([\w<>.]+)", re.S)
_ORIGIN_ONLY = re.compile(r"\s+# (\S+):(\d+) in ([\w<>.]+)")
_NOTE = re.compile(r"\s{2,}# ")
_NAMED = re.compile(r"(?:[LG]\[(?:'[^']*'|\"[^\"]*\")\](?:\.\w+(?:\(\))?|\[[^\[\]]*\])*)")


def parse_guards(text: str, files: Iterable[str] = ()) -> list[Guard]:
    """Read the guards that ``dynamo_cpp_guards_str`` prints.

    Parameters
    ----------
    text
        The tree, one guard or guard manager a line.
    files
        Full names of files that are known. The tree names files in short (``model.py``), so an
        origin gets its full name where exactly one known file ends in it, and else stays short.

    Returns
    -------
    list of Guard
        Leaf guards only, in the order in which Dynamo checks them.
    """
    resolve = _Files(files)
    sources: list[tuple[int, str]] = []
    guards = []
    for line in _logical_lines(text):
        match = _LINE.match(line)
        if match is None:
            continue
        kind, rest = match.group(1), match.group(2) or ""
        level = line.index("+-")
        while sources and sources[-1][0] >= level:
            sources.pop()
        if _MANAGERS.match(kind):
            source = _SOURCE.match(rest)
            sources.append((level, source.group(1) if source else ""))
            continue
        expression, origin = _split(rest, resolve)
        source_name = sources[-1][1] if sources else ""
        if not source_name or source_name in ("L", "G"):
            named = _NAMED.search(expression)
            source_name = named.group() if named else ""
        guards.append(Guard(expression=expression, type=kind, source=source_name, origin=origin))
    return guards


def _logical_lines(text: str) -> list[str]:
    """The tree's lines; a guard on a text with line breaks in it goes over several."""
    lines: list[str] = []
    for line in text.split("\n"):
        if _BRANCH.match(line):
            lines.append(line)
        elif lines and line.strip() and not line.startswith(("Guard latency", "TREE_GUARD")):
            lines[-1] += "\n" + line
    return lines


def _split(rest: str, resolve: _Files) -> tuple[str, SourceLine | None]:
    """Part a guard's expression from the comments behind it."""
    match = _ORIGIN.search(rest)
    if match:
        code, file, line, function = match.groups()
    else:
        match = _ORIGIN_ONLY.search(rest)
        if match is None:
            note = _NOTE.search(rest)
            return (rest[: note.start()] if note else rest).rstrip(), None
        code, (file, line, function) = "", match.groups()
    origin = SourceLine(
        file=resolve(file), line=int(line), function=function, code=(code or "").strip()
    )
    return rest[: match.start()].rstrip(), origin


class _Files:
    """Finds the full name of a file that is named in short.

    torch cuts off what the name has in common with its own folder's, be it in the middle of a word.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self.files = list(dict.fromkeys(files))
        self.found: dict[str, str] = {}

    def __call__(self, short: str) -> str:
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
