"""The Python and the C++ wrapper side by side, on one height where they launch the same kernel."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from ...report import Report
from .. import wording
from ..limits import Limits
from ..rows.side_by_side import Chunk, Row, rows
from ..wrapper_pairs import Pair, Side, pairs
from . import highlight
from .style import Markup
from .summary import details


def _hue(launch: int) -> int:
    """Return a launch's hue in degrees: teal to violet, since red and yellow would say "wrong"."""
    return 170 + launch * 55 % 150


def wrappers(
    report: Report,
    markup: Markup,
    limits: Limits,
    hint: str,
    *,
    left: str | None = None,
    right: str | None = None,
) -> str:
    """Return the wrappers of every compilation, in pairs; ``hint`` says how to see all."""
    found = pairs(report, left, right)
    shown = [
        details(_summary(pair), _pair(pair, markup, limits, hint), markup)
        for pair in found[: limits.pairs]
    ]
    if len(found) > limits.pairs:
        left_out = wording.count(len(found) - limits.pairs, "more pair")
        shown.append(markup.element("p", "gap", f"{left_out}: <code>{escape(hint)}</code>"))
    return "\n".join(shown)


def _summary(pair: Pair) -> str:
    titles = " | ".join(side.title for side in _sides(pair))
    return f"<b>{escape(titles)}</b> · {escape(pair.compilation)} {pair.direction}"


def _pair(pair: Pair, markup: Markup, limits: Limits, hint: str) -> str:
    shown = [_Column(side, highlight.split(side.text)) for side in _sides(pair)]
    first, second = shown[0], shown[1] if len(shown) == 2 else None
    aligned = rows(
        first.side.regions,
        len(first.lines),
        second.side.regions if second else [],
        len(second.lines) if second else 0,
    )
    heads = "".join(
        f'<th scope="col"{markup.attributes("side-head")}>{escape(one.side.title)}, '
        f"{wording.count(len(one.lines), 'line')}</th>"
        for one in shown
    )
    body, used = "", 0
    for number, row in enumerate(aligned):
        used += row.height
        if used > limits.wrapper_lines and row.height:
            rest = sum(one.height for one in aligned[number:])
            note = f"{wording.count(rest, 'more line')}: <code>{escape(hint)}</code>"
            body += (
                f'<tr><td colspan="{len(shown)}"{markup.attributes("side", "gap")}>{note}</td></tr>'
            )
            break
        body += _row(row, shown, markup, folds=limits.folds)
    table = (
        f"<table{markup.attributes('pair')}><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    # A cell shows a window of it, which scrolls by itself both ways.
    return markup.element("div", "sides" if markup.page else "sides window", table)


class _Column(NamedTuple):
    side: Side
    lines: list[str]


def _sides(pair: Pair) -> list[Side]:
    return [side for side in (pair.left, pair.right) if side]


def _row(row: Row, shown: list[_Column], markup: Markup, *, folds: bool) -> str:
    chunks = (row.left, row.right)[: len(shown)]
    cells = [
        _chunk(chunk, one, markup, folds=folds) for chunk, one in zip(chunks, shown, strict=True)
    ]
    if row.launch is None:
        tds = (
            markup.element("td", "side side-next" if at else "side", cell)
            for at, cell in enumerate(cells)
        )
        return f"<tr>{''.join(tds)}</tr>"
    hue = f"{_hue(row.launch)},65%,50%"
    tint = f"border-left-color:hsla({hue},.95);background-image:{_wash(hue)};"
    return (
        "<tr>"
        + "".join(markup.element("td", "side launch", cell, extra=tint) for cell in cells)
        + "</tr>"
    )


def _wash(hue: str) -> str:
    """Return a tint that lies over the paper, whichever colour that has."""
    return f"linear-gradient(hsla({hue},.13),hsla({hue},.13))"


def _chunk(chunk: Chunk | None, column: _Column, markup: Markup, *, folds: bool) -> str:
    if chunk is None:
        return ""
    lines = column.lines[chunk.start - 1 : chunk.end]
    if chunk.fold:
        summary = f"lines {chunk.start} to {chunk.end}: {chunk.fold}"
        head = markup.element("span", "muted", escape(summary))
        if not folds:
            return markup.element("p", "summary", head)
        return details(head, _code(lines, chunk, column, markup), markup)
    while lines and not lines[-1].strip():
        lines.pop()
    return _code(lines, chunk, column, markup) if lines else ""


def _code(lines: list[str], chunk: Chunk, column: _Column, markup: Markup) -> str:
    # The line break at the end stands for itself: the last line may be a blank one.
    shown = highlight.lines("\n".join(lines) + "\n", column.side.artifact)
    return highlight.html(shown, markup, chunk.start)
