"""Traces that are read as far as somebody looks: the same as when they are read whole."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
from compilescope.capture.record_heads import Blocks
from compilescope.readers.lazy_trace import Trace
from compilescope.report import Compilation
from compilescope.report.errors import CompilescopeError

from .stored_traces import TRACES, text_of
from .written_logs import artifact, record

NAMES = sorted(path.relative_to(TRACES).as_posix() for path in TRACES.rglob("*.log.gz"))


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
