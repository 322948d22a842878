"""CUDA graphs, and the rank that a report is of, in the HTML report."""

from __future__ import annotations

from html import escape

from ...report import Report
from .. import wording
from ..rows import ranks
from .style import Markup
from .summary import details

_SHOWN = 20


def cuda_graphs(report: Report, markup: Markup) -> str:
    """Return what became of CUDA graphs under each variant that asked for them."""
    parts = []
    for variant, found in ranks.graphed(report):
        head = f"<b>{escape(variant.name)}</b> · {escape(ranks.graphs_line(found))}"
        parts.append(markup.element("p", "line", head))
        told = [escape(line) for line in ranks.graphs_why(found)]
        told += [
            escape(
                f"{part.compilation} {part.name}: "
                f"{'captured' if part.captured else 'not captured'}, "
                f"{wording.count(part.kernels, 'launch', 'launches')}. {part.why}"
            )
            for part in found.partitions[:_SHOWN]
        ]
        if told:
            parts.append(
                details(
                    "why, and the parts", markup.element("p", "line", "<br>".join(told)), markup
                )
            )
    return "".join(parts)


def rank(report: Report, markup: Markup) -> str:
    """Return which rank it is, where it differs from others, and what they call together."""
    if report.rank is None:
        return ""
    line = markup.element("p", "part", f"<b>{escape(ranks.rank_line(report))}</b>")
    told = [
        ranks.difference_line(one, report.rank.rank) for one in ranks.differences(report)[:_SHOWN]
    ]
    calls = [f"{one.variant}: {ranks.collective_line(one)}" for one in report.rank.collectives]
    inside = "<br>".join(escape(one) for one in [*told, *calls[:_SHOWN]])
    if len(calls) > _SHOWN:
        inside += f"<br>and {wording.count(len(calls) - _SHOWN, 'more collective')}"
    if not inside:
        return line
    return line + details(
        "differences and collectives", markup.element("p", "line", inside), markup
    )
