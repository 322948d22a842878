"""The result of a sweep for each shape, in a sentence or two."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...report import Speedup, Sweep, SweepCell
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
    sweep.overall = _overall(sweep)


def recommended(sweep: Sweep) -> tuple[bool, set[str]]:
    """Whether the winner over all shapes is worth compiling, and the shapes whose winner is."""
    winners = {cell.shape: cell for cell in sweep.cells if cell.key in sweep.winners.values()}
    own = _of_winner(sweep)
    return bool(own) and _is_worth_compiling(own), {
        shape for shape, cell in winners.items() if _is_worth_compiling([cell])
    }


def is_candidate(cell: SweepCell) -> bool:
    """Whether a cell can win: it was measured, and is not known to be wrong."""
    return _is_measured(cell) and cell.accurate is not False


def _is_measured(cell: SweepCell) -> bool:
    return cell.state == "done" and cell.timing is not None


def latency_us(cell: SweepCell) -> float:
    """A call's time; infinite if it was not measured."""
    return cell.timing.median_us if cell.timing is not None else float("inf")


def _of_winner(sweep: Sweep) -> list[SweepCell]:
    """The cells of the variant that wins over all shapes, which count."""
    names = [cell.name for cell in sweep.cells if cell.key == sweep.winner]
    return [cell for cell in sweep.cells if cell.name in names and is_candidate(cell)]


def _is_worth_compiling(cells: Sequence[SweepCell]) -> bool:
    """Whether a variant's calls are faster than eager's on average, and on a shape for certain.

    `Report.best` recommends eager otherwise, too. A variant that was not compared with eager, and
    eager itself, count.
    """
    speedups = [_speedup(cell) for cell in cells]
    known = [speedup for speedup in speedups if speedup is not None]
    if len(known) < len(speedups) or any(cell.variant.backend is None for cell in cells):
        return True
    is_faster = any(speedup.standing == "faster" for speedup in known)
    return is_faster and math.prod(speedup.ratio for speedup in known) > 1


def _speedup(cell: SweepCell) -> Speedup | None:
    return over_baseline(cell.timing) if cell.timing is not None else None


def _overall(sweep: Sweep) -> str:
    """The variant that is fastest over all shapes, or that none is faster than eager."""
    own = _of_winner(sweep)
    several = len(sweep.verdicts) > 1
    if not own:
        return ""
    name = own[0].name
    so_far = _so_far(sweep.cells)
    overall = f"Over all shapes{so_far}"
    if _is_worth_compiling(own):
        return f"{overall}: {name}" if several else ""
    if several:
        so_far = ""  # the sentence begins with it
    rivals = [
        cell for cell in sweep.cells if is_candidate(cell) and cell.variant.backend is not None
    ]
    standings = {speedup.standing for cell in rivals if (speedup := _speedup(cell)) is not None}
    if "faster" in standings:
        sentence = f"{name} has the lowest median, but is not clearly faster than eager."
    elif "few" in standings:
        sentence = "Too few samples to tell whether a variant is faster than eager."
    elif _all_slower(rivals):
        # The verdict of a single shape says so.
        sentence = "No variant is faster than eager." if several else ""
    else:
        sentence = f"No variant is clearly faster than eager{so_far}."
    return f"{overall}: {_uncapitalized(sentence, name)}" if several else sentence


def _uncapitalized(sentence: str, name: str) -> str:
    return sentence if sentence.startswith(name) else sentence[0].lower() + sentence[1:]


def _result(cell: SweepCell) -> str:
    if not cell.accuracy:
        return ""
    largest = max(error.max_abs for error in cell.accuracy)
    if cell.accurate is False:
        return f"wrong, by {difference(largest)}"
    return "equal" if largest == 0 else f"within {difference(largest)}"


def _verdict(winner: SweepCell, sweep: Sweep) -> str:
    own = [cell for cell in sweep.cells if cell.shape == winner.shape]
    so_far = _so_far(own)
    others = [cell for cell in own if cell is not winner and _is_measured(cell)]
    rivals = [cell for cell in others if is_candidate(cell)]
    latency = duration(latency_us(winner))
    if winner.variant.backend is None and others:
        # Any cell that is faster than the winner has wrong results.
        is_beaten = min(map(latency_us, others)) < latency_us(winner)
        variant = "variant with correct results" if is_beaten else "variant"
        sentence = f"No {variant} is faster than eager{so_far}: {latency} per call."
    elif not rivals:
        only = "has correct results" if others else "is measured"
        sentence = f"Only {winner.name} {only}: {latency} per call."
    else:
        sentence = _against(winner, min(rivals, key=latency_us), so_far)
    compiled = winner.compile_time
    first = f"Its first call takes {duration(compiled.total_s * 1e6)}." if compiled else ""
    return " ".join(part for part in (_slower(own), sentence, _over_eager(winner), first) if part)


def _so_far(cells: Sequence[SweepCell]) -> str:
    """What a sentence about all cells adds while some can still be measured."""
    is_open = any(not cell.has_ended or cell.state == "cancelled" for cell in cells)
    return " so far" if is_open else ""


def _slower(cells: Sequence[SweepCell]) -> str:
    """Returns that several variants are all slower than eager, of those that were measured."""
    candidates = [cell for cell in cells if is_candidate(cell)]
    if len(candidates) < 2 or not _all_slower(candidates):
        return ""
    variants = [cell for cell in cells if cell.variant.backend is not None]
    measured = [cell for cell in variants if _is_measured(cell)]
    every = "Every variant" if len(measured) == len(variants) else "Every measured variant"
    correct = "" if _all_slower(measured) else " with correct results"
    return f"{every}{correct} is slower than eager."


def _all_slower(cells: Sequence[SweepCell]) -> bool:
    """Whether each variant is slower than the eager calls of its own cell, for certain."""
    speedups = [_speedup(cell) for cell in cells]
    return all(speedup is not None and speedup.standing == "slower" for speedup in speedups)


def _against(winner: SweepCell, second: SweepCell, so_far: str) -> str:
    """Compare with the next best, as far as the intervals allow."""
    latency = duration(latency_us(winner))
    best, other = known_interval(winner.timing), known_interval(second.timing)
    lower = f"{winner.name} has the lower median, {latency} per call."
    if best is None or other is None:
        return f"Too few samples to tell {winner.name} from {second.name}. {lower}"
    if other[0] > best[1]:
        return f"{winner.name} is fastest{so_far}: {latency} per call."
    return (
        f"No clear winner: the 95 % intervals of {winner.name} and {second.name} overlap. {lower}"
    )


def _over_eager(winner: SweepCell) -> str:
    if winner.variant.backend is None:
        return ""
    speedup = _speedup(winner)
    if speedup is None or speedup.standing == "few":
        return ""
    if speedup.standing in ("faster", "slower"):
        return f"It is {speedup.text} than eager."
    return f"Against eager: {speedup.text}."
