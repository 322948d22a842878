"""Compilations that failed, and what has no compile id, in traces of torch 2.13."""

from __future__ import annotations

import gzip
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.trace_summary import compilation_lines, summary_of
from compilescope.report import Problem, Report

TRACES = Path(__file__).parents[2] / "data" / "traces"
PROGRAM = "/case/program.py"
LOWERING = "InductorError: LoweringException: RuntimeError: cannot lower it"
BROKEN = "backend='broken' raised: RuntimeError: broken backend"


def _read(name: str) -> Report:
    report = cs.read_trace(TRACES / f"cpu-torch2.13-{name}.log.gz")
    assert report.problems == []
    return report


def _failure(report: Report) -> Problem:
    (problem,) = report.variants[0].problems
    return problem


@pytest.mark.parametrize(
    ("name", "what", "line"),
    [
        (
            "backend",
            f"0/0 failed: BackendCompilerFailed: {BROKEN}",
            7,
        ),
        ("fullgraph", "0/0 failed: Unsupported: Failed to trace builtin operator", 14),
        (
            "fake_tensor",
            "0/0 failed: TorchRuntimeError: RuntimeError when making fake tensor call",
            20,
        ),
        (
            "lowering",
            f"0/0 failed: {LOWERING}",
            47,
        ),
        ("backward", "The backward of 0/0 failed: RuntimeError: broken bw", 67),
    ],
)
def test_a_failed_compilation_is_an_error_with_its_line(name: str, what: str, line: int) -> None:
    report = _read(name)
    problem = _failure(report)
    assert (problem.severity, problem.what) == ("error", what)
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == (PROGRAM, line)
    assert problem.remedy
    assert problem.detail
    assert report.variants[0].stage == "failed"
    assert what in str(report)


@pytest.mark.parametrize(
    ("name", "what", "line"),
    [
        ("skipped", "1/0 fell back to eager: Unsupported context manager", 25),
        ("limit", "0/2 fell back to eager: Dynamo recompile limit exceeded", 36),
    ],
)
def test_a_frame_that_ran_in_eager_is_a_warning(name: str, what: str, line: int) -> None:
    report = _read(name)
    problem = _failure(report)
    assert (problem.severity, problem.what) == ("warning", what)
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == (PROGRAM, line)
    assert report.variants[0].stage == "built"


@pytest.mark.parametrize(
    ("name", "what", "outcome"),
    [
        (
            "lowering",
            f"2 compilations failed: {LOWERING}",
            "failed",
        ),
        ("backward", "The backward of 2 compilations failed: RuntimeError: broken bw", "failed"),
        (
            "limit",
            "2 compilations fell back to eager: Dynamo recompile limit exceeded",
            "eager",
        ),
    ],
)
def test_what_several_compilations_fail_of_is_one_problem(
    tmp_path: Path, name: str, what: str, outcome: str
) -> None:
    log = gzip.decompress((TRACES / f"cpu-torch2.13-{name}.log.gz").read_bytes())
    again = log.replace(b'"frame_id": 0', b'"frame_id": 7')
    (tmp_path / "twice.log").write_bytes(log + again)
    report = cs.read_trace(tmp_path / "twice.log")
    problem = _failure(report)
    number = "2" if name == "limit" else "0"
    ids = [f"{frame}/{number}" for frame in (0, 7)]
    assert (problem.what, problem.compilations) == (what, ids)
    with Trace(tmp_path / "twice.log") as trace:
        summary = summary_of(trace)
        lines = compilation_lines(trace.report().variants[0])
    (process,) = summary.processes
    assert process.problems == [problem]
    assert (process.failures, process.fallbacks) == ((2, 0) if outcome == "failed" else (0, 2))
    assert [line.id for line in lines if line.outcome == outcome] == ids
    (loss,) = (loss for loss in summary.fix_first if loss.kind == "failure")
    assert loss.compilations == ids
    single = summary_of(Trace(TRACES / f"cpu-torch2.13-{name}.log.gz")).fix_first
    (once,) = (loss for loss in single if loss.kind == "failure")
    assert loss.seconds == pytest.approx(2 * once.seconds)


@pytest.mark.parametrize(
    ("name", "severity", "outcome"),
    [
        ("backend", "warning", "eager"),
        # These are raised with any setting.
        ("fullgraph", "error", "failed"),
        ("backward", "error", "failed"),
    ],
)
def test_what_suppressed_errors_hide_is_a_warning(
    tmp_path: Path, name: str, severity: str, outcome: str
) -> None:
    log = gzip.decompress((TRACES / f"cpu-torch2.13-{name}.log.gz").read_bytes())
    setting = b'"config_suppress_errors": '
    (tmp_path / "hidden.log").write_bytes(log.replace(setting + b"false", setting + b"true"))
    report = cs.read_trace(tmp_path / "hidden.log")
    problem = _failure(report)
    assert (problem.severity, report.compilations[0].outcome) == (severity, outcome)
    is_hidden = outcome == "eager"
    assert problem.why.startswith("suppress_errors is on: ") == is_hidden
    assert ("hidden_by" in problem.facts) == is_hidden


@pytest.mark.parametrize("name", ["backend", "fullgraph", "fake_tensor"])
def test_what_failed_early_is_not_called_inference(name: str) -> None:
    (compilation,) = _read(name).compilations
    reasons = {compilation.absent[stage] for stage in ("joint", "inference", "post_grad")}
    assert len(reasons) == 1
    assert "inference" not in reasons.pop()


def test_a_lowering_that_failed_keeps_what_came_before() -> None:
    (compilation,) = _read("lowering").compilations
    assert {"dynamo", "inference", "post_grad"} <= compilation.graphs.keys()
    assert "is compiled for inference" in compilation.absent["joint"]


def test_what_has_no_compile_id_is_shown() -> None:
    report = _read("export")
    (compilation,) = report.compilations
    assert compilation.id == "(no id)"
    assert [event.name for event in compilation.raw] == [
        "describe_storage",
        "describe_tensor",
        "describe_source",
    ]
    assert "torch.export" in compilation.absent["id"]
    assert report.variants[0].stage == "sources"


def test_compiled_autograds_graph_stands_beside_its_frame() -> None:
    report = _read("compiled_autograd")
    assert [compilation.id for compilation in report.compilations] == ["0/0", "!0", "!0/1/0"]
    raw = {event.name: event for event in report.compilation("!0").raw}
    assert "class CompiledAutograd" in raw["compiled_autograd_graph"].text
    assert raw["describe_tensor"].count == raw["describe_tensor"].text.count("\n") == 2


def test_the_header_is_that_of_the_trace() -> None:
    environment = _read("backend").environment
    assert (environment.torch, environment.python) == ("2.13.0+cpu", "3.11.7")
    report = cs.read_trace(TRACES / "h200-torch2.11-mlp_b1_python.log.gz")
    environment = report.environment
    assert (environment.torch, environment.triton) == ("2.11.0+cu130", "3.6.0")
    assert environment.python == "3.12.3"
    assert environment.gpus == ["NVIDIA H200"]
    assert report.subject.device == "cuda"
    assert environment.cpu == environment.compiler == ""
