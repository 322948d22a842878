"""Generated code as lines of colored pieces."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby

from ... import extras

_LEXERS = {
    "python": "python",
    "triton": "python",
    "fx": "python",
    "cpp": "cpp",
    "llir": "llvm",
    "ptx": "ptx",
}
_TOKENS = {
    "Token.Comment.Preproc": "keyword",
    "Token.Comment.PreprocFile": "string",
    "Token.Comment": "comment",
    "Token.Literal.String": "string",
    "Token.Literal.Number": "number",
    "Token.Keyword.Type": "builtin",
    "Token.Keyword.Constant": "number",
    "Token.Keyword": "keyword",
    "Token.Name.Function": "define",
    "Token.Name.Class": "define",
    "Token.Name.Decorator": "define",
    "Token.Name.Builtin": "builtin",
}

Line = tuple[tuple[str, str], ...]
"""(style or "", text) pieces of one line, without its end."""


def lines(text: str, language: str) -> tuple[Line, ...]:
    """Split a text into lines of colored pieces.

    Parameters
    ----------
    text
        The code. Every line is returned, including blank ones at both ends, so that regions' line
        numbers stay valid.
    language
        ``python``, ``triton``, ``cpp``, ``fx``, ``llir``, ``ptx``; anything else stays without
        color.
    """
    rows: list[list[tuple[str, str]]] = [[]]
    for style, value in _pieces_of(text, language):
        first, *rest = value.split("\n")
        rows[-1].append((style, first))
        rows.extend([(style, piece)] for piece in rest)
    if text.endswith("\n"):
        rows.pop()
    return tuple(tuple(_joined(row)) for row in rows)


def split(text: str) -> list[str]:
    """Split a text into its lines; a line break at the end begins no further one."""
    return text.removesuffix("\n").split("\n") if text else []


def _pieces_of(text: str, language: str) -> Iterable[tuple[str, str]]:
    if language not in _LEXERS or extras.missed("pygments"):
        return [("", text)]
    from pygments.lexers import get_lexer_by_name

    # The slow part of a report, so lines that a cell leaves out are not passed here.
    lexer = get_lexer_by_name(_LEXERS[language], stripnl=False, ensurenl=False)
    return ((_style(str(kind)), value) for kind, value in lexer.get_tokens(text))


@cache
def _style(kind: str) -> str:
    """The style of a kind of token, or of the nearest kind above it."""
    while kind and kind not in _TOKENS:
        kind = kind.rpartition(".")[0]
    return _TOKENS.get(kind, "")


def _joined(row: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join neighbors of one style: a third of the markup goes."""
    grouped = ((style, "".join(text for _, text in pieces)) for style, pieces in _groups(row))
    return [(style, text) for style, text in grouped if text]


def _groups(row: list[tuple[str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(style, list(pieces)) for style, pieces in groupby(row, key=lambda piece: piece[0])]
