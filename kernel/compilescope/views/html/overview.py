"""The Overview as HTML: what the panel's first view draws, short enough for a cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...report import Limit, Overview, Result, Speedup, Suggestion, TargetResult
from .. import wording
from .style import Markup

_SHOWN = 3
"""Suggestions that are seen before the rest is unfolded."""


def result(found: Overview, markup: Markup) -> str:
    """Return the result: the verdict, and every variant with its latency."""
    verdict = markup.element("p", "verdict", escape(found.headline))
    return verdict + results(found, markup, found.results, found.targets)


def follows(found: Overview, markup: Markup, *, counts: bool = True) -> str:
    """Return what follows from the result: what limits a call, what to change, what happened.

    Parameters
    ----------
    found, markup
        What to show, and how.
    counts
        Whether to say what happened, too.
    """
    rest = [
        _line("C++ wrapper?", f"{found.wrapper.headline} {found.wrapper.text}", markup)
        if found.wrapper is not None
        else "",
        _limit(found.limit, markup) if found.limit is not None else "",
        _suggestions(found.suggestions, markup),
        markup.element("p", "line", escape(" \u00b7 ".join(one.text for one in found.counts)))
        if counts and found.counts
        else "",
    ]
    return "\n".join(part for part in rest if part)


def _line(title: str, text: str, markup: Markup) -> str:
    told = markup.element("b", "", escape(title))
    return markup.element("p", "answer", f"{told} {escape(text.strip())}")


def results(
    found: Overview, markup: Markup, rows: Sequence[Result], targets: Sequence[TargetResult]
) -> str:
    """Return the table of variants with their latencies, and what targets are estimated at.

    Parameters
    ----------
    found, markup
        What the bars are drawn to the scale of, and how to write them.
    rows, targets
        Those of ``found`` to show.
    """
    shown = "".join(_row(one, found.scale_us, markup) for one in rows)
    table = ""
    if shown:
        timed = any(one.latency_us is not None for one in rows)
        heads = ("variant", "latency", "over eager", "first call", "") if timed else ()
        head = "".join(markup.element("th", "head near", name) for name in heads)
        body = f"<thead><tr>{head}</tr></thead>" if head else ""
        body += f"<tbody>{shown}</tbody>"
        table = markup.element("div", "scroll", markup.element("table", "table results", body))
    estimated = "".join(
        markup.element(
            "p",
            "answer",
            f"<b>{escape(one.title)}</b> ({escape(one.device)}), estimated: {escape(one.text)}",
        )
        for one in targets
    )
    return table + estimated


def _row(result: Result, scale_us: float, markup: Markup) -> str:
    name = escape(result.title)
    head = f'<th scope="row"{markup.attributes("words", "near")}>{name}</th>'
    if result.latency_us is None:
        why = f"failed: {result.why}" if result.state == "failed" else result.why
        told = markup.element("span", "muted", escape(why))
        cell = f'<td colspan="4"{markup.attributes("words", "near")}>{told}</td>'
        return f"<tr{markup.attributes('plain')}>{head}{cell}</tr>"
    latency = wording.duration(result.latency_us)
    share = min(100 * result.latency_us / scale_us, 100) if scale_us else 0
    fill = "fill" if result.speedup is not None else "fill fill-base"
    bar = markup.element("span", fill, "", extra=f"width:{max(share, 1):.0f}%;")
    interval = ""
    if result.interval_us is not None:
        low, high = result.interval_us
        interval = f"{wording.duration(low)} to {wording.duration(high)}"
    first = "" if result.first_call_s is None else wording.duration(result.first_call_s * 1e6)
    wrong = " " + markup.element("span", "bad", "wrong result") if result.accurate is False else ""
    cells = [
        f"<b>{latency}</b>" if result.best else latency,
        _speedup(result.speedup, markup) + wrong,
        first + ("" if result.cold or not first else " (warm)"),
        f'<span title="95 % interval: {escape(interval)}"{markup.attributes("track")}>{bar}</span>',
    ]
    body = "".join(markup.element("td", "figure near", cell) for cell in cells)
    return f"<tr{markup.attributes('plain')}>{head}{body}</tr>"


def _speedup(speedup: Speedup | None, markup: Markup) -> str:
    if speedup is None:
        return ""
    style = {"faster": "good", "slower": "bad"}.get(speedup.standing, "muted")
    return (
        f'<span title="{escape(speedup.detail)}"{markup.attributes(style)}>'
        f"{escape(speedup.text)}</span>"
    )


def _limit(limit: Limit, markup: Markup) -> str:
    told = _line("What limits a call?", limit.headline, markup)
    if limit.parts:
        bar = "".join(
            markup.element("span", f"part-{part.kind}", "", extra=f"width:{100 * part.share:.1f}%;")
            for part in limit.parts
        )
        legend = " ".join(
            markup.element(
                "span",
                "legend",
                markup.element("span", f"swatch part-{part.kind}", "") + escape(part.text),
            )
            for part in limit.parts
        )
        return told + markup.element("div", "stack", bar) + markup.element("div", "", legend)
    return _line("What limits a call?", f"{limit.headline} {limit.text}", markup)


def _suggestions(suggestions: list[Suggestion], markup: Markup) -> str:
    if not suggestions:
        return ""
    shown = "".join(_suggestion(one, markup) for one in suggestions[:_SHOWN])
    title = markup.element("p", "answer", "<b>What to change</b>")
    listed = markup.element("ol", "list", shown)
    rest = suggestions[_SHOWN:]
    if rest:
        more = "".join(_suggestion(one, markup) for one in rest)
        head = markup.element("summary", "summary", wording.count(len(rest), "more suggestion"))
        numbered = f'<ol start="{_SHOWN + 1}"{markup.attributes("list")}>{more}</ol>'
        listed += f"<details>{head}{numbered}</details>"
    return title + listed


def _suggestion(suggestion: Suggestion, markup: Markup) -> str:
    basis = f" ({suggestion.basis})" if suggestion.basis != "unknown" else ""
    gain = markup.element("span", "muted", f"{escape(suggestion.gain)}{basis}")
    told = f"{escape(suggestion.what)}: {gain}" if suggestion.gain else escape(suggestion.what)
    if not suggestion.code:
        return f"<li>{told}</li>"
    code = markup.element("pre", "code", escape(suggestion.code))
    head = markup.element("summary", "summary", told)
    return f"<li><details>{head}{markup.element('div', 'paper', code)}</details></li>"
