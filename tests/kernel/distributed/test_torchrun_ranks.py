"""`cs.ranks` in processes of torchrun: each inspects its own rank, and has all reports."""

from __future__ import annotations

import datetime
import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import compilescope as cs
import pytest
import torch
import torch.distributed as dist
from compilescope.distributed import running
from compilescope.processes.runner import Ended
from compilescope.processes.torchrun import AgentStore, Torchrun, torchrun_environment
from compilescope.progress.progress import Monitor
from compilescope.report import Report

OWN = {"own": cs.Variant(backend="aot_eager")}


def make() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A call that differs between ranks."""
    rank = dist.get_rank()
    return (lambda x: torch.relu(x) + rank), (torch.ones(4),)


@pytest.mark.slow
def test_each_process_inspects_its_rank_and_has_the_reports_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread stands for each of torchrun's processes."""
    stores: Any = dist
    store = stores.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    place = threading.local()
    agent = AgentStore("127.0.0.1", store.port, "job-0")
    monkeypatch.setattr(running, "torchrun_environment", lambda: place.of_torchrun)
    monkeypatch.setattr(running, "_calls", itertools.repeat(1))

    def process(rank: int) -> list[Report]:
        place.of_torchrun = Torchrun(rank, size=2, local_size=1, store=agent)
        return running.run_ranks(
            make, OWN, size=2, backend="gloo", build=False, timeout_s=600, monitor=Monitor()
        )

    with ThreadPoolExecutor(2) as pool:
        for reports in pool.map(process, range(2)):
            ranks = [report.rank for report in reports]
            assert [(rank.rank, rank.size, bool(rank.differences)) for rank in ranks if rank] == [
                (0, 2, True),
                (1, 2, True),
            ]


def test_a_rank_that_gives_no_report_has_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    stores: Any = dist
    store = stores.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    for name, value in {
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RUN_ID": "job",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "RANK": "0",
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(running, "run", lambda *_, **__: Ended(how="crashed", exit_code=3))
    reports = running.run_ranks(
        tuple, {}, size=2, backend="gloo", build=False, timeout_s=0.1, monitor=Monitor()
    )
    assert [report.problems[0].what for report in reports] == [
        "The process of rank 0 died: exit code 3.",
        "Rank 1 gave no report.",
    ]


def test_a_rank_that_began_later_may_take_its_whole_time() -> None:
    class Never:
        waited: datetime.timedelta

        def wait(self, names: list[str], patience: datetime.timedelta) -> None:
            self.waited = patience
            raise RuntimeError("timeout")

    store = Never()
    report = running._wait_for_report(1, store, 2, "gloo", "job", 30.0)
    assert store.waited.total_seconds() == 60
    assert "within 60 s after the end of this rank" in report.problems[0].why


def test_a_rank_that_cannot_be_started_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(*_: Any, header: Any, cancelled: Callable[[], bool], **__: Any) -> Ended:
        if header["rank"] == 0:
            raise OSError(28, "No space left on device")
        until = time.monotonic() + 600
        while not cancelled():
            assert time.monotonic() < until, "it waits for a rank that never began"
            time.sleep(0.01)
        ended.append(header["rank"])
        return Ended(how="cancelled")

    ended: list[int] = []
    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(running, "_GRACE_S", 0.0)
    monkeypatch.setattr(running, "torchrun_environment", lambda: None)
    with pytest.raises(OSError, match="No space left"):
        running.run_ranks(
            make, OWN, size=2, backend="gloo", build=False, timeout_s=600, monitor=Monitor()
        )
    assert ended == [1]


def test_elsewhere_ranks_are_processes_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
    monkeypatch.setenv("RANK", "0")
    process = torchrun_environment()
    assert process is not None
    assert process.store is None
