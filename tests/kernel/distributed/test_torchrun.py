"""Three ranks that torchrun starts, each under ``compilescope run``, and all of them compared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import compilescope as cs
import pytest

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
def test_each_rank_has_a_report_and_the_one_that_differs_is_named(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3"]
    command += ["--no-python", sys.executable, "-m", "compilescope", "run", "-o", "job.json"]
    done = subprocess.run([*command, "job.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = ["job.json", "job.py", *(f"job.rank{rank}.json" for rank in range(3))]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    report = cs.load(tmp_path / "job.json")
    assert [variant.name for variant in report.variants] == [f"rank {rank}" for rank in range(3)]
    assert report.trace is not None
    ranks = report.trace.ranks
    assert ranks is not None
    assert ranks.sentence.startswith("Rank 2 diverges first, in compilation 0/1.")
    assert ranks.sentence in done.stderr
    losses = [line for line in done.stderr.splitlines() if line.startswith("1. ")]
    assert len(losses) == 1
    assert losses[0].endswith("1 recompile of <lambda>  (job.py:6, rank 2)")
    assert [divergence.ranks for divergence in ranks.divergences] == [[2]]
