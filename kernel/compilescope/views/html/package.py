"""What was compiled ahead of time, as HTML: a folded part for each variant."""

from __future__ import annotations

from html import escape

from ...report import Package, Report
from ..rows import package as package_rows
from .style import Markup
from .summary import details
from .table import table

_FILES = 40


def package(report: Report, markup: Markup) -> str:
    """Return the packages; empty where none was made."""
    return "\n".join(
        details(
            f"<b>{escape(package_rows.headline(variant, variant.package))}</b>",
            _inside(variant.package, markup),
            markup,
        )
        for variant in package_rows.packaged(report)
        if variant.package is not None
    )


def _inside(made: Package, markup: Markup) -> str:
    told = [markup.element("p", "line", escape(line)) for line in package_rows.lines(made)]
    files: list[tuple[str, ...]] = [
        (file.path, file.kind, f"{file.bytes:,} bytes") for file in made.files[:_FILES]
    ]
    if len(made.files) > _FILES:
        files.append((f"… and {len(made.files) - _FILES} more", "", ""))
    return "".join(
        [
            *told,
            table(package_rows.ENTRIES, package_rows.entries(made), markup),
            table(("file", "kind", "size"), files, markup),
        ]
    )
