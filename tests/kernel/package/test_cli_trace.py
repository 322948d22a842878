"""What ``compilescope trace`` writes of one rank."""

from __future__ import annotations

import gzip
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.cli import main
from compilescope.report import Report

LIMIT = Path(__file__).parents[2] / "data" / "traces" / "cpu-torch2.13-limit.log.gz"


def test_a_page_of_one_rank_has_nothing_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = b"V1124 10:00:01.000000 7 torch/x.py:1] {\n"
    for rank, more in ((0, torn), (1, b"")):
        log = tmp_path / f"trace_rank_{rank}_x.log"
        log.write_bytes(gzip.decompress(LIMIT.read_bytes()) + more)
    file = tmp_path / "rank.json"

    def written(*options: str) -> Report:
        assert main(["trace", str(tmp_path), *options, "-o", str(file)]) == 0
        return cs.load(file)

    assert written().problems
    report = written("--rank", "1")
    assert "ranks 0 to 1" not in capsys.readouterr().out.splitlines()[-1]
    assert [variant.name for variant in report.variants] == ["rank 1"]
    assert report.subject.name == f"{tmp_path.name}, rank 1"
    assert not report.problems
    assert report.trace is not None
    assert report.trace.name == report.subject.name
    assert [process.name for process in report.trace.processes] == ["rank 1"]
    assert {line.process for line in report.trace.slowest} == {"rank 1"}
