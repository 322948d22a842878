"""Ways to deploy that are measured on an executor."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import multiprocessing
import os
import subprocess
import sys
import time
from typing import Any

import compilescope as cs
import msgspec
import psutil
import pytest
import torch
from compilescope.comms import commands, messages
from compilescope.comms.messages import JobState
from compilescope.processes import executors, gpu_executor
from compilescope.progress.progress import Cancelled, Monitor, Progress
from compilescope.report import VariantReport
from compilescope.report.measurements.deployment import DeployWay
from compilescope.report.measurements.way_remarks import remarks_on
from compilescope.session.requests import study as request_study
from compilescope.session.session import Session
from compilescope.studies.context import StudyProcesses
from compilescope.studies.deploy import ways
from compilescope.studies.deploy.way_worker import WayTask

from ..studying import study

X = (torch.randn(64),)
OPTIONS = {"cpp_cache_precompile_headers": False}


def scaled(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) * 2


def hangs(x: torch.Tensor) -> torch.Tensor:
    time.sleep(600)
    return x


def variant_of() -> VariantReport:
    return VariantReport(name="python", requested=cs.Variant(options=OPTIONS))


@pytest.fixture(autouse=True)
def nothing_left() -> Any:
    """No process of a way outlives its study."""
    yield
    children = psutil.Process().children(recursive=True)
    assert not [child for child in children if _is_of_a_way(child)]


def _is_of_a_way(process: psutil.Process) -> bool:
    # What has ended since it was listed has no command.
    with contextlib.suppress(psutil.Error):
        return "compilescope.studies.deploy.way_process" in " ".join(process.cmdline())
    return False


@pytest.mark.slow
def test_ways_of_concurrent_tasks_are_measured_whole() -> None:
    variant, steps = variant_of(), list[Progress]()
    with futures.ThreadPoolExecutor(2) as executor:
        selected = {"ways": (ways.EAGER, ways.WHOLE)}
        monitor = Monitor(steps.append)
        study(
            "deploy",
            scaled,
            X,
            variant,
            monitor,
            options=selected,
            processes=StudyProcesses(executor),
        )
    eager, whole = variant.ways
    assert [way.problem for way in variant.ways] == [None, None]
    assert (eager.name, eager.accurate, eager.cached_s) == (ways.EAGER, True, None)
    assert (whole.accurate, whole.shipped_accurate) == (True, True)
    assert whole.cold_s is not None
    assert whole.cached_s is not None
    assert whole.ships == ["caches.bin"]
    assert whole.speedup is not None
    assert whole.took_s is not None
    assert eager.machine == whole.machine == ""
    assert "yet" not in variant.best_way
    assert steps[0].step == "waiting for a worker of the executor"
    assert steps[1].step.startswith("0 of 2 ways measured")
    assert any("torch.compile (process 1 of 3, nothing cached)" in now.step for now in steps)


def _filled(way: DeployWay) -> dict[str, Any]:
    fields = msgspec.structs.asdict(way)
    return {name: type(value) for name, value in fields.items() if value is not None}


@pytest.mark.slow
def test_a_way_of_a_worker_process_is_like_a_local_one() -> None:
    selected = {"ways": (ways.EAGER, "reduce-overhead")}
    local, remote = variant_of(), variant_of()
    study("deploy", scaled, X, local, options=selected)
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        study("deploy", scaled, X, remote, options=selected, processes=StudyProcesses(executor))
    assert [_filled(way) for way in remote.ways] == [_filled(way) for way in local.ways]
    assert remote.ways[0].call_us is not None


def sees_one_gpu(x: torch.Tensor) -> torch.Tensor:
    assert os.environ[gpu_executor.VISIBLE] in ("0", "1")
    return x * 2


@pytest.mark.slow
def test_each_way_sees_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(gpu_executor.VISIBLE, raising=False)
    monkeypatch.setattr(gpu_executor.torch.cuda, "device_count", lambda: 2)
    variant = variant_of()
    study(
        "deploy",
        sees_one_gpu,
        X,
        variant,
        options={"ways": (ways.EAGER,)},
        processes=StudyProcesses("gpus"),
    )
    (eager,) = variant.ways
    assert eager.problem is None
    assert eager.accurate is True


def test_a_broken_executor_is_a_problem_of_the_study() -> None:
    variant = variant_of()
    variant.ways = [DeployWay(name=ways.EAGER, cold_s=1.0)]
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        with pytest.raises(futures.BrokenExecutor):
            executor.submit(os._exit, 1).result()
        selected = {"ways": (ways.WHOLE,)}
        with pytest.raises(cs.CompilescopeError) as raised:
            study(
                "deploy", scaled, X, variant, options=selected, processes=StudyProcesses(executor)
            )
    problem = raised.value.problem
    assert problem.what == "The executor is broken: BrokenProcessPool."
    assert "terminated abruptly" in problem.why
    assert problem.remedy == (
        "Make a new executor and run the study again with the ways that are missing: measured ways "
        "are kept."
    )
    assert [way.name for way in variant.ways] == [ways.EAGER]
    assert ways.WHOLE in variant.ways_not_tried


class Losing(futures.Executor):
    """Loses every task but eager's; another machine measures that."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> futures.Future[Any]:
        (task,) = args
        future: futures.Future[Any] = futures.Future()
        if not isinstance(task, WayTask):
            future.set_result(fn(task))
            return future
        self.taken.append(task.way.name)
        if task.is_eager:
            future.set_result(
                msgspec.structs.replace(task.way, cold_s=1.0, machine="node7, cpu a processor")
            )
        else:
            future.set_exception(ConnectionError("node8 is gone"))
        return future


def test_a_way_that_is_lost_again_and_again_has_a_problem_and_the_others_results() -> None:
    variant, executor = variant_of(), Losing()
    selected = {"ways": (ways.EAGER, ways.WHOLE)}
    study("deploy", scaled, X, variant, options=selected, processes=StudyProcesses(executor))
    assert executor.taken == [ways.EAGER, *[ways.WHOLE] * 3]
    eager, whole = variant.ways
    assert eager.problem is None
    assert whole.problem is not None
    assert whole.problem.what == "The executor lost it: ConnectionError."
    assert whole.problem.why == "node8 is gone."
    assert variant.ways_remarks == ["Measured on other machines: eager on node7, cpu a processor."]


def test_ways_of_several_machines_are_compared_by_their_factors() -> None:
    measured = [
        DeployWay(name="a", cold_s=1.0, eager_us=10.0),
        DeployWay(name="b", cold_s=1.0, eager_us=90.0, machine="node7, cpu"),
        DeployWay(name="c", cold_s=1.0, eager_us=90.0, machine="node7, cpu"),
        DeployWay(name="d", machine="node9, cpu"),
    ]
    assert remarks_on(measured) == [
        "Measured on other machines: b, c on node7, cpu. Compare the factors, not the times."
    ]


@pytest.mark.slow
def test_canceling_ends_the_processes_and_withdraws_what_waits() -> None:
    variant = variant_of()

    def cancel(progress: Progress) -> None:
        if "eager (first call" in progress.step:
            monitor.cancel()

    monitor = Monitor(cancel)
    selected = {"ways": (ways.EAGER, ways.WHOLE)}
    began = time.monotonic()
    with futures.ThreadPoolExecutor(1) as executor:
        with pytest.raises(Cancelled):
            study(
                "deploy",
                hangs,
                X,
                variant,
                monitor,
                options=selected,
                processes=StudyProcesses(executor),
            )
        assert executor.submit(len, ()).result(60) == 0, "it takes other work"
    assert time.monotonic() - began < 600, "the call would sleep that long"
    assert variant.ways == []
    assert {ways.EAGER, ways.WHOLE} <= set(variant.ways_not_tried)


def test_an_executor_is_for_the_studies_that_take_it() -> None:
    session = Session()
    report = session.inspect(scaled, X, variants={"python": cs.Variant()}, run=False)
    with pytest.raises(cs.CompilescopeError, match="executor is for the studies deploy and blocks"):
        request_study(session, report, ["layers"], processes=StudyProcesses(Losing()))
    selected = {"ways": ways.EAGER}
    request_study(session, report, ["deploy"], options=selected, processes=StudyProcesses(Losing()))
    assert report.variants[0].problems == []
    assert report.variants[0].ways[0].cold_s == 1.0


def test_the_panel_chooses_an_executor_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(executors._named, "cluster", Losing())
    session = Session()
    report = session.inspect(scaled, X, variants={"python": cs.Variant()}, run=False)

    def ask(executor: str) -> JobState:
        asked = messages.StartStudies(
            subject=report.subject.id,
            studies=["deploy"],
            options={"ways": [ways.EAGER]},
            executor=executor,
        )
        return commands.start_studies(session, asked).job

    with pytest.raises(cs.CompilescopeError, match="There is no executor 'clster'"):
        ask("clster")
    assert ask("cluster").kind == "study"
    session.panel_jobs.run_pending()
    (eager,) = report.variants[0].ways
    assert eager.machine == "node7, cpu a processor"


def test_the_worker_does_not_load_torch() -> None:
    program = (
        "import sys, compilescope.studies.deploy.way_worker; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
