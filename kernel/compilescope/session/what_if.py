"""Predicts the outcome of a call without making it, for the panel and for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import ipython_shell, notebook_cells
from ..distributed.remote_report import RemoteSubject
from ..guards.evaluate_live_guards import evaluate_compilation, evaluate_compiled
from ..guards.kept_guards import by_report_id, report_ids
from ..guards.reported_costs import add_fails
from ..report import Report
from ..report.argument_checks import check_function
from ..report.errors import CompilescopeError
from ..report.what_if import WhatIf
from ..torch_api.guards.guard_managers import live_guards
from ..watching.watch import Watch
from .requests import inspection_of
from .session import Session


def what_if_text(
    session: Session, subject: str, variant: str, text: str, compilation: str
) -> WhatIf:
    """Evaluates a variant's guards for arguments as typed in a call.

    Parameters
    ----------
    compilation
        For a watch, the compilation whose frame is called; a subject has its own call.

    Raises
    ------
    CompilescopeError
        A cell is running, or the request is invalid; the message says which.
    """
    inspected = session.inspection(subject)
    if notebook_cells.is_cell_running():
        raise CompilescopeError(
            "The Jupyter kernel is busy.",
            "A cell runs: its values change, and its guards may be in use.",
            "Ask again when the cell has ended.",
        )
    names = ipython_shell.namespace()
    if isinstance(inspected, Watch):
        compilations = {
            known_compilation.id: known_compilation
            for known_compilation in inspected.report.compilations
        }
        return evaluate_compilation(
            inspected.code_of(compilation), compilation, text, names, compilations
        )
    if isinstance(inspected, RemoteSubject):
        raise CompilescopeError(
            f"This report is of {inspected.where}, which has ended.",
            "Its guards ended with its process.",
            "Ask about a call that was inspected in this kernel.",
        )
    return inspected.what_if(variant, text, names)


def count_fails(session: Session, subject: str, compilation: str) -> None:
    """Updates the fail counts of guards whose code is the user's and alive."""
    watch = session.inspection(subject)
    if not isinstance(watch, Watch):
        return
    code = watch.code_of(compilation)
    compilations = {
        known_compilation.id: known_compilation for known_compilation in watch.report.compilations
    }
    if code is not None and compilation in compilations:
        live = by_report_id(live_guards(code), report_ids(compilations))
        if compilation in live:
            add_fails(compilations[compilation], live[compilation])


def what_if_call(
    session: Session,
    what: Report | Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> WhatIf:
    """Predicts a call of a report's subject, or of a function that the user compiled.

    Raises
    ------
    CompilescopeError
        The report's subject is not in this kernel, or cannot be called this way.
    """
    if not isinstance(what, Report):
        check_function("call", what)
        return evaluate_compiled(what, args, kwargs)
    if what.subject.kind == "watch":
        raise CompilescopeError(
            "A watch has no call of its own.",
            remedy="Ask about the function itself: compilescope.what_if(fn, ...).",
        )
    inspection = inspection_of(session, what)
    variants = [
        variant for variant in inspection.report.variants if inspection.has_guards(variant.name)
    ]
    if not variants:
        raise CompilescopeError(
            "The report has no variant that compilescope compiled.",
            remedy="Inspect the call again.",
        )
    built = [variant for variant in variants if variant.stage == "built"]
    return inspection.what_if_call((built or variants)[0].name, args, kwargs)
