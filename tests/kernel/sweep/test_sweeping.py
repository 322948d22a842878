"""Sweeps as a whole: gone on with, interrupted, on other executors, from the panel."""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.comms import commands, messages, sweeps
from compilescope.processes.device_lock import Device
from compilescope.processes.task_folder import TaskFolder
from compilescope.progress.interrupts import interrupt_main_thread
from compilescope.report.errors import CompilescopeError
from compilescope.session.session import Session
from compilescope.sweep.store import FILE
from compilescope.sweep.worker import CellTask

from . import subjects
from .conftest import Sweep

pytestmark = pytest.mark.slow

X = torch.ones(8)
EAGER = {"eager": cs.Variant(backend=None)}


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While it is there, a cell on two values does not end."""
    path = tmp_path / "hold"
    path.touch()
    monkeypatch.setenv("COMPILESCOPE_TEST_CELL_HOLD", str(path))
    return path


def test_an_interrupt_keeps_what_is_finished_and_the_next_sweep_goes_on(
    sweep: Sweep, tmp_path: Path, hold: Path
) -> None:
    def interrupt(_: Any, cell: Any) -> None:
        if cell.shape == "two" and cell.state == "running":
            raise KeyboardInterrupt

    cells: dict[str, Any] = {
        "variants": EAGER,
        "shapes": {"all": ((X,), {}), "two": ((X[:2],), {})},
    }
    first = sweep(subjects.hangs_on_two_values, **cells, progress=interrupt)
    hold.unlink()
    assert [cell.state for cell in first.cells] == ["done", "cancelled"]
    assert first.sweep.state == "cancelled"
    assert first.best is first.cells[0]
    with (tmp_path / "kept" / FILE).open("ab") as file:
        file.write(b'{"cell": {"key": "cut o')

    moved: list[tuple[str, str]] = []
    second = sweep(
        subjects.hangs_on_two_values,
        **cells,
        progress=lambda _, cell: moved.append((cell.shape, cell.state)),
    )
    assert [cell.state for cell in second.cells] == ["done", "done"]
    assert ("all", "running") not in moved, "it was finished"
    assert second.cells[0].timing == first.cells[0].timing
    assert second.sweep.state == "done"

    moved.clear()
    sweep(
        subjects.hangs_on_two_values,
        **cells,
        progress=lambda _, cell: moved.append((cell.shape, cell.state)),
    )
    assert "running" not in {state for _, state in moved}, "nothing is left to do"


class Interrupting(futures.Executor):
    """Its cell interrupts the main thread, and ends a second after the sweep is canceled."""

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> futures.Future[Any]:
        (task,) = args
        future: futures.Future[Any] = futures.Future()
        if not isinstance(task, CellTask):
            future.set_result(fn(task))
            return future
        future.set_running_or_notify_cancel()

        def work() -> None:
            time.sleep(0.5)
            interrupt_main_thread()
            while not TaskFolder(task.scratch).cancelled():
                time.sleep(0.02)
            time.sleep(1)
            future.set_result(msgspec.structs.replace(task.cell, state="cancelled"))

        threading.Thread(target=work).start()
        return future


def test_the_sweep_has_ended_once_an_interrupted_wait_returns(sweep: Sweep) -> None:
    result = sweep(subjects.double, (X,), variants=EAGER, executor=Interrupting())
    assert result.sweep.state == "cancelled"
    assert [cell.state for cell in result.cells] == ["cancelled"]


def test_a_callback_that_fails_ends_the_sweep_and_is_heard_of(sweep: Sweep) -> None:
    def fail(_: Any, cell: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sweep(subjects.hangs, (X,), variants=EAGER, progress=fail)


def test_shapes_are_cells_of_their_own_and_may_be_made_where_they_are_needed(sweep: Sweep) -> None:
    result = sweep(
        subjects.double,
        variants=EAGER,
        shapes={"small": ((torch.ones(4),), {}), "large": lambda: ((torch.ones(400),), {})},
        workers=2,
    )
    assert [(cell.shape, cell.arguments) for cell in result.cells] == [
        ("small", ["x: float32[4] cpu"]),
        ("large", ["x: float32[400] cpu"]),
    ]
    assert set(result.sweep.winners) == {"small", "large"}
    assert set(result.sweep.codes) == {"small", "large"}
    eager = "compiled = double  # eager: no torch.compile"
    assert result.sweep.codes == {"small": eager, "large": eager}
    assert result.cell("eager", "large").state == "done"
    with pytest.raises(CompilescopeError, match="no cell 'python'"):
        result.cell("python")


def test_a_reused_cell_has_the_throughput_of_the_items_that_are_given_now(sweep: Sweep) -> None:
    (first,) = sweep(subjects.double, (X,), variants=EAGER, items=8, unit="numbers").cells
    (second,) = sweep(subjects.double, (X,), variants=EAGER, items=2, unit="rows").cells
    assert second.started_s == first.started_s, "it was not measured again"
    assert second.throughput_per_s == pytest.approx(first.throughput_per_s / 4)


def test_any_executor_will_do_and_a_cell_that_crashes_takes_no_worker_with_it(
    sweep: Sweep,
) -> None:
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        crashed = sweep(subjects.aborts, (X,), variants=EAGER, executor=executor)
        assert [cell.state for cell in crashed.cells] == ["crashed"]
        assert crashed.cells[0].tries == 1
        after = sweep(subjects.double, (X,), variants=EAGER, executor=executor)
        assert [cell.state for cell in after.cells] == ["done"]
        assert after.sweep.executor == "ProcessPoolExecutor"


def test_an_interrupt_ends_cells_in_the_workers_of_an_executor_too(sweep: Sweep) -> None:
    def interrupt(_: Any, cell: Any) -> None:
        if cell.state == "running":
            raise KeyboardInterrupt

    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        given = {"executor": executor, "progress": interrupt, "timeout_s": 600}
        shapes = {"a": ((X,), {}), "b": ((X,), {})}
        result = sweep(subjects.hangs, variants=EAGER, shapes=shapes, **given)
        assert [cell.state for cell in result.cells] == ["cancelled", "cancelled"]
        assert result.sweep.took_s is not None
        assert result.sweep.took_s < 600, "each would sleep for 600 s"


def test_a_worker_that_dies_is_tried_again_and_then_said(sweep: Sweep) -> None:
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        result = sweep(subjects.kills_its_worker, (X,), variants=EAGER, executor=executor)
    (cell,) = result.cells
    assert cell.state == "crashed"
    assert cell.problem is not None
    assert cell.problem.what == "The executor is broken: BrokenProcessPool."
    said = "Make a new executor and sweep again: finished cells are kept."
    assert cell.problem.remedy == said
    assert str(result).count(said) == 1
    (again,) = sweep(subjects.double, (X,), variants=EAGER).cells
    assert again.state == "done"


class Refusing(futures.Executor):
    """Takes nothing."""

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> futures.Future[Any]:
        raise TypeError("not this one\nas explained elsewhere")


def test_an_executor_that_refuses_a_cell_has_lost_nothing(sweep: Sweep) -> None:
    executor = futures.ThreadPoolExecutor(1)
    executor.shutdown()
    refused = {
        executor: "The executor was shut down.",
        Refusing(): "The executor did not take it: TypeError: not this one.",
    }
    for executor, what in refused.items():
        (cell,) = sweep(subjects.double, (X,), variants=EAGER, executor=executor).cells
        assert cell.state == "failed"
        assert cell.problem is not None
        assert cell.problem.what == what
    (cell,) = sweep(subjects.double, (X,), variants=EAGER).cells
    assert cell.state == "done", "it is tried again"


def test_who_measures_is_alone_on_the_device_and_others_wait() -> None:
    device, other = Device("test device"), Device("test device")
    order: list[str] = []
    entered = threading.Event()

    def measure() -> None:
        with device.alone():
            entered.set()
            order.append("alone")

    thread = threading.Thread(target=measure)
    thread.start()
    assert not entered.wait(0.3), "the other still compiles"
    order.append("compiled")
    other.use("another device")
    thread.join(600)
    assert order == ["compiled", "alone"]


@pytest.mark.usefixtures("hold")
def test_the_panel_starts_follows_cancels_and_finds_a_sweep_again(tmp_path: Path) -> None:
    session = Session()
    report = session.inspect(subjects.hangs_on_two_values, (X,), variants="python", run=False)
    subject = report.subject.id
    changes: list[messages.SweepChanged] = []

    def observe(kind: str, about: str, *_: Any) -> None:
        if kind == "sweep":
            changes.extend(sweeps.changed_cells(session, about))

    session.observe(observe)

    def ask(name: str, asked: messages.Message) -> Any:
        return commands.HANDLERS[name](session, asked)

    def started(**options: Any) -> messages.SweepResult:
        asked = messages.StartSweep(subject=subject, seconds=0.05, resume=False, **options)
        return ask("start_sweep", asked)

    assert ask("get_sweep", messages.GetSweep(subject=subject)).sweep is None
    with pytest.raises(CompilescopeError, match="no variant"):
        started(variants=[])
    with pytest.raises(CompilescopeError, match="nowhere is not in the notebook"):
        started(variants=[cs.Variant()], shapes={"a": "nowhere"})

    eager = cs.Variant(backend=None)
    begun = started(variants=[eager], shapes={"all": "x", "two": "x[:2]"})
    assert begun.sweep is not None
    assert [cell.arguments for cell in begun.sweep.cells] == [
        ["x: float32[8] cpu"],
        ["x: float32[2] cpu"],
    ]
    with pytest.raises(CompilescopeError, match="already running"):
        started(variants=[eager])
    wait_for(lambda: changes and changes[-1].sweep.cells[:1] and _last(changes, "all") == "done")
    ask("cancel_sweep", messages.CancelSweep(subject=subject))
    wait_for(lambda: changes[-1].sweep.state == "cancelled")

    sweep = ask("get_sweep", messages.GetSweep(subject=subject)).sweep
    assert [cell.state for cell in sweep.cells] == ["done", "cancelled"]
    assert sweep.cells[0].timing.samples_us == [], "samples do not travel"
    assert report.sweep.cells[0].timing.samples_us, "but are in the report"
    assert {cell.key for change in changes for cell in change.sweep.cells} == {
        cell.key for cell in sweep.cells
    }
    # Its cell runs again: the sweep is still there.
    again = session.inspect(subjects.hangs_on_two_values, (X,), variants="python", run=False)
    assert again.subject.id == subject
    assert again.sweep is report.sweep


def test_a_subject_that_is_forgotten_ends_its_sweep(sweep: Sweep) -> None:
    session = Session()
    report = session.inspect(subjects.hangs, (X,), variants="eager", run=False)
    request = messages.StartSweep(
        subject=report.subject.id, variants=[cs.Variant(backend=None)], resume=False
    )
    commands.HANDLERS["start_sweep"](session, request)
    swept = report.sweep
    assert swept is not None
    session.forget(report.subject.id)
    wait_for(lambda: swept.state == "cancelled")


def _last(received: list[messages.SweepChanged], shape: str) -> str:
    cells = [cell for report in received for cell in report.sweep.cells if cell.shape == shape]
    return cells[-1].state if cells else ""


def wait_for(condition: Any, seconds: float = 600.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
