"""Reading generated text: brackets that balance, lists at the top level, names in an expression."""

from __future__ import annotations

import re

# One token of an expression that could hide a bracket, a comma or a name: strings come first.
_STRINGS = re.compile(r"""r?'(?:[^'\\\n]|\\.)*'|r?"(?:[^"\\\n]|\\.)*\"""")
_BRACKETS = re.compile(r"""r?'(?:[^'\\\n]|\\.)*'|r?"(?:[^"\\\n]|\\.)*"|[()\[\]{},]""")
_NAME = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<![\w.])[A-Za-z_]\w*""")


def depth(line: str, brackets: str = "()[]{}") -> int:
    """How many more of these brackets a line opens than it closes, strings left out."""
    if "'" in line or '"' in line:
        line = _STRINGS.sub("", line)
    half = brackets[::2], brackets[1::2]
    return sum(map(line.count, half[0])) - sum(map(line.count, half[1]))


def split_list(text: str) -> list[str]:
    """Split at the commas that stand in no bracket and no string; pieces are stripped."""
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
    level = 0
    for match in _BRACKETS.finditer(text, start):
        token = match.group()
        if token in "([{":
            level += 1
        elif token in ")]}":
            level -= 1
            if level == 0:
                return match.end()
    return len(text)


def names(expression: str, known: set[str] | dict[str, object]) -> list[str]:
    """The known names that an expression uses, in order, each once; keywords are not uses."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(expression):
        name = match.group()
        if name in known and not expression.startswith(" = ", match.end()):
            found[name] = None
    return list(found)
