"""Generated code as coloured, numbered lines of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

from pygments.lexer import Lexer
from pygments.lexers import CppLexer, LlvmLexer, PtxLexer, PythonLexer, TextLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

from .style import Markup

_LEXERS: dict[str, type[Lexer]] = {
    "python": PythonLexer,
    "triton": PythonLexer,
    "fx": PythonLexer,
    "cpp": CppLexer,
    "llir": LlvmLexer,
    "ptx": PtxLexer,
}
_TOKENS = (
    (Comment.Preproc, "keyword"),
    (Comment.PreprocFile, "string"),
    (Comment, "comment"),
    (String, "string"),
    (Number, "number"),
    (Keyword.Type, "builtin"),
    (Keyword.Constant, "number"),
    (Keyword, "keyword"),
    (Name.Function, "define"),
    (Name.Class, "define"),
    (Name.Decorator, "define"),
    (Name.Builtin, "builtin"),
)

Line = tuple[tuple[str, str], ...]
"""(style or "", text) pieces of one line, without its end."""


def lines(text: str, language: str) -> tuple[Line, ...]:
    """Split a text into lines of coloured pieces.

    Parameters
    ----------
    text
        The code. Every line of it comes back, blank ones at either end too, so that the numbers
        of a region hold.
    language
        ``python``, ``triton``, ``cpp``, ``fx``, ``llir``, ``ptx``; anything else stays without
        colour.
    """
    # The slow part of a report: what a cell leaves out never comes here.
    lexer = _LEXERS.get(language, TextLexer)(stripnl=False, ensurenl=False)
    rows: list[list[tuple[str, str]]] = [[]]
    for kind, value in lexer.get_tokens(text):
        first, *rest = value.split("\n")
        rows[-1].append((_style(kind), first))
        rows.extend([(_style(kind), piece)] for piece in rest)
    if text.endswith("\n"):
        rows.pop()
    return tuple(tuple(_joined(row)) for row in rows)


def split(text: str) -> list[str]:
    """Split a text into its lines; a line break at the end begins no further one."""
    return text.removesuffix("\n").split("\n") if text else []


def html(shown: Sequence[Line], markup: Markup, start: int = 1) -> str:
    """Return lines as a ``<pre>``, numbered from ``start``.

    Each line keeps its line break inside its element: where a site strips the styles, the lines
    still stand below one another.
    """
    body = "".join(_row(start + at, line, markup) for at, line in enumerate(shown))
    return markup.element("pre", "code", body)


def _row(number: int, line: Line, markup: Markup) -> str:
    return markup.element("span", "row", f"{_number(number, markup)}{_pieces(line, markup)}\n")


def _number(number: int, markup: Markup) -> str:
    return markup.element("span", "number", f"{number:>4}  ")


def _pieces(line: Line, markup: Markup) -> str:
    return "".join(
        markup.element("span", f"tok-{style}", escape(text)) if style else escape(text)
        for style, text in line
    )


def _style(kind: _TokenType) -> str:
    return next((style for family, style in _TOKENS if kind in family), "")


def _joined(row: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join neighbours of one style: a third of the markup goes."""
    grouped = ((style, "".join(text for _, text in pieces)) for style, pieces in _groups(row))
    return [(style, text) for style, text in grouped if text]


def _groups(row: list[tuple[str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(style, list(pieces)) for style, pieces in groupby(row, key=lambda piece: piece[0])]
