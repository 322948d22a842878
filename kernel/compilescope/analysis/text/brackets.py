"""Parses generated text: matching brackets, top-level lists, names in an expression."""

from __future__ import annotations

import re

# One token of an expression that could hide a bracket, a comma or a name: strings come first.
_STRINGS = re.compile(r"""r?'(?:[^'\\\n]|\\.)*'|r?"(?:[^"\\\n]|\\.)*\"""")
_BRACKETS = re.compile(r"""r?'(?:[^'\\\n]|\\.)*'|r?"(?:[^"\\\n]|\\.)*"|[()\[\]{},]""")
_NESTED = re.compile(r"""[()\[\]{}'"]""")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_OF_KIND = {
    opening: (re.compile(kind), re.compile(f"{_STRINGS.pattern}|{kind}"))
    for opening, kind in (("(", r"[()]"), ("[", r"[\[\]]"), ("{", r"[{}]"))
}
"""Opening bracket → the brackets of its kind, alone and beside the strings that could hide one. The
search without strings is faster, and few kernels have any."""
_NAME = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<![\w.])[A-Za-z_]\w*""")


def depth(line: str, brackets: str = "()[]{}") -> int:
    """How many more of these brackets a line opens than it closes, strings left out."""
    if "'" in line or '"' in line:
        line = _STRINGS.sub("", line)
    count = line.count
    level = 0
    for index in range(0, len(brackets), 2):
        level += count(brackets[index]) - count(brackets[index + 1])
    return level


def split_list(text: str) -> list[str]:
    """Split at the commas that stand in no bracket and no string; pieces are stripped."""
    if not _NESTED.search(text):
        plain = [piece.strip() for piece in text.split(",")]
        return plain if plain[-1] else plain[:-1]
    pieces: list[str] = []
    level = start = 0
    for match in _BRACKETS.finditer(text):
        token = match.group()
        if token in "([{":
            level += 1
        elif token in ")]}":
            level -= 1
        elif token == "," and level == 0:
            pieces.append(text[start : match.start()].strip())
            start = match.end()
    last = text[start:].strip()
    if last:
        pieces.append(last)
    return pieces


def closing(text: str, start: int) -> int:
    """The index just after the bracket that closes the one at ``start``; the end if none does."""
    opening = text[start]
    end = _CLOSES[opening]
    first = text.find(end, start)
    if first < 0 or not _NESTED.search(text, start + 1, first):
        return first + 1 or len(text)
    has_strings = text.find("'", start) >= 0 or text.find('"', start) >= 0
    level = 0
    for match in _OF_KIND[opening][has_strings].finditer(text, start):
        token = match.group()
        if token == opening:
            level += 1
        elif token == end:
            level -= 1
            if level == 0:
                return match.end()
    return len(text)


def names(expression: str, candidates: set[str] | dict[str, object]) -> list[str]:
    """The known names that an expression uses, in order, each once; keywords are not uses."""
    used: dict[str, None] = {}
    for match in _NAME.finditer(expression):
        name = match.group()
        if name in candidates and not expression.startswith(" = ", match.end()):
            used[name] = None
    return list(used)
