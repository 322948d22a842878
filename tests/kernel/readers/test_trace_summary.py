"""What the summary of a trace says: its ranks, what cost compile time, where a log ends."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import compilescope as cs
import msgspec
import pytest
from compilescope.readers.collectives import collective_problems
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.rank_divergence import compare_ranks
from compilescope.readers.trace_summary import compilation_lines, summary_of
from compilescope.report.compilation.guards import Advice

from .stored_traces import TRACES, text_of
from .written_logs import artifact, ranks, record

GRAPH = b'{"dynamo_output_graph": '


def test_stacks_that_begin_alike_are_one_tree(tmp_path: Path) -> None:
    text = text_of("cpu-torch2.13-compiled_autograd.log.gz")
    with Trace(ranks(tmp_path, {0: text, 1: text, 2: text_of("cpu-torch2.13-limit.log.gz")})) as it:
        assert summary_of(it).stacks == []
        both, other = summary_of(it, stacks=True).stacks
    assert (both.processes, other.processes) == (["rank 0", "rank 1"], ["rank 2"])
    assert [(line.depth, line.where.line, line.compilations) for line in both.lines[:3]] == [
        (0, 77, []),
        (1, 72, ["0/0"]),
        (1, 75, []),
    ]
    assert both.lines[-1].compilations == ["!0/1/0"]
    assert [line.compilations for line in other.lines] == [[], ["0/0", "0/1"]]


def test_ranks_that_compile_the_same_say_so(tmp_path: Path) -> None:
    text = text_of("h200-torch2.11-mlp_b1_python.log.gz")
    comparison = compare_ranks(Trace(ranks(tmp_path, dict.fromkeys(range(3), text))))
    assert comparison is not None
    assert comparison.divergences == []
    assert re.fullmatch(
        r"All 3 ranks compiled the same code\. Each compiled for [\d.]+ m?s\.", comparison.sentence
    )


def test_the_rank_that_diverges_first_is_named_with_the_line(tmp_path: Path) -> None:
    text = text_of("cpu-torch2.13-limit.log.gz")
    texts = dict.fromkeys((0, 1, 2, 10), text)
    # torch's checksum of 0/0's graph, by which texts are compared, and the graph.
    texts[2] = text.replace(b"l_x_ + 1", b"l_x_ + 2", 1)
    graph = re.search(rb'"has_payload": "(\w+)"\}\n((?:\t.*\n)+)', texts[2][text.index(GRAPH) :])
    assert graph is not None
    payload = graph[2].removesuffix(b"\n").replace(b"\n\t", b"\n")[1:]
    texts[2] = texts[2].replace(graph[1], hashlib.md5(payload).hexdigest().encode(), 1)
    # One rank did not come to the second recompile.
    end = text.index(b'"frame_compile_id": 2')
    texts[10] = text[: text.rindex(b"\nV", 0, end) + 1]
    path = ranks(tmp_path, texts)
    trace = Trace(path)
    assert [log.name for log in trace.processes] == ["rank 0", "rank 1", "rank 2", "rank 10"]
    comparison = compare_ranks(trace)
    assert comparison is not None
    results = [(divergence.ranks, divergence.what) for divergence in comparison.divergences]
    assert results[0] == ([2], "the Dynamo graph of 0/0, line 6")
    assert ([10], "compilation 0/2") in results
    first = comparison.divergences[0]
    assert "l_x_ + 2" in first.here
    assert "l_x_ + 1" in first.there
    report = cs.read_trace(path)
    assert "Rank 2 and the other ranks differ in the Dynamo graph of 0/0" in report.problems[0].what


def test_collectives_tensors_caches_estimates_and_order_are_compared(tmp_path: Path) -> None:
    first = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}

    def log(rank: int) -> bytes:
        odd = rank == 1
        meta = {
            "name": "op0",
            "estimated_runtime_ns": 3000.0 if odd else 1000.0,
            "outputs": [{"shape": [2 + odd], "stride": [1], "dtype": "float32"}],
        }
        order = [
            {"compile_id": compile_id} for compile_id in (["1/0", "0/0"] if odd else ["0/0", "1/0"])
        ]
        calls = ["all_reduce", "wait_tensor", "other" if odd else "all_gather_into_tensor"]
        schedule = [f"torch.ops._c10d_functional.{call}.default" for call in calls]
        cache = "fx_graph_cache_hit" if odd else "fx_graph_cache_miss"
        return (
            text_of("cpu-torch2.13-lowering.log.gz")
            + artifact("inductor_collective_schedule", schedule, **first)
            + artifact("inductor_runtime_and_tensor_meta", {"ops": [meta]}, **first)
            + artifact(cache, {"key": "k"}, **first)
            + artifact("graph_execution", {"graph_execution_order": order})
        )

    comparison = compare_ranks(Trace(ranks(tmp_path, {rank: log(rank) for rank in range(3)})))
    assert comparison is not None
    by_name = {divergence.kind: divergence for divergence in comparison.divergences}
    assert all(divergence.ranks == [1] for divergence in by_name.values())
    collective = by_name["collectives"]
    assert (collective.what, collective.serious) == ("collective 3 of 0/0", True)
    assert "other" in collective.here
    assert "all_gather" in collective.there
    assert by_name["tensors"].what == "the output of operation 1 of 0/0"
    assert (by_name["cache"].here, by_name["cache"].there) == ("FX graph hit", "FX graph miss")
    estimates = by_name["runtimes"].here, by_name["runtimes"].there
    assert estimates == ("3.00 µs, estimated by Inductor", "1.00 µs, estimated by Inductor")
    assert by_name["execution"].serious
    assert "1/0" in by_name["execution"].here


@pytest.mark.parametrize(
    "call",
    [
        "torch.ops._c10d_functional.{}.default(buf0)",
        "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu__c10d_functional_{}(buf0));",
    ],
)
def test_code_without_a_scheduled_wait_is_a_problem(tmp_path: Path, call: str) -> None:
    """A comment that names an operator is no call of it."""
    first = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    comment = (
        "#   %wait : call_function[target=torch.ops._c10d_functional.wait_tensor.default](buf0)"
    )
    calls = [f"    {call.format(name)}" for name in ("all_reduce_", "wait_tensor")]
    schedule = [
        f"torch.ops._c10d_functional.{name}.default" for name in ("all_reduce_", "wait_tensor")
    ]

    def log(code: list[str]) -> bytes:
        return record("inductor_output_code", "\n".join(code), **first) + artifact(
            "inductor_collective_schedule", schedule, **first
        )

    path = ranks(tmp_path, {0: log([comment, *calls]), 1: log([comment, calls[0]])})
    with Trace(path) as trace:
        (problem,) = (
            problem for problem in summary_of(trace).problems if problem.what.startswith("[rank 1]")
        )
        assert "wait_tensor: 1 scheduled, 0 called" in problem.what
        assert not collective_problems([trace.process("rank 0")])
    assert problem in cs.read_trace(path).problems


@pytest.mark.parametrize(
    ("logged", "duration_s"),
    [
        (b'"duration_us": 2500000', 2.5),
        (b'"dynamo_cumulative_compile_time_us": 2500000', 2.5),
        (b'"entire_frame_compile_time_s": 2.5', 2.5),
        (b'"other_time_us": 2500000', None),
    ],
)
def test_a_compile_time_that_versions_name_differently(
    tmp_path: Path, logged: bytes, duration_s: float | None
) -> None:
    text = re.sub(
        rb'"(duration_us|dynamo_cumulative_compile_time_us|entire_frame_compile_time_s)": [\d.]+',
        b'"other": 0',
        text_of("cpu-torch2.13-backend.log.gz"),
    )
    text = text.replace(b'"other": 0', logged, 1)
    path = ranks(tmp_path, {0: text, 1: text_of("cpu-torch2.13-limit.log.gz")})
    with Trace(path) as trace:
        trace_summary = summary_of(trace)
        (compilation,) = trace.process("rank 0").report().compilations
    assert compilation.duration_s == (None if duration_s is None else pytest.approx(duration_s))
    failures = [loss for loss in trace_summary.fix_first if loss.process == "rank 0"]
    assert [loss.seconds for loss in failures] == [
        pytest.approx(seconds) for seconds in [duration_s] if seconds
    ]
    assert trace_summary.processes[0].problems
    assert trace_summary.ranks is not None
    assert ("compiled longest" in trace_summary.ranks.sentence) == bool(duration_s)


def test_what_cost_compile_time_is_ranked(tmp_path: Path) -> None:
    for name in ("limit", "skipped", "backend"):
        (tmp_path / f"{name}.log").write_bytes(text_of(f"cpu-torch2.13-{name}.log.gz"))
    trace_summary = summary_of(Trace(tmp_path))
    seconds = [loss.seconds for loss in trace_summary.fix_first]
    assert seconds == sorted(seconds, reverse=True)
    assert {loss.kind for loss in trace_summary.fix_first} == {
        "failure",
        "recompiles",
        "graph break",
    }
    recompiles = next(loss for loss in trace_summary.fix_first if loss.kind == "recompiles")
    assert (recompiles.what, recompiles.compilations) == ("1 recompile of f", ["0/1"])
    assert recompiles.why == "x.size(0): 2 → 3"
    # No graph ends at this break: its compilations are named all the same.
    assert all(loss.compilations for loss in trace_summary.fix_first)
    (limit,) = (process for process in trace_summary.processes if process.name == "limit")
    # Beyond the limit torch compiles nothing: 0/2 is a fallback, and no recompile.
    assert (limit.compilations, limit.recompiles, limit.unfinished) == (3, 1, [])
    assert limit.fallbacks == 1
    lines = compilation_lines(Trace(tmp_path / "limit.log").report().variants[0])
    assert [line.id for line in lines if line.is_recompile] == recompiles.compilations
    assert msgspec.json.decode(msgspec.json.encode(trace_summary))["fix_first"]


def test_a_trace_read_in_full_counts_what_the_advice_avoids(tmp_path: Path) -> None:
    path = tmp_path / "limit.log"
    path.write_bytes(text_of("cpu-torch2.13-limit.log.gz"))
    read = cs.read_trace(path)
    assert read.trace is not None
    assert "recompiles" in [loss.kind for loss in read.trace.fix_first]
    for compilation in read.variants[0].compilations:
        if compilation.recompile is not None:
            compilation.recompile.advice = [Advice(kind="constant", what="It is a constant.")]
    with Trace(path) as trace:
        losses = summary_of(trace, read=read.variants).fix_first
        assert [loss.kind for loss in losses] == ["failure"]
        assert "recompiles" in [loss.kind for loss in summary_of(trace).fix_first]


def test_the_compile_time_is_that_of_forward_and_backward() -> None:
    path = TRACES / "cpu-torch2.13-backward.log.gz"
    (compilation,) = cs.read_trace(path).compilations
    assert compilation.duration_s == pytest.approx(0.939466 + 0.009378)
    with Trace(path) as trace:
        trace_summary = summary_of(trace)
    assert trace_summary.slowest[0].duration_s == compilation.duration_s
    assert trace_summary.processes[0].compile_time_s == compilation.duration_s
    assert trace_summary.processes[0].counts[-1] == "949 ms of compile time"


def test_what_a_log_ends_in_is_named(tmp_path: Path) -> None:
    first, second, third = ({"frame_id": frame, "frame_compile_id": 0} for frame in range(3))
    log = b""
    for ids in (first, second):
        log += record("dynamo_start", detail={"stack": []}, attempt=0, **ids)
        log += record("compilation_metrics", detail={}, attempt=0, **ids)
        log += artifact("before_post_grad_graph", "a backward", **ids)
    log += record("bwd_compilation_metrics", detail={}, **first)
    log += record("dynamo_start", detail={"stack": []}, attempt=0, **third)
    file = tmp_path / "cut.log"
    file.write_bytes(log)
    ends_within = "cut ends within the backward of 1/0, 2/0."
    with Trace(file) as trace:
        trace_summary = summary_of(trace)
    assert trace_summary.processes[0].unfinished == ["1/0", "2/0"]
    assert [problem.what for problem in trace_summary.problems] == [ends_within]
    assert [problem.what for problem in cs.read_trace(file).problems] == [ends_within]
    with Trace(file, whole=False) as growing:
        assert summary_of(growing).problems == []
