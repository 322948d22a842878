"""The progress of a sweep, in the same words in the panel, in a cell and in a terminal."""

from __future__ import annotations

from ...report import Sweep, SweepCell
from ...report.measurements.sweeps import STATE_WORDS, CellState
from ...report.units import duration, whole_number
from ..figures.wording import count
from .sweep_verdicts import add_verdicts

_NO_RESULT: tuple[CellState, ...] = ("failed", "crashed", "timeout", "memory")
_SHOWN_RUNNING = 3


def add_sweep_words(sweep: Sweep) -> None:
    """Fill the texts of a sweep and its cells."""
    add_verdicts(sweep)
    add_status(sweep)


def add_status(sweep: Sweep) -> None:
    """Fill `Sweep.status`, `Sweep.status_detail`, `Sweep.fraction` and `SweepCell.reused`."""
    for cell in sweep.cells:
        cell.reused = _started_before(cell, sweep)
    done = sum(cell.has_ended and cell.state != "cancelled" for cell in sweep.cells)
    total = len(sweep.cells)
    sweep.fraction = done / total if total else 0.0
    sweep.status = _status(sweep, done)
    sweep.status_detail = " \u00b7 ".join(_details(sweep))


def _status(sweep: Sweep, done: int) -> str:
    cells, so_far = count(len(sweep.cells), "cell"), whole_number(done)
    if sweep.state == "done":
        return "1 cell is done" if len(sweep.cells) == 1 else f"All {cells} are done"
    if sweep.state == "cancelled":
        return f"Canceled after {so_far} of {cells}; you can resume"
    if sweep.state == "failed":
        return f"The sweep failed after {so_far} of {cells}"
    return f"Sweeping: {so_far} of {cells}"


def _details(sweep: Sweep) -> list[str]:
    details = []
    running = [cell for cell in sweep.cells if cell.state == "running"]
    if running:
        shown = [f"{cell.title} ({cell.step or cell.state})" for cell in running[:_SHOWN_RUNNING]]
        details.append(f"now {', '.join(shown)}")
    if sweep.waits_for:
        details.append(f"waiting for {sweep.waits_for}")
    if sweep.left:
        details.append(f"{sweep.left} left")
    if sweep.took_s is not None:
        minutes = f"{sweep.took_s / 60:.0f} min"
        details.append(f"in {duration(sweep.took_s * 1e6) if sweep.took_s < 90 else minutes}")
    states = [cell.state for cell in sweep.cells]
    details += [
        f"{whole_number(states.count(state))} {STATE_WORDS[state]}"
        for state in _NO_RESULT
        if state in states
    ]
    reused = sum(cell.reused for cell in sweep.cells)
    if reused:
        are = "is" if reused == 1 else "are"
        details.append(f"{whole_number(reused)} of {count(len(states), 'cell')} {are} reused")
    return details


def _started_before(cell: SweepCell, sweep: Sweep) -> bool:
    """Whether a cell began before its sweep: an earlier one measured it."""
    return (
        cell.started_s is not None
        and sweep.started_s is not None
        and cell.started_s < sweep.started_s
    )
