"""The page of all ranks of a machine, which the last one to end writes."""

from __future__ import annotations

from pathlib import Path

import compilescope as cs
import pytest
from compilescope.cli.joined_page import JoinedPage
from compilescope.processes.torchrun import Torchrun

from .stored_logs import TRACES, text_of

RANKS = [Torchrun(rank, size=2, local_size=2) for rank in range(2)]


def log(folder: Path, rank: int, name: str = "limit") -> None:
    text = text_of(TRACES / f"cpu-torch2.13-{name}.log.gz")
    (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(text)


def test_the_last_rank_writes_a_page_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "train.json"
    ranks = [JoinedPage(page, None, rank) for rank in RANKS]
    log(ranks[0].logs, 0)
    log(ranks[1].logs, 1, "backend")
    assert ranks[1].end("train.py", failed=False, redact=False) is None
    assert not page.exists()
    assert ranks[0].end("train.py", failed=False, redact=False) == page
    report = cs.load(page)
    assert report.subject.name == "train.py, ranks 0 to 1"
    assert [variant.name for variant in report.variants] == ["rank 0", "rank 1"]
    assert report.trace is not None
    assert report.trace.ranks is not None
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        f"compilescope: {report.trace.ranks.sentence}",
        "What to change first, by avoidable compile time (measured)",
    ]
    assert "2. 77.0 ms: 1 recompile of f  (program.py:36, rank 0)" in lines
    assert lines[-1] == f"compilescope: wrote {page}"
    assert [path.name for path in tmp_path.iterdir()] == ["train.json"]


def test_a_rank_that_fails_waits_for_none(tmp_path: Path) -> None:
    page = tmp_path / "train.html"
    ranks = [JoinedPage(page, None, rank) for rank in RANKS]
    log(ranks[0].logs, 0)
    assert ranks[0].end("train.py", failed=True, redact=False) == page
    # torchrun may not have ended the other one yet.
    assert ranks[1].end("train.py", failed=True, redact=False) is None
    assert [path.name for path in tmp_path.iterdir()] == ["train.html"]


def test_logs_of_the_user_stay(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log(logs, 0)
    for rank in RANKS:
        JoinedPage(tmp_path / "train.json", logs, rank).end("t", failed=False, redact=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "train.json"]
    assert len(list(logs.iterdir())) == 1


def test_ranks_that_compile_nothing_have_no_page(tmp_path: Path) -> None:
    for rank in RANKS:
        joined = JoinedPage(tmp_path / "train.html", None, rank)
        assert joined.end("train.py", failed=False, redact=False) is None
    assert list(tmp_path.iterdir()) == []


def test_each_of_several_machines_has_a_page(tmp_path: Path) -> None:
    process = Torchrun(rank=2, size=4, local_size=2, node=1, nodes=2)
    joined = JoinedPage(tmp_path / "train.html", None, process)
    assert joined.output.name == "train.node1.html"
    joined.discard()
