"""Follows a sweep from the calling thread, until it ends or is interrupted."""

from __future__ import annotations

from collections.abc import Callable

from ..progress.progress import Progress
from ..report.measurements.sweeps import Sweep, SweepCell
from .run import Running

_EVERY_S = 0.1


def follow(
    running: Running,
    show: Callable[[Progress], None],
    progress: Callable[[Sweep, SweepCell], None] | None = None,
) -> None:
    """Waits for a sweep. An interrupt ends it: finished cells stay, the rest are canceled.

    Parameters
    ----------
    show
        Called with what the sweep does just now.
    progress
        Called with each cell that has moved on. What it raises ends the sweep, and is passed on.
    """
    last_states: dict[str, tuple[str, str]] = {}
    try:
        ended = False
        while not ended:
            ended = running.wait(_EVERY_S)
            show(_now(running))
            if progress is not None:
                for cell in _moved(running.sweep, last_states):
                    progress(running.sweep, cell)
    except KeyboardInterrupt:
        running.cancel()
        running.wait()
    except BaseException:
        running.cancel()
        running.wait()
        raise


def _now(running: Running) -> Progress:
    sweep = running.sweep
    step = " \u00b7 ".join(filter(None, (sweep.status, sweep.status_detail)))
    return Progress(step=step, fraction=sweep.fraction)


def _moved(sweep: Sweep, last_states: dict[str, tuple[str, str]]) -> list[SweepCell]:
    """The cells whose state has changed since the last call."""
    moved = [cell for cell in sweep.cells if last_states.get(cell.key) != (cell.state, cell.step)]
    last_states.update({cell.key: (cell.state, cell.step) for cell in moved})
    return [cell for cell in moved if cell.state != "waiting"]
