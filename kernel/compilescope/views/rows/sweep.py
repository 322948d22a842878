"""A sweep as rows of words and figures, the same in HTML and in a terminal."""

from __future__ import annotations

from ...report import Sweep, SweepCell
from .. import wording

HEAD = (
    "variant",
    "shape",
    "median",
    "vs eager",
    "throughput",
    "memory",
    "compile",
    "outputs",
    "",
    "differs",
)
"""The columns; the one without a name has a cell's outcome, or what it is best at."""


def rows(sweep: Sweep) -> list[tuple[str, ...]]:
    """Each cell as the words of its columns, by shape and then the fastest first."""
    order = {name: at for at, name in enumerate(sweep.shapes)}
    cells = sorted(
        sweep.cells,
        key=lambda cell: (
            order.get(cell.shape, 0),
            cell.timing.median_us if cell.timing and cell.state == "done" else float("inf"),
        ),
    )
    return [_row(cell, sweep) for cell in cells]


def headline(sweep: Sweep) -> str:
    """The number of cells and their outcomes."""
    states = [cell.state for cell in sweep.cells]
    parts = [
        f"{states.count(state)} {word}"
        for state, word in _STATES.items()
        if state in states and (state != "done" or len(set(states)) > 1)
    ]
    text = f"{wording.count(len(states), 'cell')}" + (f": {', '.join(parts)}" if parts else "")
    return text + (f", in {sweep.took_s:.0f} s" if sweep.took_s is not None else "")


def verdicts(sweep: Sweep) -> list[str]:
    """Which cell is fastest, a sentence or two for each shape; empty if nothing was measured."""
    sentences = [
        f"{shape}: {verdict}" if len(sweep.verdicts) > 1 else verdict
        for shape, verdict in sweep.verdicts.items()
    ]
    best = next((cell for cell in sweep.cells if cell.key == sweep.winner), None)
    if len(sentences) > 1 and best is not None:
        sentences.append(f"Over all shapes: {best.name}")
    return sentences


def quantity(value: float, unit: str) -> str:
    """A figure with three digits and the prefix that fits: ``1.25 GB``, ``1.6 M images/s``."""
    between = "" if len(unit) == 1 else " "
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor * 0.9995:
            return f"{value / factor:.3g} {prefix}{between}{unit}"
    return f"{value:.3g} {unit}"


def _row(cell: SweepCell, sweep: Sweep) -> tuple[str, ...]:
    timing, compiled = cell.timing, cell.compile_time
    ratio = wording.speedup(timing) if timing else ""
    speed = cell.throughput_per_s
    return (
        cell.name,
        cell.shape,
        wording.duration(timing.median_us) if timing else "",
        ratio,
        quantity(speed, f"{sweep.unit}/s") if speed is not None else "",
        quantity(cell.memory_bytes, "B") if cell.memory_bytes is not None else "",
        f"{compiled.total_s:.2f} s" if compiled is not None else "",
        _accuracy(cell),
        _remark(cell, sweep),
        ", ".join(f"{setting.setting}: {setting.actual}" for setting in cell.effective),
    )


def _accuracy(cell: SweepCell) -> str:
    if not cell.accuracy:
        return ""
    largest = max(error.max_abs for error in cell.accuracy)
    if cell.accurate is False:
        return f"wrong, by {largest:.1e}"
    return "equal" if largest == 0 else f"within {largest:.1e}"


def _remark(cell: SweepCell, sweep: Sweep) -> str:
    if cell.state != "done":
        why = f": {cell.problem.what}" if cell.problem is not None else ""
        return _STATES[cell.state] + why
    if cell.key == sweep.winner or cell.key in sweep.winners.values():
        return "fastest"
    return "best trade" if cell.key in sweep.pareto else ""


_STATES = {
    "done": "measured",
    "failed": "failed",
    "crashed": "crashed",
    "timeout": "out of time",
    "memory": "out of memory",
    "cancelled": "cancelled",
    "running": "running",
    "waiting": "waiting",
}
"""State → the words for it."""
