"""The ways to deploy a call, as rows of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...report import Report, VariantReport
from .. import wording
from .table import Column, Table

TABLE = Table(
    "ways",
    (
        Column("way", "way"),
        Column("cold", "nothing cached", "Until the first result, with empty caches", "figure"),
        Column(
            "cached",
            "cached",
            "Until the first result, with the caches that the first process filled",
            "figure",
        ),
        Column(
            "shipped",
            "as shipped",
            "Until the first result, with empty caches and the shipped files; their size",
            "figure",
        ),
        Column(
            "call",
            "later calls",
            "Median latency after the first call; against eager's in the same process, interleaved",
            "figure",
        ),
        Column("memory", "memory", "Peak memory until the first result", "figure"),
        Column("accurate", "matches eager", "Whether the results agree with eager's"),
        Column("restrictions", "restrictions", where="panel"),
    ),
)

HOW = (
    "Each figure is wall-clock time in a new process: until the first result with empty caches "
    "(C++ headers not precompiled), with the caches that this process filled, and with only the "
    "shipped files; then calls for about half a second, interleaved with eager. * marks the "
    "Pareto-optimal ways: no other is faster in both the first call and later calls. Ways that "
    "are too noisy to judge do not count."
)


def studied(report: Report) -> Iterator[VariantReport]:
    """Yield the variants whose ways to deploy were compared."""
    yield from (variant for variant in report.variants if variant.ways)


def headline(variant: VariantReport) -> str:
    """Return the title of the rows."""
    return f"{variant.name}: ways to deploy"


def rows(variant: VariantReport) -> list[tuple[str, ...]]:
    """Return the ways that were measured, in the order of `TABLE`."""
    return [
        TABLE.row(
            way=f"{way.name}{' *' if way.is_pareto else ''}",
            cold=_seconds(way.cold_s),
            cached=_seconds(way.cached_s),
            shipped=_figure_with(_seconds(way.shipped_s), _size(way.ship_bytes)),
            call=_figure_with(
                "" if way.call_us is None else wording.duration(way.call_us),
                "" if way.speedup is None else way.speedup.text,
            ),
            memory=_size(way.memory_bytes),
            accurate=_AS_EAGER[way.as_eager],
        )
        for way in variant.ways
        if way.cold_s is not None
    ]


def remarks(variant: VariantReport) -> list[str]:
    """Return how it was measured, the restrictions of each way, and why some have no figure."""
    lines = [HOW, *filter(None, [variant.best_way, not_tried(variant)])]
    lines += variant.ways_remarks
    lines += [
        f"Restrictions of {names}: {restrictions}."
        for names, restrictions in _grouped(
            (way.name, "; ".join(way.restrictions))
            for way in variant.ways
            if way.problem is None and not way.why
        )
    ]
    reasons = ((way.name, way.why) for way in variant.ways if way.problem is None)
    lines += [f"Not measured: {names}. {why}" for names, why in _grouped(reasons)]
    for way in variant.ways:
        if way.problem is not None:
            lines.append(f"{way.name} failed: {way.problem.what} {way.problem.why}".rstrip())
        if way.comparison:
            differs = "" if way.as_eager is None else " differs from eager"
            lines.append(f"{way.name}{differs}: {way.comparison}")
        if way.shipped_why and way.ship_code:
            lines.append(f"{way.name}, shipped: {way.shipped_why}")
    return lines


def not_tried(variant: VariantReport) -> str:
    """Return which ways could be tried here but were not; empty if none."""
    names = variant.ways_not_tried
    return f"Not tried: {', '.join(names)}." if names else ""


def code(variant: VariantReport) -> list[tuple[str, str]]:
    """Return each measured way's name and its code to paste."""
    return [(way.name, way.paste_code) for way in variant.ways if way.paste_code]


def _grouped(words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Names and words that are not empty: the names of each words, and these words."""
    names: dict[str, list[str]] = {}
    for name, text in words:
        names.setdefault(text, []).append(name)
    yield from ((", ".join(of), text) for text, of in names.items() if text)


_AS_EAGER = {None: "", True: "yes", False: "NO"}


def _seconds(value: float | None) -> str:
    return "" if value is None else wording.duration(value * 1e6)


def _size(value: float | None) -> str:
    return "" if value is None else wording.size(value)


def _figure_with(figure: str, more: str) -> str:
    return f"{figure} ({more})" if figure and more else figure
