"""Traces that are read as far as somebody looks: the same as when they are read whole."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
from compilescope.capture.record_heads import Blocks
from compilescope.readers.collectives import collective_problems
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.rank_divergence import compare_ranks
from compilescope.readers.trace_summary import compilation_lines, summary_of
from compilescope.report import Compilation
from compilescope.report.compilation.guards import Advice
from compilescope.report.errors import CompilescopeError

from .written_logs import artifact, ranks, record

TRACES = Path(__file__).parents[2] / "data" / "traces"
GRAPH = b'{"dynamo_output_graph": '
NAMES = sorted(path.relative_to(TRACES).as_posix() for path in TRACES.rglob("*.log.gz"))


def text_of(name: str) -> bytes:
    return gzip.decompress((TRACES / name).read_bytes())


def fields(compilation: Compilation, *names: str) -> list[Any]:
    return [getattr(compilation, name) for name in names]


@pytest.mark.parametrize("name", NAMES)
def test_outlines_and_assembled_compilations_are_those_of_the_whole_report(name: str) -> None:
    report = cs.read_trace(TRACES / name)
    (whole,) = report.variants
    with Trace(TRACES / name) as trace:
        (outlined,) = trace.report().variants
        facts = ("id", "frame", "attempt", "breaks", "duration_s")
        for outline, compilation in zip(outlined.compilations, whole.compilations, strict=True):
            assert fields(outline, *facts) == fields(compilation, *facts)
            assert [event.outcome for event in outline.cache] == [
                event.outcome for event in compilation.cache
            ]
            # Of what Dynamo did not start on, the heads do not say when it began.
            # Where the metrics name no time, it is that of another record.
            assert outline.started_s in (None, pytest.approx(compilation.started_s, abs=0.5))
            assert outline.reduced
            assembled = trace.process().compilation(compilation.id)
            assert assembled.compilation == compilation
            assert len(assembled.problems) <= len(report.problems)
        assert outlined.problems == whole.problems
        assert outlined.breaks == whole.breaks
        assert outlined.stage == whole.stage


def test_a_log_that_grows_is_indexed_on_and_gives_the_same(tmp_path: Path) -> None:
    log = text_of("cpu-torch2.13-backward.log.gz") + text_of("cpu-torch2.13-limit.log.gz")
    file = tmp_path / "running.log"
    file.write_bytes(b"")
    offsets = set()
    with Trace(file, whole=False) as trace:
        for part in range(7):
            # Between two records, and amid them.
            with file.open("ab") as more:
                more.write(log[part * len(log) // 7 : (part + 1) * len(log) // 7])
            trace.read_on()
            for process in trace.processes:
                offsets.add(process.offsets)
                for compile_id in process.events:
                    process.compilation(compile_id)
        trace.finish()
        assert len(offsets) == 1
        with Trace(file) as whole:
            grown, read = trace.process(), whole.process()
            assert list(grown.events) == list(read.events)
            for compile_id in read.events:
                assert grown.compilation(compile_id) == read.compilation(compile_id)


def test_two_processes_in_one_log_are_counted_on(tmp_path: Path) -> None:
    path = tmp_path / "twice.log"
    path.write_bytes(text_of("cpu-torch2.13-limit.log.gz") + text_of("cpu-torch2.13-limit.log.gz"))
    whole = cs.read_trace(path).compilations
    with Trace(path) as trace:
        assert list(trace.process().events) == ["0/0", "0/1", "0/2", "1/0", "1/1", "1/2"]
        for compilation in whole:
            assembled = trace.process().compilation(compilation.id).compilation
            assert assembled == compilation


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_blank_lines_that_a_log_collector_added_change_nothing(tmp_path: Path, end: bytes) -> None:
    log = text_of("cpu-torch2.13-limit.log.gz").replace(b"\n", end)
    plain, spaced = tmp_path / "plain" / "x.log", tmp_path / "spaced" / "x.log"
    for path, text in (plain, log), (spaced, end + log.replace(end, 2 * end)):
        path.parent.mkdir()
        path.write_bytes(text)
    assert cs.read_trace(spaced).variants == cs.read_trace(plain).variants
    with Trace(spaced) as trace, Trace(plain) as expected:
        assert trace.report().variants == expected.report().variants
        assert trace.problems == []
        for compile_id in expected.process().events:
            compilation = trace.process().compilation(compile_id)
            assert compilation == expected.process().compilation(compile_id)


def test_damage_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = text_of("cpu-torch2.13-limit.log.gz").split(b"\n")
    lines.insert(0, b"step 3: loss 0.1")
    start = next(n for n, line in enumerate(lines) if b'{"dynamo_start": ' in line)
    lines[start] = lines[start].replace(b'"frame_id": 0', b'"frame_id": []')
    path = tmp_path / "damaged.log"
    path.write_bytes(b"\n".join(lines))
    with Trace(path) as trace:
        assert [problem.what for problem in trace.problems] == [
            "A line of damaged.log is not a trace record.",
            "A line of damaged.log cannot be read.",
        ]
        assert list(trace.process().events) == ["0/0", "0/1", "0/2"]
        assert trace.process().compilation("0/1").compilation.guards
        with pytest.raises(CompilescopeError, match="no compilation '7/0'"):
            trace.process().compilation("7/0")


@pytest.mark.parametrize("buffer", [64, 4096])
def test_blocks_hold_whole_records_whatever_their_size(
    buffer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compilescope.capture.record_heads._BLOCK_BYTES", buffer)
    text = text_of("cpu-torch2.13-limit.log.gz")
    blocks = Blocks(io.BytesIO(text))
    parts = [bytes(block.buffer[1 : block.end + 1]) for block in blocks.complete()]
    last = blocks.last()
    assert last is not None
    assert b"".join(parts) + bytes(last.buffer[1 : last.end + 1]) == text
    assert all(re.match(rb"V\d{4} ", part) for part in parts)


def test_a_log_that_grows_is_read_on_record_by_record(tmp_path: Path) -> None:
    text = text_of("cpu-torch2.13-limit.log.gz")
    path = tmp_path / "growing.log"
    ends = [item.start() for item in re.finditer(rb"\n(?!\t)", text)]
    metrics = [
        n for n, end in enumerate(ends) if b"compilation_metrics" in text[:end].split(b"\nV")[-1]
    ]
    path.write_bytes(text[: ends[metrics[0]] - 7])
    with Trace(path, whole=False) as trace:
        (events,) = trace.process().events.values()
        assert not events.is_done, "its last line is cut"
        with path.open("ab") as file:
            file.write(text[ends[metrics[0]] - 7 : ends[metrics[0]] + 1])
        assert [events.id for _, events in trace.read_on()] == ["0/0"]
        assert events.is_done
        assert trace.read_on() == []
        # A text that goes on is not read yet.
        cut = text.index(b"\n\t", text.index(b"recompile_reasons")) + 20
        with path.open("ab") as file:
            file.write(text[ends[metrics[0]] + 1 : cut])
        trace.read_on()
        before = trace.report().compilations[1:]
        assert all(compilation.recompile is None for compilation in before)
        with path.open("ab") as file:
            file.write(text[cut:])
        trace.finish()
        assert trace.report().variants == Trace(path).report().variants
        assert trace.process().compilation("0/2").compilation.recompile is not None


def test_a_log_that_is_deleted_leaves_what_was_read_of_it(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.log").write_bytes(text_of("cpu-torch2.13-limit.log.gz"))
    with Trace(tmp_path, whole=False) as trace:
        created = trace.report().created
        for name in "ab":
            (tmp_path / f"{name}.log").unlink()
            trace.read_on()
            report = trace.report()
            assert [variant.name for variant in report.variants] == ["a", "b"]
            assert report.created == (created if name == "a" else "")


def test_progress_counts_what_is_read_of_compressed_logs_and_of_each_rank(tmp_path: Path) -> None:
    text = text_of("cpu-torch2.13-limit.log.gz")
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress(text))
    prefixed = (b"[rank%d]:%s" % (rank, line) for line in text.splitlines(True) for rank in (0, 1))
    (tmp_path / "torchrun.log").write_bytes(b"".join(prefixed))
    steps: list[tuple[int, int]] = []
    Trace(tmp_path, lambda done, total: steps.append((done, total))).close()
    assert {total for _, total in steps} == {3 * len(text)}
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == 3 * len(text)


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


def test_zstd_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilescope.capture.decompress._zstd", lambda: None)
    path = tmp_path / "x.log.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00")
    assert "pip install zstandard" in Trace(path).problems[0].remedy


def test_zstd_is_read(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    text = text_of("cpu-torch2.13-limit.log.gz")
    (tmp_path / "plain.log").write_bytes(text)
    (tmp_path / "packed.log.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    with Trace(tmp_path) as trace:
        assert trace.problems == []
        packed, plain = trace.processes
        assert packed.report().compilations == plain.report().compilations
        assert packed.compilation("0/1").compilation.guards
    assert cs.read_trace(tmp_path / "packed.log.zst").compilations


def test_utf16_and_torchruns_prefixes_are_read(tmp_path: Path) -> None:
    text = text_of("cpu-torch2.13-backend.log.gz").decode()
    (tmp_path / "power.log").write_text(text, encoding="utf-16")
    lines = text.splitlines(keepends=True)
    prefixed = [f"[default{rank}]:{line}" for line in lines for rank in (1, 0)]
    (tmp_path / "torchrun.log").write_text("".join(prefixed))
    with Trace(tmp_path) as trace:
        assert [log.name for log in trace.processes] == ["rank 0", "rank 1", "power"]
        whole = cs.read_trace(tmp_path)
        assert [variant.problems for variant in trace.report().variants] == [
            variant.problems for variant in whole.variants
        ]


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


def test_an_outline_has_the_new_values_of_a_recompile(tmp_path: Path) -> None:
    reasons = "0/0: rate == 0.1  # return x * rate\n0/0: mode == 'a'  # if mode == 'a'"
    guards = (
        "TREE_GUARD_MANAGER:\n"
        "+- RootGuardManager\n"
        "| +- GuardManager: source=L['mode'], type=<class 'str'>\n"
        "| | +- EQUALS_MATCH: L['mode'] == 'b'\n"
        "| +- GuardManager: source=L['other'], type=<class 'int'>\n"
        "| | +- EQUALS_MATCH: L['other'] == 3\n"
    )
    ids = {"frame_id": 0, "frame_compile_id": 1, "attempt": 0}
    symbol = {"symbol": "zf1", "val": "0.05", "source": "L['rate']"}
    begun = artifact("recompile_reasons", reasons.split("\n"), **ids)
    begun += record("dynamo_start", detail={"stack": []}, **ids)
    known = record("create_symbol", detail=symbol, **ids)
    known += record("dynamo_cpp_guards_str", guards, **ids)
    path = tmp_path / "x.log"
    path.write_bytes(begun)

    def causes(compilations: Sequence[Compilation]) -> list[str]:
        (recompile,) = [compilation.recompile for compilation in compilations]
        assert recompile is not None
        return [cause.text for cause in recompile.causes]

    with Trace(path, whole=False) as trace:
        trace.read_on()
        with path.open("ab") as log:
            log.write(known + record("compilation_metrics", **ids))
        trace.finish()
        new = ["rate: 0.1 → 0.05", "mode: 'a' → 'b'"]
        assert causes(trace.report().compilations) == new
        events = trace.process().events["0/1"]
        assert [guard.source for guard in events.guards] == ["L['mode']"]
    assert sorted(causes(cs.read_trace(path).compilations)) == sorted(new)
