"""Renders the templates of this package's HTML, in which every value is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...report import (
    CONDITION_FAILED,
    CONDITIONS_TITLE,
    DECISIONS_TITLE,
    LIMIT_TITLE,
    STAGES,
    SUGGESTIONS_TITLE,
    is_record,
)
from ...report.break_advice import advice_lines
from .. import recompile_words, summary, wording
from ..rows import (
    changes,
    cold,
    compilation,
    conditions,
    cuda_graphs,
    deploy,
    guards,
    kernel_loads,
    kernels,
    package,
    plans,
    ranks,
    results,
    routes,
    startups,
    steps,
    sweep,
    target,
    variants,
    watch,
)
from ..rows.table import Column
from ..wrapper_pairs import as_written, compilations
from . import syntax, wrappers
from .style import Styles

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_GLOBALS = {
    "CONDITIONS_TITLE": CONDITIONS_TITLE,
    "CONDITION_FAILED": CONDITION_FAILED,
    "DECISIONS_TITLE": DECISIONS_TITLE,
    "LIMIT_TITLE": LIMIT_TITLE,
    "SUGGESTIONS_TITLE": SUGGESTIONS_TITLE,
    "STAGES": STAGES,
    "as_written": as_written,
    "br": Markup("<br>"),
    "changes": changes,
    "advice_lines": advice_lines,
    "cold": cold,
    "compilation_rows": compilation,
    "compilations": compilations,
    "condition_rows": conditions,
    "deploys": deploy,
    "recompile_words": recompile_words,
    "guard_rows": guards,
    "syntax": syntax,
    "is_record": is_record,
    "kernels": kernels,
    "packages": package,
    "plans": plans,
    "cuda_graphs": cuda_graphs,
    "kernel_loads": kernel_loads,
    "ranks": ranks,
    "result_table": results,
    "severity_style": lambda severity: "" if severity == "info" else f" problem-{severity}",
    "routes": routes,
    "startups": startups,
    "steps": steps,
    "summary": summary,
    "sweeps": sweep,
    "targets": target,
    "variants": variants,
    "watches": watch,
    "wording": wording,
    "wrappers": wrappers,
}
"""The names available in templates. Modules of rows have plural names, so that `package` is free as
a loop variable."""


def render(template: str, *, page: bool = False, **values: object) -> str:
    """Return a template's HTML.

    Parameters
    ----------
    template
        The path of a file in ``templates``.
    page
        Whether elements name classes, for a page with a style sheet, or carry their styles.
    values
        The values that the template reads besides the globals. A `str` is escaped where it is
        written; a `markupsafe.Markup` is not.
    """
    return _environment(page).get_template(template).render(page=page, **values)


@cache
def _environment(page: bool) -> Environment:
    # Importing Jinja2 takes a tenth of a second, which `import compilescope` avoids.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code_marked"] = _code_marked
    environment.globals.update(
        _GLOBALS,
        css=Styles(page=page).attributes,
        shown_columns=_shown_columns,
        title=_title,
    )
    return environment


def _code_marked(text: str) -> Markup:
    """A text whose parts between backquotes are code."""
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part
        for index, part in enumerate(_CODE.split(text))
    )


_CODE = re.compile(r"`([^`]+)`")


def _shown_columns(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], sparse: bool
) -> list[int]:
    """Return the columns to show; ``sparse``: without those in which every row is empty."""
    return [at for at in range(len(columns)) if not sparse or any(row[at] for row in rows)]


def _title(tag: str, text: str) -> Markup | str:
    """Return the title of a row, in an element where a tag is named."""
    return Markup("<{0}>{1}</{0}>").format(tag, text) if tag else text
