"""Traces of other processes, opened as reports."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.readers.log_files import trace_name
from compilescope.report.errors import CompilescopeError

TRACES = Path(__file__).parents[2] / "data" / "traces"
PYTHON = TRACES / "h200-torch2.11-train_mlp_python.log.gz"
CPP = TRACES / "h200-torch2.11-train_mlp_cpp.log.gz"


def test_a_file_is_a_report() -> None:
    report = cs.read_trace(PYTHON)
    assert report.subject.kind == "trace"
    (variant,) = report.variants
    (compilation,) = variant.compilations
    assert compilation.id == "0/0"
    assert {kernel.language for kernel in compilation.kernels} == {"triton", "extern"}
    assert compilation.code.backward is not None
    assert compilation.guards
    assert compilation.phases
    assert report.problems == []


def test_a_folder_has_a_variant_for_each_file_and_links_both_wrappers(tmp_path: Path) -> None:
    shutil.copy(PYTHON, tmp_path / "dedicated_log_torch_trace_rank_0_x.log.gz")
    shutil.copy(CPP, tmp_path / "dedicated_log_torch_trace_rank_1_y.log.gz")
    report = cs.read_trace(tmp_path)
    assert [variant.name for variant in report.variants] == ["rank 0", "rank 1"]
    python, cpp = (variant.compilations[0].code.regions for variant in report.variants)
    launches = [
        {region.key for region in regions if region.kind == "launch"}
        for regions in (python["python"], cpp["cpp"])
    ]
    assert launches[0] == launches[1] != set()


def test_ranks_are_in_order_and_a_restart_is_another_attempt(tmp_path: Path) -> None:
    small = gzip.decompress((TRACES / "cpu-torch2.13-backend.log.gz").read_bytes())
    later = re.sub(rb"(?m)^V(\d{4}) \d\d", rb"V\1 23", small)
    for rank in (10, 2, 0, 1):
        (tmp_path / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(small)
    # By name it comes first, by time last.
    (tmp_path / "dedicated_log_torch_trace_rank_0_a.log").write_bytes(later)
    report = cs.read_trace(tmp_path)
    assert [variant.name for variant in report.variants] == [
        *("rank 0", "rank 0, attempt 2", "rank 1", "rank 2", "rank 10")
    ]
    assert report.subject.name == f"{tmp_path.name}, ranks 0, 1, 2, 10"


def test_a_folder_is_searched_to_its_leaves(tmp_path: Path) -> None:
    (tmp_path / "run" / "x.log").mkdir(parents=True)
    shutil.copy(TRACES / "cpu-torch2.13-backend.log.gz", tmp_path / "run" / "x.log" / "a.log.gz")
    shutil.copy(TRACES / "cpu-torch2.13-export.log.gz", tmp_path / "b.log.gz")
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere.log")
    (tmp_path / "notes.log").write_text("not a trace\n")
    report = cs.read_trace(tmp_path)
    assert [variant.name for variant in report.variants] == ["b", "run/x.log/a"]
    assert [problem.what for problem in report.problems] == [
        "gone.log is not read.",
        "notes.log is not a trace.",
        "A line of notes.log is not a trace record.",
    ]
    assert "a link to" in report.problems[0].why


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (["/run/node0/x.log", "/run/node1/y.log"], "run"),
        (["/a/x.log", "/b/y.log"], "x.log, y.log"),
        ([f"/{place}/x.log" for place in "abcde"], "x.log, x.log, x.log and 2 more"),
    ],
)
def test_a_trace_has_a_name_wherever_its_logs_are(paths: list[str], name: str) -> None:
    assert trace_name([Path(path) for path in paths]) == name


def test_after_a_reset_ids_are_numbered_on(tmp_path: Path) -> None:
    text = gzip.decompress(PYTHON.read_bytes())
    path = tmp_path / "twice.log"
    path.write_bytes(text + text)
    report = cs.read_trace(path)
    assert [compilation.id for compilation in report.compilations] == ["0/0", "1/0"]
    first, second = report.compilations
    assert [kernel.name for kernel in first.kernels] == [kernel.name for kernel in second.kernels]
    assert len(second.phases) == len(first.phases)


def test_what_is_saved_opens(tmp_path: Path) -> None:
    report = cs.read_trace(CPP)
    assert cs.load(report.save(tmp_path / "x.compilescope.json")) == report
    assert "triton" in str(report)


def test_what_is_no_trace_is_refused_or_said(tmp_path: Path) -> None:
    with pytest.raises(CompilescopeError, match="There is no trace"):
        cs.read_trace(tmp_path)
    with pytest.raises(CompilescopeError, match="There is no trace"):
        cs.read_trace(tmp_path / "gone.log")
    (tmp_path / "other.log").write_text("hello\nworld\n")
    report = cs.read_trace(tmp_path)
    assert report.compilations == []
    assert report.problems
