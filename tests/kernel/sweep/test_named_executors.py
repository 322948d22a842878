"""Executors that the user has named, and executors whose workers cannot do the work."""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from comm.base_comm import CommManager
from compilescope.comms.endpoints import Endpoints
from compilescope.processes import executors
from compilescope.report import VariantReport
from compilescope.session.requests import study as request_study
from compilescope.session.session import Session, get_session
from compilescope.studies.context import StudyProcesses
from compilescope.sweep import plan
from compilescope.sweep.run import Running
from compilescope.sweep.settings import Settings

from ..panel import connect
from ..studying import study
from . import subjects
from .conftest import Sweep

X = torch.arange(4.0)
EAGER = {"eager": cs.Variant(backend=None)}


@pytest.fixture(autouse=True)
def no_names() -> Iterator[None]:
    yield
    cs.configure(executors={})


class Unfit(futures.Executor):
    """Its workers have another compilescope, or none; a task would never end."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> futures.Future[Any]:
        future: futures.Future[Any] = futures.Future()
        if args != (executors._VERSION,):
            return future
        if isinstance(self.answer, Exception):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


class Client:
    """As Dask's: its futures are others than those of concurrent.futures."""

    def submit(self, fn: Any, /, *args: Any) -> object:
        return object()


class Withdrawing(futures.Executor):
    """It cancels what it is given, and then takes no more, as one that is shut down."""

    def __init__(self, probes: int) -> None:
        self.answers: list[str] | None = [cs.__version__] * probes

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> futures.Future[Any]:
        if self.answers is None:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: futures.Future[Any] = futures.Future()
        if self.answers:
            future.set_result(self.answers.pop())
        else:
            self.answers = None
            future.cancel()
        return future


@pytest.mark.slow
def test_a_sweep_runs_on_an_executor_of_that_name(sweep: Sweep) -> None:
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        cs.configure(executors={"cluster": executor})
        pid = executor.submit(os.getpid).result()
        result = sweep(subjects.double, (X,), variants=EAGER, executor="cluster")
    (cell,) = result.cells
    assert cell.state == "done"
    assert cell.worker.endswith(f":{pid}")
    assert result.sweep.executor == "cluster"


def test_the_panel_hears_of_names_and_sweeps_by_them(manager: CommManager) -> None:
    session = get_session()
    serving = Endpoints(session)
    try:
        requests, events = connect(manager)
        assert requests.ask("hello")["result"]["choices"]["executors"] == []
        cs.configure(executors={"cluster": futures.ThreadPoolExecutor(1)})
        assert events.sent[-1]["event"] == "choices_changed"
        assert events.sent[-1]["data"]["choices"]["executors"] == ["cluster"]
        report = session.inspect(subjects.double, (X,), variants="python", run=False)
        asked = {"subject": report.subject.id, "variants": [{"backend": None}]}
        error = requests.ask("start_sweep", **asked, executor="clster")["error"]
        assert error["what"] == "There is no executor 'clster'."
        begun = requests.ask("start_sweep", **asked, executor="cluster")["result"]["sweep"]
        assert begun["executor"] == "cluster"
        requests.ask("cancel_sweep", subject=report.subject.id)
    finally:
        serving.close()
        session.forget(report.subject.id)


def test_a_name_stands_for_what_was_named_last() -> None:
    first, second = futures.ThreadPoolExecutor(1), futures.ThreadPoolExecutor(1)
    cs.configure(executors={"cluster": first, "other": first})
    cs.configure(ahead_mb=32)
    assert executors.names() == ["cluster", "other"]
    cs.configure(executors={"cluster": second})
    assert executors.names() == ["cluster"]
    assert executors.choose("cluster").executor is second


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gpus": futures.ThreadPoolExecutor(1)}, "It means all GPUs of this machine."),
        ({" ": futures.ThreadPoolExecutor(1)}, "cannot be the name of an executor. It is empty."),
        ({"cluster": None}, "The executor 'cluster' is None."),
        ({"cluster": "tcp://scheduler:8786"}, "The executor 'cluster' is 'tcp://scheduler:8786'."),
        ({"cluster": futures.ThreadPoolExecutor}, "'cluster' is the class ThreadPoolExecutor."),
        ({"cluster": 8}, "The executor 'cluster' is 8."),
        ([futures.ThreadPoolExecutor(1)], "executors by name: {'cluster': executor}"),
    ],
)
def test_what_cannot_be_named_is_refused(given: Any, said: str) -> None:
    cs.configure(executors={"kept": futures.ThreadPoolExecutor(1)})
    with pytest.raises(cs.CompilescopeError) as raised:
        cs.configure(executors=given)
    assert said in str(raised.value)
    assert executors.names() == ["kept"]


def test_a_name_that_was_not_given_is_refused_before_anything_runs(sweep: Sweep) -> None:
    cs.configure(executors={"cluster": futures.ThreadPoolExecutor(1)})
    session = Session()
    report = session.inspect(subjects.double, (X,), variants={"python": cs.Variant()}, run=False)
    said = (
        "There is no executor 'clster'. The names are gpus, cluster. "
        "Name it first: compilescope.configure(executors={'clster': executor})."
    )
    with pytest.raises(cs.CompilescopeError) as raised:
        sweep(subjects.double, (X,), variants=EAGER, executor="clster")
    assert str(raised.value) == said
    with pytest.raises(cs.CompilescopeError) as raised:
        request_study(session, report, ["deploy"], processes=StudyProcesses("clster"))
    assert str(raised.value) == said


def test_an_empty_name_is_no_executor(sweep: Sweep) -> None:
    with pytest.raises(cs.CompilescopeError) as raised:
        sweep(subjects.double, (X,), variants=EAGER, executor="")
    assert str(raised.value).startswith("executor is ''. Give an executor of concurrent.futures")


def test_a_broken_executor_is_to_be_named_anew(sweep: Sweep) -> None:
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        with pytest.raises(futures.BrokenExecutor):
            executor.submit(os._exit, 1).result()
        cs.configure(executors={"cluster": executor})
        result = sweep(subjects.double, (X,), variants=EAGER, executor="cluster")
    (problem,) = result.sweep.problems
    assert problem.what == "The executor is broken: BrokenProcessPool."
    assert problem.remedy == (
        "Make a new executor, name it (compilescope.configure(executors={'cluster': executor})), "
        "and sweep again: finished cells are kept."
    )


@pytest.mark.parametrize(
    ("executor", "what"),
    [
        (
            Unfit(ModuleNotFoundError("No module named 'compilescope'")),
            "cannot import compilescope: No module named 'compilescope'.",
        ),
        (
            Unfit(OSError("Traceback:\nModuleNotFoundError: No module named 'compilescope'\n")),
            "cannot import compilescope: ModuleNotFoundError: No module named 'compilescope'.",
        ),
        (Unfit("0.0.1"), f"has compilescope 0.0.1, and this process has {cs.__version__}."),
    ],
)
def test_a_worker_without_this_compilescope_is_said(
    executor: futures.Executor, what: str, sweep: Sweep
) -> None:
    result = sweep(subjects.double, (X,), variants=EAGER, executor=executor)
    (problem,) = result.sweep.problems
    assert problem.what == f"The executor's worker {what}"
    assert problem.remedy == (
        f"Install jupyterlab-compilescope {cs.__version__} and the same torch for the workers, "
        "start them again, and sweep again: finished cells are kept."
    )
    assert result.cells[0].state == "failed"
    (again,) = sweep(subjects.double, (X,), variants=EAGER, executor=executor).cells
    assert not again.reused
    variant = VariantReport(name="python", requested=cs.Variant())
    with pytest.raises(cs.CompilescopeError) as raised:
        study("deploy", subjects.double, (X,), variant, processes=StudyProcesses(executor))
    assert raised.value.problem.what == problem.what


def test_a_sweep_says_that_it_waits_for_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The time that is left is known, and not shown.
    monkeypatch.setattr(Running, "_cell_s", lambda _: 60.0)
    settings = Settings(timeout_s=600, memory_gb=None, seconds=0.05, folder=tmp_path)
    running = Running(
        plan.make(subjects.double, (X,), variants=EAGER, settings=settings),
        executor=Unfit("0.0.1"),
        changed=lambda _: details.append(running.sweep.status_detail),
    )
    details: list[str] = []
    running.start()
    assert running.wait(60)
    assert details[0] == "waiting for a worker of the executor"
    assert "waiting" not in details[-1]


def test_an_executor_with_other_futures_is_said(sweep: Sweep) -> None:
    result = sweep(subjects.double, (X,), variants=EAGER, executor=Client())
    (problem,) = result.sweep.problems
    assert problem.what == (
        "The executor's submit returned a builtins.object, not a concurrent.futures.Future."
    )
    assert problem.remedy == (
        "Give an executor (of Dask, client.get_executor()), "
        "and sweep again: finished cells are kept."
    )
    variant = VariantReport(name="python", requested=cs.Variant())
    with pytest.raises(cs.CompilescopeError) as raised:
        study("deploy", subjects.double, (X,), variant, processes=StudyProcesses(Client()))
    assert raised.value.problem.what == problem.what


@pytest.mark.parametrize("probes", [0, 1])
def test_work_that_its_executor_canceled_is_not_waited_for(probes: int, sweep: Sweep) -> None:
    (cell,) = sweep(subjects.double, (X,), variants=EAGER, executor=Withdrawing(probes)).cells
    assert cell.problem is not None
    assert cell.problem.what == "The executor was shut down."
    variant = VariantReport(name="python", requested=cs.Variant())
    processes = StudyProcesses(Withdrawing(probes))
    with pytest.raises(cs.CompilescopeError) as raised:
        study("deploy", subjects.double, (X,), variant, processes=processes)
    assert raised.value.problem.what == "The executor was shut down."
