"""The result of a sweep for each shape, in a sentence or two."""

from __future__ import annotations

from ...report import Sweep, SweepCell
from ...report.units import difference, duration
from ..figures.intervals import known_interval
from ..figures.speedups import over_baseline


def add_verdicts(sweep: Sweep) -> None:
    """Fill `Sweep.verdicts`, `Sweep.overall` and `SweepCell.result`, once the winners are known."""
    for cell in sweep.cells:
        cell.result = _result(cell)
    cells = {cell.key: cell for cell in sweep.cells}
    sweep.verdicts = {
        shape: _verdict(cells[key], sweep)
        for shape, key in sweep.winners.items()
        if key in cells and is_candidate(cells[key])
    }
    winner = cells.get(sweep.winner)
    sweep.overall = (
        f"Over all shapes: {winner.name}" if winner is not None and len(sweep.verdicts) > 1 else ""
    )


def is_candidate(cell: SweepCell) -> bool:
    """Whether a cell can win: it was measured, and is not known to be wrong."""
    return _is_measured(cell) and cell.accurate is not False


def _is_measured(cell: SweepCell) -> bool:
    return cell.state == "done" and cell.timing is not None


def latency_us(cell: SweepCell) -> float:
    """A call's time; infinite if it was not measured."""
    return cell.timing.median_us if cell.timing is not None else float("inf")


def _result(cell: SweepCell) -> str:
    if not cell.accuracy:
        return ""
    largest = max(error.max_abs for error in cell.accuracy)
    if cell.accurate is False:
        return f"wrong, by {difference(largest)}"
    return "equal" if largest == 0 else f"within {difference(largest)}"


def _verdict(winner: SweepCell, sweep: Sweep) -> str:
    others = [
        cell
        for cell in sweep.cells
        if cell is not winner and cell.shape == winner.shape and _is_measured(cell)
    ]
    rivals = [cell for cell in others if is_candidate(cell)]
    latency = duration(latency_us(winner))
    if winner.variant.backend is None and others:
        # Any cell that is faster than the winner has wrong results.
        is_beaten = min(map(latency_us, others)) < latency_us(winner)
        variant = "variant with correct results" if is_beaten else "variant"
        sentence = f"No {variant} is faster than eager: {latency} per call."
    elif not rivals:
        sentence = f"Only {winner.name} is measured: {latency} per call."
    else:
        sentence = _against(winner, min(rivals, key=latency_us))
    slower = "Every variant is slower than eager." if _all_slower([winner, *rivals]) else ""
    compiled = winner.compile_time
    first = f"Its first call takes {duration(compiled.total_s * 1e6)}." if compiled else ""
    return " ".join(part for part in (slower, sentence, _over_eager(winner), first) if part)


def _all_slower(cells: list[SweepCell]) -> bool:
    """Whether each variant is slower than the eager calls of its own cell, for certain."""
    speedups = [over_baseline(cell.timing) for cell in cells if cell.timing is not None]
    return all(speedup is not None and speedup.standing == "slower" for speedup in speedups)


def _against(winner: SweepCell, second: SweepCell) -> str:
    """Compare with the next best, as far as the intervals allow."""
    latency = duration(latency_us(winner))
    best, other = known_interval(winner.timing), known_interval(second.timing)
    lower = f"{winner.name} has the lower median, {latency} per call."
    if best is None or other is None:
        return f"Too few samples to tell {winner.name} from {second.name}. {lower}"
    if other[0] > best[1]:
        return f"{winner.name} is fastest: {latency} per call."
    return (
        f"No clear winner: the 95 % intervals of {winner.name} and {second.name} overlap. {lower}"
    )


def _over_eager(winner: SweepCell) -> str:
    if winner.variant.backend is None or winner.timing is None:
        return ""
    speedup = over_baseline(winner.timing)
    if speedup is None or speedup.standing == "few":
        return ""
    if speedup.standing in ("faster", "slower"):
        return f"It is {speedup.text} than eager."
    return f"Against eager: {speedup.text}."
