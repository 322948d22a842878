"""Sweeps in parts: on each GPU of a machine, and from a file on several machines."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.cli import main
from compilescope.processes import gpu_executor
from compilescope.processes.gpu_executor import VISIBLE
from compilescope.report.errors import CompilescopeError
from compilescope.sweep import plan_file
from compilescope.sweep.store import FILE

from . import subjects
from .conftest import Sweep

X = torch.ones(8)
EAGER = {"eager": cs.Variant(backend=None)}


def written(tmp_path: Path, **options: Any) -> Path:
    shapes = {str(size): ((X[:size],), {}) for size in (1, 2, 4)}
    return cs.plan_sweep(
        tmp_path / "plan.json",
        subjects.double,
        variants=EAGER,
        shapes=shapes,
        seconds=0.05,
        **options,
    )


def test_the_folder_of_a_plan_is_made(tmp_path: Path) -> None:
    path = tmp_path / "plans" / "plan.json"
    assert cs.plan_sweep(path, subjects.double, (X,), variants=EAGER) == path
    assert len(plan_file.read(path).sweep.cells) == 1


def test_a_plan_of_an_earlier_version_has_its_names(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = json.loads(path.read_text())
    content["sweep"]["cells"][0]["timing"] = {
        "median_us": 1.0,
        "interval_us": [1.0, 1.0],
        "keeping": "restored",
    }
    path.write_text(json.dumps(content))
    timing = plan_file.read(path).sweep.cells[0].timing
    assert timing is not None
    assert timing.initial_state == "restored"


def test_a_plan_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path)
    with pytest.raises(CompilescopeError, match=r"cannot be written[\s\S]* Is a directory"):
        cs.plan_sweep(tmp_path, subjects.double, (X,), variants=EAGER)
    below = path / "plan.json"
    with pytest.raises(CompilescopeError, match=r"cannot be written[\s\S]* system says"):
        cs.plan_sweep(below, subjects.double, (X,), variants=EAGER)

    def full(*args: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(CompilescopeError, match="No space left"):
        written(tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_parts_leave_their_cells_in_one_folder_and_the_whole_joins_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = str(written(tmp_path))
    assert main(["sweep", plan, "--shard", "1/2"]) == 0
    log = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"compilescope: 2 of 2 cells: eager on 4, .+ per call", log[-1]), log
    assert main(["sweep", plan, "--shard", "2/2"]) == 0
    parts = [file.name for file in sorted((tmp_path / "plan-cells").iterdir())]
    assert parts == ["cells-1-of-2.jsonl", "cells-2-of-2.jsonl"]
    out = tmp_path / "all.compilescope.json"
    capsys.readouterr()
    assert main(["sweep", plan, "--out", str(out)]) == 0
    assert not (tmp_path / "plan-cells" / FILE).exists(), "nothing was left to run"
    sweep = cs.load(out).sweep
    assert sweep is not None
    assert [(cell.shape, cell.state) for cell in sweep.cells] == [
        ("1", "done"),
        ("2", "done"),
        ("4", "done"),
    ]
    output = capsys.readouterr()
    assert main(["show", str(out), "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(cell["name"], cell["shape"], cell["state"]) for cell in cells] == [
        ("eager", "1", "done"),
        ("eager", "2", "done"),
        ("eager", "4", "done"),
    ]
    for cell, known in zip(cells, sweep.cells, strict=True):
        assert known.timing is not None
        assert cell["median_us"] == known.timing.median_us
        assert cell["interval_us"] == list(known.timing.interval_us)
        assert (cell["variant"]["backend"], cell["problem"]) == (None, None)
    assert "3 cells" in output.out
    assert "of 3 cells" not in output.err, "finished cells are not in the log again"


def test_every_cell_is_in_one_part(tmp_path: Path) -> None:
    path = written(tmp_path)
    parts = [plan_file.read(path, (at, 2)) for at in (1, 2)]
    assert [[cell.shape for cell in plan.sweep.cells] for plan in parts] == [["1", "4"], ["2"]]
    assert [plan.sweep.shapes for plan in parts] == [["1", "4"], ["2"]]


@pytest.mark.parametrize("part", ["0/2", "3/2", "2", "x/2"])
def test_a_part_that_is_none(tmp_path: Path, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sweep", "plan.json", "--shard", part])
    assert "--array=1-8" in capsys.readouterr().err


def test_a_file_that_is_no_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    assert main(["sweep", str(path)]) == 2
    assert "cs.plan_sweep" in capsys.readouterr().err


def test_gpus_of_a_machine_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_executor.torch.cuda, "device_count", lambda: 0)
    plan = str(written(tmp_path))
    assert main(["sweep", plan, "--gpus"]) == 2
    assert "Leave --gpus out" in capsys.readouterr().err


def visible() -> tuple[Any, tuple[Any, ...]]:
    """A call whose result is the number of the GPU that its process may use."""
    number = float(os.environ[VISIBLE])
    return (lambda x: x * number), (X,)


@pytest.mark.slow
def test_each_cell_sees_one_gpu(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_executor.torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv(VISIBLE, "3,5")
    result = sweep(factory=visible, variants=EAGER, executor="gpus")
    assert [cell.state for cell in result.cells] == ["done"], result.cells[0].problem
    assert result.sweep.executor == "processes, one on each of 2 GPUs"


def test_gpus_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_executor.torch.cuda, "device_count", lambda: 2)
    monkeypatch.delenv(VISIBLE, raising=False)
    assert gpu_executor.visible_gpus() == ["0", "1"]
    monkeypatch.setenv(VISIBLE, "3,5,7")
    assert gpu_executor.visible_gpus() == ["3", "5"], "torch sees two of them"
    monkeypatch.setattr(gpu_executor.torch.cuda, "device_count", lambda: 0)
    with pytest.raises(CompilescopeError, match="no GPU"):
        gpu_executor.visible_gpus()
