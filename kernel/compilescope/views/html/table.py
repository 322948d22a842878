"""A table of words and figures in the HTML report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from .style import Markup


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    markup: Markup,
    *,
    words: Collection[int] = (),
    tag: str = "",
    sparse: bool = False,
) -> str:
    """Return a table; empty where there are no rows.

    Parameters
    ----------
    head
        The titles of the columns.
    rows
        As plain text. The first cell of each is its title.
    words
        Columns that hold words, which may wrap, besides the first; the others are figures.
    tag
        The element around each row's title: ``b``, ``code``.
    sparse
        Leave out columns in which every row is empty.
    """
    if not rows:
        return ""
    kept = [at for at in range(len(head)) if not sparse or any(row[at] for row in rows)]
    titles = "".join(markup.element("th", "head", escape(head[at])) for at in kept)
    cells = ("".join(_cell(row[at], at, words, tag, markup) for at in kept) for row in rows)
    body = "".join(f"<tr{markup.attributes('plain')}>{row}</tr>" for row in cells)
    made = f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody>"
    return markup.element("div", "scroll", markup.element("table", "table", made))


def _cell(text: str, column: int, words: Collection[int], tag: str, markup: Markup) -> str:
    if column == 0:
        title = f"<{tag}>{escape(text)}</{tag}>" if tag else escape(text)
        return f'<th scope="row"{markup.attributes("words")}>{title}</th>'
    return markup.element("td", "words" if column in words else "figure", escape(text))
