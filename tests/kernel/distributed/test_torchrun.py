"""Three ranks that torchrun starts, each under ``compilescope run``, and their traces compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from compilescope.cli import main

JOB = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
compiled = torch.compile(lambda x: torch.relu(x) + 1, backend="aot_eager", dynamic=False)
for size in (4, 5 if dist.get_rank() == 2 else 4):
    total = compiled(torch.ones(size)).sum()
    dist.all_reduce(total)
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_each_rank_has_a_report_and_the_one_that_differs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3"]
    command += ["--no-python", sys.executable, "-m", "compilescope", "run", "--trace", "logs"]
    done = subprocess.run(
        [*command, "-o", "job.json", "job.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for rank in range(3):
        assert (tmp_path / f"job.rank{rank}.json").exists()
    assert main(["trace", str(tmp_path / "logs"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in summary["processes"]] == [f"rank {rank}" for rank in range(3)]
    assert summary["ranks"]["sentence"].startswith("Rank 2 diverges first, in compilation 0/1.")
    assert [each["ranks"] for each in summary["ranks"]["divergences"]] == [[2]]
