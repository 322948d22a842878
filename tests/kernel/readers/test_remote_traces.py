"""Traces that are elsewhere, by fsspec's file system in memory."""

from __future__ import annotations

import datetime
import gzip
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import compilescope as cs
import fsspec
import pytest
from compilescope.cli import main
from compilescope.readers import remote

LOG = Path(__file__).parents[2] / "data" / "traces" / "cpu-torch2.13-limit.log.gz"


@pytest.fixture
def address() -> Iterator[str]:
    """A folder of two ranks, the second in a folder of its own, and of what is no log."""
    system = fsspec.filesystem("memory")
    system.pipe("/job/dedicated_log_torch_trace_rank_0_x.log", gzip.decompress(LOG.read_bytes()))
    system.pipe("/job/node1/dedicated_log_torch_trace_rank_1_x.log.gz", LOG.read_bytes())
    system.pipe("/job/weights.pt", b"weights")
    yield "memory://job"
    system.rm("/job", recursive=True)


def test_a_folder_elsewhere_is_read_and_its_copy_is_removed(address: str) -> None:
    report = cs.read_trace(address)
    assert [variant.name for variant in report.variants] == ["rank 0", "rank 1"]
    assert report.subject.name.startswith("job")
    with remote.located(address) as folder:
        names = [file.name for file in folder.rglob("*") if file.is_file()]
        assert sorted(names) == [
            "dedicated_log_torch_trace_rank_0_x.log",
            "dedicated_log_torch_trace_rank_1_x.log.gz",
        ]
    assert not folder.exists()


def test_a_copy_has_the_time_of_the_log(address: str) -> None:
    changed = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc)
    for name, file in fsspec.filesystem("memory").store.items():
        if name.startswith("/job/"):
            file.modified = changed
    assert cs.read_trace(address).created == "2024-05-06T07:08:09+00:00"


def test_what_is_elsewhere_is_called_by_its_own_name(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [
        f"{address}/dedicated_log_torch_trace_rank_0_x.log",
        f"{address}/node1/dedicated_log_torch_trace_rank_1_x.log.gz",
    ]
    assert main(["trace", *logs, "--json"]) == 0
    names = ", ".join(log.rpartition("/")[2] for log in logs)
    assert json.loads(capsys.readouterr().out)["name"] == f"{names}, ranks 0 to 1"
    fsspec.filesystem("memory").pipe("/empty/weights.pt", b"weights")
    assert main(["trace", "memory://empty"]) == 2
    assert "There is no trace at 'memory://empty'." in capsys.readouterr().err


def test_the_commands_take_addresses(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", f"{address}/dedicated_log_torch_trace_rank_0_x.log", "--list"]) == 0
    assert "program.py:36" in capsys.readouterr().out
    assert main(["diff", address, str(LOG)]) == 0
    assert main(["trace", address, "--follow"]) == 2
    assert "cannot be followed" in capsys.readouterr().err


def test_what_cannot_be_read_is_said_in_a_line(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["trace", "memory://nowhere/x.log"]) == 2
    assert "There is no trace at 'memory://nowhere/x.log'" in capsys.readouterr().err
    assert main(["trace", "weather://x.log"]) == 2
    assert "weather://x.log cannot be read." in capsys.readouterr().err
    monkeypatch.setattr(
        remote, "find_spec", lambda name: None if name == "fsspec" else find_spec(name)
    )
    assert main(["trace", address]) == 2
    assert "fsspec is not installed" in capsys.readouterr().err
