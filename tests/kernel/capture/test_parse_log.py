"""TORCH_TRACE files, whole and damaged."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from compilescope.capture import decompress
from compilescope.capture.parse_log import read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TRACES = Path(__file__).parents[2] / "data" / "traces"
HEAD = "V1120 09:30:51.196000 2187 torch/_dynamo/utils.py:2126] "


def line(metadata: object, payload: str | None = None) -> str:
    if payload is None:
        return HEAD + json.dumps(metadata) + "\n"
    assert isinstance(metadata, dict)
    digest = hashlib.md5(payload.encode()).hexdigest()
    whole = {**metadata, "has_payload": digest}
    rows = "".join(f"\t{row}\n" for row in payload.split("\n"))
    return HEAD + json.dumps(whole) + "\n" + rows


def log(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "trace.log"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_record(tmp_path):
    payload = "class G:\n\n\tpass\n"
    text = (
        line({"str": ["/case/program.py", 3]})
        + line(
            {
                "dynamo_start": {"stack": [{"line": 7, "name": "f", "filename": 3}]},
                "frame_id": 1,
                "frame_compile_id": 2,
                "attempt": 1,
            }
        )
        + line({"artifact": {"name": "graph", "encoding": "string"}, "frame_id": 1}, payload)
    )
    stored = read(log(tmp_path, text))
    assert stored.problems == []
    interned, start, graph = stored.records
    assert interned.event == "str"
    assert (start.event, start.compile_id, start.attempt) == ("dynamo_start", "1/2", 1)
    assert start.metadata["dynamo_start"]["stack"][0]["filename"] == "/case/program.py"
    assert start.thread == 2187
    assert start.payload is None
    assert (graph.name, graph.payload, graph.compile_id) == ("graph", payload, None)


def test_the_clock_is_set_by_events_that_know_the_time(tmp_path):
    true = 1795167051196131.8  # 2026-11-20 09:30:51 UTC
    event = json.dumps({"name": "dynamo", "ph": "B", "ts": true + 3600e6 * 3, "args": {}})
    path = log(tmp_path, line({"str": ["a", 0]}) + line({"chromium_event": {}}, event))
    first, second = read(path).records
    assert first.time_s == second.time_s
    assert abs(second.time_s - (true / 1e6 + 3 * 3600)) < 1


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("mlp_b1_python", 276),
        ("mlp_b1_cpp", 305),
        ("train_mlp_python", 354),
        ("train_mlp_cpp", 384),
    ],
)
def test_logs_from_a_gpu(name, count):
    stored = read(TRACES / f"h200-torch2.11-{name}.log.gz")
    assert stored.problems == []
    assert len(stored.records) == count
    assert {record.compile_id for record in stored.records} == {None, "0/0"}


def test_plain_and_compressed_are_the_same(tmp_path):
    packed = TRACES / "h200-torch2.11-mlp_b1_python.log.gz"
    plain = log(tmp_path, gzip.decompress(packed.read_bytes()))
    assert read(plain).records == read(packed).records


def test_several_compressed_pieces_in_one_file(tmp_path):
    pieces = [gzip.compress(line({"str": [name, 0]}).encode()) for name in "ab"]
    stored = read(log(tmp_path, b"".join(pieces)))
    assert [record.metadata["str"][0] for record in stored.records] == ["a", "b"]
    assert stored.problems == []


def test_a_line_that_is_no_record_is_a_problem_and_the_rest_is_read(tmp_path):
    text = line({"str": ["a", 0]}) + "garbage\n" + HEAD + '{"dynamo_sta\n' + line({"str": ["b", 1]})
    stored = read(log(tmp_path, text))
    assert [record.metadata["str"][0] for record in stored.records] == ["a", "b"]
    assert [(problem.what, problem.why) for problem in stored.problems] == [
        ("A line of trace.log is not a trace record.", "trace.log, line 2."),
        ("A line of trace.log cannot be read.", "trace.log, line 3."),
    ]
    assert all(problem.severity == "warning" and problem.remedy for problem in stored.problems)


def test_a_changed_payload_is_a_problem(tmp_path):
    text = line({"artifact": {"name": "x"}}, "one\ntwo").replace("two", "tow")
    stored = read(log(tmp_path, text))
    assert [record.payload for record in stored.records] == ["one\ntow"]
    assert stored.problems[0].what == (
        "A line of trace.log begins a payload that is not what torch wrote."
    )


@pytest.mark.parametrize(
    "text", ["[1, 2]", "{}", '"str"', "3", "null", '{"str": 3}', '{"str": []}']
)
def test_metadata_that_torch_would_not_write(tmp_path, text):
    read(log(tmp_path, HEAD + text + "\n"))


@pytest.mark.parametrize("number", [1e308, -1, 10**30, True, {}, [0], "x"])
def test_an_id_that_there_cannot_be_costs_its_line(tmp_path, number):
    text = line({"artifact": {"name": "x"}, "frame_id": number, "frame_compile_id": 0})
    stored = read(log(tmp_path, text + line({"str": ["b", 1]})))
    assert [record.event for record in stored.records] == ["str"]
    assert "its frame_id is" in stored.problems[0].detail


def test_compiled_autograds_ids_are_as_torch_writes_them(tmp_path):
    own = {"compiled_autograd_graph": {}, "compiled_autograd_id": 0}
    frame = {"dynamo_start": {}, "compiled_autograd_id": 0, "frame_id": 1, "frame_compile_id": 0}
    stored = read(log(tmp_path, line(own, "x") + line(frame)))
    assert [record.compile_id for record in stored.records] == ["!0", "!0/1/0"]


def test_lines_of_windows_are_whole(tmp_path):
    plain = line({"str": ["a", 0]}) + line({"artifact": {"name": "x"}}, "one\n\ntwo")
    stored = read(log(tmp_path, plain.replace("\n", "\r\n")))
    assert stored.problems == []
    assert stored.records[1].payload == "one\n\ntwo"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings(tmp_path, encoding):
    path = log(tmp_path, line({"artifact": {"name": "x"}}, "é").encode(encoding))
    stored = read(path)
    assert stored.problems == []
    assert [record.payload for record in stored.records] == ["é"]


def test_lines_of_several_processes_are_told_apart(tmp_path):
    logs = [line({"artifact": {"name": "x"}}, f"rank {rank}\ntwo").split("\n") for rank in (0, 1)]
    mixed = [
        f"[default{rank}]:{row}"
        for rows in zip(*logs, strict=True)
        for rank, row in enumerate(rows)
    ]
    stored = read(log(tmp_path, "\n".join(["torchrun says", *mixed])))
    assert [trace.rank for trace in (stored, *stored.others)] == [0, 1]
    assert [trace.records[0].payload for trace in (stored, *stored.others)] == [
        "rank 0\ntwo",
        "rank 1\ntwo",
    ]
    assert [trace.problems for trace in stored.others] == [[]]
    assert [problem.what for problem in stored.problems] == [
        "A line of trace.log is not a trace record."
    ]


def test_a_compressed_file_unpacks_to_so_much_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(decompress, "MAX_BYTES", 1 << 20)
    text = line({"str": ["a", 0]}) + "\n" * (8 << 20)
    stored = read(log(tmp_path, gzip.compress(text.encode())))
    assert [record.event for record in stored.records] == ["str"]
    assert stored.problems[0].what == (
        "trace.log unpacks to more than 1 MiB: the rest is not read."
    )


def test_a_small_compressed_file_unpacks_to_a_hundred_times_its_size(tmp_path):
    text = line({"str": ["a", 0]}) + (" " * (1 << 20) + "\n") * 40
    packed = gzip.compress(text.encode(), compresslevel=1)
    assert len(packed) * 100 < len(text)
    stored = read(log(tmp_path, packed))
    assert [record.event for record in stored.records] == ["str"]
    assert "the rest is not read" in stored.problems[0].what


def test_zstd_is_read_whole_in_several_frames(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    payloads = [hashlib.sha256(b"%d" % number).hexdigest() * 1000 for number in range(40)]
    texts = [line({"artifact": {"name": "x"}}, payload) for payload in payloads]
    frames = [zstandard.ZstdCompressor().compress(text.encode()) for text in texts]
    stored = read(log(tmp_path, b"".join(frames)))
    assert stored.problems == []
    assert [record.payload for record in stored.records] == payloads


@pytest.mark.parametrize("damage", ["cut", "overwritten", "followed by something else"])
def test_damaged_zstd_is_read_up_to_the_damage(tmp_path, damage):
    zstandard = pytest.importorskip("zstandard")
    text = "".join(line({"str": [hashlib.sha256(b"%d" % n).hexdigest(), n]}) for n in range(20_000))
    packed = zstandard.ZstdCompressor().compress(text.encode())
    half = len(packed) // 2
    damaged = {
        "cut": packed[:half],
        "overwritten": packed[:half] + b"\xff" * 5000 + packed[half + 5000 :],
        "followed by something else": packed + b"something else",
    }
    stored = read(log(tmp_path, damaged[damage]))
    assert stored.problems[0].what.startswith("trace.log is truncated or corrupt")
    assert stored.records


def test_a_small_zstd_file_unpacks_to_a_hundred_times_its_size(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    text = line({"str": ["a", 0]}) + (" " * (1 << 20) + "\n") * 40
    packed = zstandard.ZstdCompressor().compress(text.encode())
    stored = read(log(tmp_path, packed))
    assert [record.event for record in stored.records] == ["str"]
    assert "the rest is not read" in stored.problems[0].what


def test_a_folder_named_compression_is_not_pythons_package(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "compression", raising=False)
    monkeypatch.delitem(sys.modules, "compression.zstd", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "compression").mkdir()
    (tmp_path / "compression" / "__init__.py").touch()
    packed = gzip.compress(line({"str": ["a", 0]}).encode() * 1000)
    stored = read(log(tmp_path, packed[:-8]))
    assert len(stored.records) == 1000
    assert stored.problems[0].what.startswith("trace.log is truncated or corrupt")
    del sys.modules["compression"]


@pytest.mark.parametrize("year", [2026, 2028])
def test_the_29th_of_february_is_read_in_any_year(tmp_path, year):
    path = log(tmp_path, line({"str": ["a", 0]}).replace("V1120", "V0229"))
    moment = datetime(year, 6, 1, tzinfo=timezone.utc).timestamp()
    os.utime(path, (moment, moment))
    assert [record.event for record in read(path).records] == ["str"]


def test_what_cannot_be_unpacked_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(decompress, "_zstd", lambda: None)
    stored = read(log(tmp_path, b"\x28\xb5\x2f\xfd1234"))
    assert [problem.what for problem in stored.problems] == ["trace.log cannot be unpacked."]
    assert "zstd -d" in stored.problems[0].remedy


def test_a_file_that_is_no_trace(tmp_path):
    stored = read(log(tmp_path, "hello\nworld\n"))
    assert stored.records == []
    assert stored.problems[0].what == "trace.log is not a trace."
    assert stored.problems[0].severity == "error"


def test_an_empty_file(tmp_path):
    stored = read(log(tmp_path, ""))
    assert (stored.records, stored.problems) == ([], [])


def test_very_many_problems_are_counted_not_listed(tmp_path):
    stored = read(log(tmp_path, line({"str": ["a", 0]}) + "garbage\n" * 1000))
    (problem,) = stored.problems
    assert problem.what == "1000 lines of trace.log are not trace records."
    assert problem.why == "The first is line 2."
    assert problem.detail.count("garbage") == 20


def test_a_missing_file_is_the_callers_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.log")


PLAIN = gzip.decompress((TRACES / "h200-torch2.11-train_mlp_cpp.log.gz").read_bytes())
PACKED = (TRACES / "h200-torch2.11-mlp_b1_cpp.log.gz").read_bytes()


@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_cut_never_crashes(data, tmp_path):
    packed = data.draw(st.booleans())
    whole = PACKED if packed else PLAIN
    end = data.draw(st.integers(0, len(whole) - 1))
    stored = read(log(tmp_path, whole[:end]))
    if packed:
        assert stored.problems or end < 3
    else:
        assert len(stored.problems) <= 2


@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_bytes_never_crash(data, tmp_path):
    start = data.draw(st.integers(0, len(PLAIN) - 1))
    piece = bytearray(PLAIN[start : start + 50_000])
    for _ in range(20):
        piece[data.draw(st.integers(0, len(piece) - 1))] = data.draw(st.integers(0, 255))
    read(log(tmp_path, bytes(piece)))
