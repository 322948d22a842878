"""Sweeps for the panel: they run outside the kernel's main thread, which stays free."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from .. import ipython_shell, notebook_cells
from ..guards.evaluate_guards import runs
from ..inspection.inspection import Inspection
from ..inspection.variants import check, name_of
from ..report.errors import CompilescopeError
from ..report.measurements.sweeps import Sweep, SweepCell
from ..session.session import Session
from ..subject import arguments
from ..subject.typed_arguments import evaluate_arguments
from ..sweep import plan
from ..sweep.settings import Settings
from . import messages

_AT_ONCE = 40
"""The most cells in an event: events are never sent in parts."""


def start(session: Session, request: messages.StartSweep) -> messages.SweepResult:
    """Begins a sweep of a subject."""
    inspection = _callable(session, request.subject)
    if not request.variants:
        raise CompilescopeError("The sweep has no variant.", remedy="Choose some switches.")
    for variant in request.variants:
        check(variant)
    sweep_plan = plan.make(
        inspection.fn,
        inspection.args,
        inspection.kwargs,
        variants={name_of(variant): variant for variant in request.variants},
        shapes=_shapes(inspection, request.shapes) if request.shapes else None,
        settings=Settings(
            timeout_s=request.timeout_s,
            memory_gb=request.memory_gb,
            seconds=request.seconds,
            resume=request.resume,
        ),
        modes=inspection.modes,
    )
    sweep_plan.subject = inspection.report.subject
    report, _ = session.sweep(
        sweep_plan, executor=request.executor or None, workers=max(1, request.workers)
    )
    assert report.sweep is not None, "it has just begun"
    return messages.SweepResult(subject=request.subject, sweep=without_samples(report.sweep))


def cancel(session: Session, request: messages.CancelSweep) -> messages.Done:
    """Asks a subject's sweep to end."""
    session.sweeps.cancel(request.subject)
    return messages.Done()


def get(session: Session, request: messages.GetSweep) -> messages.SweepResult:
    """A subject's sweep as it stands."""
    sweep = session.inspection(request.subject).report.sweep
    return messages.SweepResult(
        subject=request.subject, sweep=without_samples(sweep) if sweep is not None else None
    )


def changed_cells(session: Session, subject: str) -> Iterator[messages.SweepChanged]:
    """The cells of a subject's sweep that changed since the last call."""
    changed = session.sweeps.changed_cells(subject)
    if changed is None or subject not in session.inspections:
        return
    sweep, cells = changed
    for first in range(0, max(len(cells), 1), _AT_ONCE):
        part = msgspec.structs.replace(sweep, cells=cells[first : first + _AT_ONCE])
        yield messages.SweepChanged(subject=subject, sweep=without_samples(part))


def without_samples(sweep: Sweep) -> Sweep:
    """A sweep without the samples of its timings, which no view shows."""
    return msgspec.structs.replace(sweep, cells=[_light(cell) for cell in sweep.cells])


def _light(cell: SweepCell) -> SweepCell:
    if cell.timing is None:
        return cell
    return msgspec.structs.replace(cell, timing=msgspec.structs.replace(cell.timing, samples_us=[]))


def _callable(session: Session, subject: str) -> Inspection:
    inspection = session.inspection(subject)
    if not isinstance(inspection, Inspection):
        raise CompilescopeError(
            "A watch cannot be swept.",
            "There is no call to make again under other switches.",
            "Put %%compile at the top of a cell that ends with the call.",
        )
    return inspection


def _shapes(
    inspection: Inspection, texts: dict[str, str]
) -> dict[str, tuple[tuple[object, ...], dict[str, object]]]:
    if notebook_cells.is_cell_running():
        raise CompilescopeError(
            "The Jupyter kernel is busy.",
            "A cell runs: the arguments are evaluated with the notebook's names.",
            "Start the sweep again when the cell has ended.",
        )
    call_arguments = arguments.named(runs(inspection.fn), inspection.args, inspection.kwargs)
    names = {**call_arguments, **ipython_shell.namespace()}
    return {name: evaluate_arguments(text, names) for name, text in texts.items()}
