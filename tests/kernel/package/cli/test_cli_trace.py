"""``compilescope trace``: what it prints, lists and writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.cli import main
from compilescope.report import Report

from ..stored_logs import LIMIT, PYTHON, text_of


def test_a_trace_is_summarized_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert main(["trace", str(PYTHON), "--json", "-o", str(page)]) == 0
    summary = json.loads(capsys.readouterr().out)
    (compilation,) = cs.read_trace(PYTHON).compilations
    (process,) = summary["processes"]
    assert process["compile_time_s"] == summary["slowest"][0]["duration_s"]
    assert process["compile_time_s"] == compilation.duration_s
    assert process["caches"]["FX graph"] == {"miss": 1}
    assert page.read_text().startswith("<!doctype html>")
    assert main(["trace", str(PYTHON)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == PYTHON.name
    assert lines[1] == "torch 2.11.0+cu130 · triton 3.6.0 · Python 3.12.3 · NVIDIA H200"
    assert lines[3].startswith(
        "1 compilation, 0 recompiles, 0 graph breaks, 2.48 s of compile time"
    )
    assert "\033" not in "".join(lines), "a pipe is no terminal"


def test_a_summary_imports_nothing_that_only_other_views_of_a_trace_need() -> None:
    script = f"""if True:
        import sys
        from compilescope.cli import main
        main(["trace", {str(PYTHON)!r}])
        print(*(name for name in sys.modules if name.startswith("compilescope.")), file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = {name.removeprefix("compilescope.") for name in done.stderr.split()}
    assert "readers.trace_summary" in imported
    unneeded = {"readers.offsets", "readers.search", "readers.stacks", "readers.rank_divergence"}
    assert not imported & {*unneeded, "analysis.assemble", "cli.follow", "cli.run", "views"}


def test_a_process_that_summarizes_a_trace_imports_no_more_than_it_needs() -> None:
    script = f"""if True:
        import sys
        from compilescope.cli import run_process
        sys.argv[1:] = ["trace", {str(PYTHON)!r}]
        run_process()
        print(*sys.modules, file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = set(done.stderr.split())
    assert "msgspec" in imported
    unneeded = {"json"}
    if sys.version_info >= (3, 11):
        unneeded.add("typing_extensions")
    assert not imported & unneeded


def test_logs_at_several_paths_are_one_trace_and_say_once_what_all_of_them_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [tmp_path / f"node{rank}" / f"trace_rank_{rank}_x.log.gz" for rank in (0, 1)]
    for log in logs:
        log.parent.mkdir()
        log.write_bytes(LIMIT.read_bytes())
    report = tmp_path / "ranks.json"
    assert main(["trace", str(logs[1]), str(logs[0].parent), "-o", str(report)]) == 0
    summary = capsys.readouterr().out
    assert summary.startswith(f"{tmp_path.name}, ranks 0 to 1\n")
    assert summary.count("fell back to eager: Dynamo recompile limit exceeded  (f") == 1
    assert "warning: [rank 0, rank 1] 0/2 fell back to eager" in summary
    assert [variant.name for variant in cs.load(report).variants] == ["rank 0", "rank 1"]
    assert main(["trace", str(logs[0]), str(tmp_path / "nothing")]) == 2
    assert "There is no trace at" in capsys.readouterr().err


def test_a_trace_is_called_after_the_folder_that_a_dot_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.log").write_bytes(text_of(LIMIT))
    monkeypatch.chdir(tmp_path)
    assert main(["trace", "."]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path.name}\n")


def test_an_empty_log_holds_no_compilations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "empty.log"
    log.touch()
    assert main(["trace", str(log)]) == 0
    assert "No compilations: torch logged none." in capsys.readouterr().out


def test_compilations_of_a_trace_are_listed_sorted_and_filtered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ids(*options: str) -> list[str]:
        assert main(["trace", str(LIMIT), "--json", *options]) == 0
        return [line["id"] for line in json.loads(capsys.readouterr().out)]

    assert ids("--list") == ["0/0", "0/1", "0/2"]
    assert ids("--only", "failed") == []
    with pytest.raises(SystemExit):
        main(["trace", str(LIMIT), "--min-nodes", "-1"])
    assert "-1 is not a number of nodes: give 0 or more" in capsys.readouterr().err
    assert ids("--only", "fallback") == ["0/2"]
    assert ids("--only", "recompiled", "--sort", "time") == ["0/1"]
    assert ids("--sort", "outcome") == ["0/2", "0/0", "0/1"]
    assert ids("--sort", "recompile")[-1] == "0/0"
    assert ids("--sort", "cache") == ids("--sort", "breaks") == ["0/0", "0/1", "0/2"]
    assert ids("--function", "program.py") == ["0/0", "0/1", "0/2"]
    assert main(["trace", str(LIMIT), "--search", "l_x_ + 1"]) == 0
    hits = capsys.readouterr().out.splitlines()
    assert [hit.split(": ")[0] for hit in hits] == [
        f"{LIMIT.name[:-7]} {compilation} dynamo_output_graph, line 6"
        for compilation in ("0/0", "0/1")
    ]
    assert main(["trace", str(LIMIT), "--search", "no such text"]) == 1
    assert capsys.readouterr().out == ""
    assert main(["trace", str(LIMIT), "--stacks"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "<module>, program.py:77",
        "  f, program.py:36  0/0 0/1",
    ]
    assert main(["trace", str(LIMIT), "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "77.0 ms  0/1  f, program.py:36  recompiled"


def test_a_redacted_trace_prints_no_message_of_the_users(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = {"fail_type": "ValueError", "fail_reason": "hunter2"}
    record = {"compilation_metrics": failed, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    trace, page = tmp_path / "trace.log", tmp_path / "report.html"
    trace.write_text(f"V1124 10:00:01.000000 7 torch/x.py:1] {json.dumps(record)}\n")
    for form in ([], ["--json"]):
        assert main(["trace", str(trace), *form]) == 0
        assert "hunter2" in capsys.readouterr().out
        assert main(["trace", str(trace), "--redact", *form, "-o", str(page)]) == 0
        assert "hunter2" not in capsys.readouterr().out + page.read_text()


def test_a_page_of_one_rank_has_nothing_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = b"V1124 10:00:01.000000 7 torch/x.py:1] {\n"
    for rank, more in ((0, torn), (1, b"")):
        log = tmp_path / f"trace_rank_{rank}_x.log"
        log.write_bytes(text_of(LIMIT) + more)
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
