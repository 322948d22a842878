"""A running sweep: submits cells to an executor, follows them, and stores finished ones."""

from __future__ import annotations

import concurrent.futures as futures
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from ..analysis.overview.sweep_verdicts import recommended
from ..analysis.settings.variant_code import code_of
from ..processes import executors
from ..processes.executors import ENDING_S, OF_ALL_WORK, TRIES, ExecutorChoice
from ..processes.folders import temporary
from ..processes.task_folder import TaskFolder
from ..progress.history import History
from ..report.measurements.sweeps import SweepCell
from ..report.problem import Problem
from ..report.units import rough_duration
from . import ranking
from .plan import Plan
from .store import Store, StoredCell
from .worker import CellTask, run_cell

_HOW_TO_RETRY = "sweep again: finished cells are kept"

_log = logging.getLogger(__name__)
_numbers = itertools.count(1)

_KIND = "a cell of a sweep"
"""Of work whose usual time is known from earlier sweeps."""

Changed = Callable[[Sequence[SweepCell]], None]


class Running:
    """A sweep and the thread that follows it.

    Parameters
    ----------
    plan
        What to do.
    executor
        Anything with ``submit`` as in ``concurrent.futures``, or its name; ``"gpus"`` is a thread
        here for each GPU, and None one for each of ``workers``. Each cell has a process of its own.
    changed
        Called in the sweep's own thread with the cells that changed, after they did; with none
        when the sweep itself did.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        executor: ExecutorChoice = None,
        workers: int = 1,
        changed: Changed = lambda cells: None,
    ) -> None:
        self.sweep = plan.sweep
        self.sweep.id = f"sweep-{next(_numbers)}"
        self.plan = plan
        self._chosen = executors.choose(executor, workers)
        self.sweep.executor = self._chosen.title
        self._changed = changed
        self._store = Store(Path(self.sweep.folder), plan.part)
        self._history = History()
        self._places = {cell.key: at for at, cell in enumerate(self.sweep.cells)}
        self._pending: dict[futures.Future[SweepCell], str] = {}
        self._cancelled = threading.Event()
        self._thread = threading.Thread(
            target=self._run_to_its_end, name="compilescope-sweep", daemon=True
        )
        # An interrupted `Thread.join` counts the thread as ended in Python 3.11 and older.
        self._ended = threading.Event()
        self._folder: TaskFolder

    def _cell_s(self) -> float | None:
        """About how long a cell takes, by those of this sweep, else of the last sweeps."""
        took = [cell.took_s for cell in self.sweep.cells if cell.state == "done" and cell.took_s]
        usual = self._history.usual(_KIND)
        if took:
            return sum(took) / len(took)
        return usual.about_s if usual is not None else None

    def _describe(self) -> None:
        """Fills in what follows from the cells: what is left, the winners, the words."""
        sweep = self.sweep
        sweep.cell_s, sweep.left = self._cell_s(), ""
        waiting = sum(not cell.has_ended for cell in sweep.cells)
        if sweep.state == "running" and sweep.cell_s and waiting and not sweep.waits_for:
            sweep.left = rough_duration(sweep.cell_s * waiting / self._chosen.at_once)
        ranking.rank(sweep)
        overall, shapes = recommended(sweep)
        sweep.code = self._code(sweep.winner) if overall else ""
        sweep.codes = {
            shape: self._code(key) for shape, key in sweep.winners.items() if shape in shapes
        }

    def start(self) -> None:
        """Begins."""
        self.sweep.state, self.sweep.started_s = "running", time.time()
        self._describe()
        self._thread.start()

    def cancel(self) -> None:
        """Asks it to end: running cells are ended with their processes, finished ones stay."""
        self._cancelled.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits for its end; returns whether it has ended."""
        return self._ended.wait(timeout_s)

    def _run_to_its_end(self) -> None:
        try:
            self._run()
        finally:
            self._ended.set()

    def _run(self) -> None:
        start = time.perf_counter()
        try:
            with temporary("sweep") as scratch:
                self._folder = TaskFolder(scratch)
                self._folder.allow()
                self._work()
            self.sweep.state = "cancelled" if self._cancelled.is_set() else "done"
        except Exception as error:  # noqa: BLE001 - said in the sweep
            self.sweep.state = "failed"
            self.sweep.problems.append(
                Problem(severity="error", what=f"The sweep failed: {type(error).__name__}: {error}")
            )
            _log.exception("A sweep failed.")
        finally:
            if self._chosen.own is not None:
                self._chosen.own.shutdown(wait=not self._cancelled.is_set())
            self._leave_none()
            self.sweep.took_s = time.perf_counter() - start
            self._notify([])

    def _work(self) -> None:
        self._take_over()
        waiting = [cell for cell in self.sweep.cells if cell.state == "waiting"]
        unfit = self._unfit() if waiting else None
        for cell in waiting:
            if unfit is not None:
                self._finish(msgspec.structs.replace(cell, state="failed", problem=unfit))
            elif not self._cancelled.is_set():
                self._submit(cell)
        while self._pending:
            for future in executors.wait_for_any(self._pending):
                self._on_done(future, self._pending.pop(future))
            self._update_steps()
            if self._cancelled.is_set():
                self._end()

    def _unfit(self) -> Problem | None:
        """Waits for a worker of the executor; returns why it cannot run cells."""
        if self._chosen.own is None:
            self.sweep.waits_for = executors.A_WORKER
            self._notify([])
        try:
            return executors.unfit(self._chosen, self._cancelled.is_set, _HOW_TO_RETRY)
        finally:
            self.sweep.waits_for = ""
            self._notify([])

    def _take_over(self) -> None:
        """Loads the finished cells of the last run."""
        if not self.plan.resume:
            return
        limits = self.plan.limits
        stored_cells = self._store.load()
        taken = []
        for cell in self.sweep.cells:
            stored = stored_cells.get(cell.key)
            if stored is not None and stored.serves(
                limits.timeout_s, limits.memory_bytes, self.plan.seconds
            ):
                taken.append(self._place_cell(cell.key, self._with_throughput(stored.cell)))
        if taken:
            self._notify(taken)

    def _with_throughput(self, cell: SweepCell) -> SweepCell:
        """A cell that may have been measured when a call was said to process other items."""
        if cell.timing is None or cell.throughput_per_s is None:
            return cell
        speed = self.sweep.items * 1e6 / cell.timing.median_us
        return msgspec.structs.replace(cell, throughput_per_s=speed)

    def _submit(self, cell: SweepCell) -> None:
        cell = self._place_cell(
            cell.key, msgspec.structs.replace(cell, tries=cell.tries + 1, step="")
        )
        task = CellTask(
            cell=cell,
            data=self.plan.data[cell.shape],
            header=self.plan.header,
            seconds=self.plan.seconds,
            items=self.sweep.items,
            limits=self.plan.limits,
            scratch=str(self._folder.path),
            attempt=f"{self.sweep.id} {cell.key} {cell.tries} {time.time_ns()}",
        )
        try:
            self._pending[self._chosen.executor.submit(run_cell, task)] = cell.key
        except Exception as error:  # noqa: BLE001 - an executor may refuse as it likes
            self._finish(_untaken_cell(cell, error, self._chosen.name))

    def _on_done(self, future: futures.Future[SweepCell], key: str) -> None:
        """Finishes a cell that is no longer pending."""
        cell = self._cell(key)
        if future.cancelled():
            error: BaseException | None = futures.CancelledError()
        else:
            error = future.exception()
        if error is None:
            self._finish(future.result())
        elif self._cancelled.is_set():
            self._finish(msgspec.structs.replace(cell, state="cancelled"))
        elif cell.tries < TRIES:
            # `run_cell` raises nothing of the cell's: the worker died, or the way to it.
            self._submit(msgspec.structs.replace(cell, state="waiting"))
        else:
            self._finish(_lost_cell(cell, error, self._chosen.name))

    def _finish(self, result: SweepCell) -> None:
        cell = self._place_cell(result.key, result)
        cell.step = ""
        problem = cell.problem
        if problem is not None and problem.what.startswith(OF_ALL_WORK):
            # It is the same for all cells that it has not run.
            self.sweep.problems += [problem] if problem not in self.sweep.problems else []
        if cell.state == "done" and cell.took_s is not None:
            self._history.add(_KIND, cell.took_s)
        if cell.state != "cancelled":
            limits = self.plan.limits
            self._store.add(
                StoredCell(
                    cell=cell,
                    timeout_s=limits.timeout_s,
                    memory_bytes=limits.memory_bytes,
                    seconds=self.plan.seconds,
                )
            )
        self._notify([cell])

    def _update_steps(self) -> None:
        """Updates the steps of running cells, where they are visible."""
        changed = []
        for key in self._pending.values():
            cell = self._cell(key)
            step = self._folder.read_step(key)
            if step and (cell.step, cell.state) != (step, "running"):
                cell.step, cell.state = step, "running"
                changed.append(cell)
        if changed:
            self._notify(changed)

    def _end(self) -> None:
        """Stops the executor and the running cells, and waits for them."""
        self._folder.cancel()
        for future in list(self._pending):
            if future.cancel():
                del self._pending[future]
        futures.wait(self._pending, timeout=ENDING_S)
        for future in self._pending:
            if future.done() and future.exception() is None:
                self._finish(future.result())
        self._pending.clear()

    def _leave_none(self) -> None:
        """No cell waits or runs in a sweep that has ended."""
        left = [cell for cell in self.sweep.cells if not cell.has_ended]
        for cell in left:
            cell.state, cell.step = "cancelled", ""
        if left:
            self._notify(left)

    def _cell(self, key: str) -> SweepCell:
        return self.sweep.cells[self._places[key]]

    def _place_cell(self, key: str, finished: SweepCell) -> SweepCell:
        """Replaces a cell, under the name and the settings that it has in this sweep."""
        now = self._cell(key)
        cell = msgspec.structs.replace(
            finished,
            name=now.name,
            variant=now.variant,
            shape=now.shape,
            arguments=finished.arguments or now.arguments,
        )
        self.sweep.cells[self._places[key]] = cell
        return cell

    @property
    def _called(self) -> str:
        """What the subject is called in code to paste: a module's own name is that of its class."""
        subject = self.plan.subject
        if self.plan.call is None or not subject.name.isidentifier():
            return "fn"
        return "model" if subject.kind == "module" else subject.name

    def _code(self, winner: str) -> str:
        """A cell as code to paste; empty where there is none."""
        return code_of(self._cell(winner).variant, self._called) if winner else ""

    def _notify(self, cells: Iterable[SweepCell]) -> None:
        if self._store.problem is not None and self._store.problem not in self.sweep.problems:
            self.sweep.problems.append(self._store.problem)
        self._describe()
        try:
            self._changed(list(cells))
        except Exception:  # noqa: BLE001 - who looks on must not stop the sweep
            _log.exception("An observer of the sweep failed.")


def _untaken_cell(cell: SweepCell, error: Exception, executor: str) -> SweepCell:
    """A cell that the executor refused."""
    if isinstance(error, futures.BrokenExecutor):
        return _lost_cell(cell, error, executor)
    problem = executors.not_taken(error, "the sweep", _HOW_TO_RETRY, executor)
    return msgspec.structs.replace(cell, state="failed", problem=problem)


def _lost_cell(cell: SweepCell, error: BaseException, executor: str) -> SweepCell:
    problem = executors.lost(error, _HOW_TO_RETRY, executor)
    return msgspec.structs.replace(cell, state="crashed", problem=problem)
