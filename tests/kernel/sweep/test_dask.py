"""A sweep on a Dask cluster whose worker is killed half-way."""

from __future__ import annotations

import os
import signal
from typing import Any

import compilescope as cs
import pytest
import torch

from . import subjects
from .conftest import Sweep

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

EAGER = {"eager": cs.Variant(backend=None)}


def test_a_cell_whose_worker_is_killed_is_run_again(sweep: Sweep) -> None:
    killed: list[int] = []

    # A function of this module would be imported by the workers, which do not find it.
    def busy(dask_worker: Any) -> tuple[int, int]:
        return os.getpid(), len(dask_worker.state.executing)

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill(_: Any, cell: Any) -> None:
            if cell.state != "running" or killed:
                return
            for pid, cells in client.run(busy).values():
                if cells and not killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

        result = sweep(
            subjects.double,
            variants=EAGER,
            shapes={str(size): ((torch.ones(size),), {}) for size in (4, 8)},
            executor=client.get_executor(),
            progress=kill,
        )
    assert killed
    assert [cell.state for cell in result.cells] == ["done"] * 2, result
    assert result.sweep.executor == "ClientExecutor"
