"""What ranks of a trace have otherwise, and what is no difference."""

from __future__ import annotations

import os
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.readers.collectives import collective_problems
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.rank_divergence import compare_ranks
from compilescope.report.subjects.traces import RankComparison

from .written_logs import artifact, ranks, record

FIRST = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


def compared(folder: Path, logs: dict[int, bytes]) -> RankComparison:
    with Trace(ranks(folder, logs)) as trace:
        comparison = compare_ranks(trace)
    assert comparison is not None
    return comparison


@pytest.mark.parametrize(
    ("first", "second"), [("cuda:7", "cuda:7"), ("cuda:0", "cuda:1"), ("xpu:1", "xpu:2")]
)
def test_the_index_of_a_device_need_not_be_the_rank(
    tmp_path: Path, first: str, second: str
) -> None:
    def log(device: str, folder: str) -> bytes:
        graph = f'def forward(self, l_x_: "f32[8][1]{device}"):\n    return (l_x_,)'
        number = device.partition(":")[2]
        code = f"# /tmp/{folder}/x.py\nstream{number} = get_raw_stream({number})\nempty({device!r})"
        return record("dynamo_output_graph", graph, **FIRST) + record(
            "inductor_output_code", code, **FIRST
        )

    comparison = compared(tmp_path, {7: log(first, "a"), 8: log(second, "b")})
    assert comparison.divergences == []


def test_records_without_an_id_are_no_compilation(tmp_path: Path) -> None:
    def log(*order: str) -> bytes:
        entries = {"graph_execution_order": [{"compile_id": compile_id} for compile_id in order]}
        return record("dynamo_start", **FIRST) + artifact("graph_execution", entries)

    exported = record("dynamo_start", **FIRST) + record("exported_program", "graph()")
    without = record("dynamo_start", **FIRST)
    assert compared(tmp_path, {0: exported, 1: without}).divergences == []
    (divergence,) = compared(tmp_path, {0: log("0/0", "1/0"), 1: log("0/0", "0/0")}).divergences
    assert divergence.what == "graph executed 2"


def test_a_function_may_be_in_another_folder_on_each_rank(tmp_path: Path) -> None:
    def log(folder: str) -> bytes:
        stack = [{"line": 7, "name": "step", "filename": f"{folder}/model.py"}]
        return record("dynamo_start", detail={"stack": stack}, **FIRST)

    logs = {0: log("/home/a/run1"), 1: log("/home/a/run2")}
    assert compared(tmp_path, logs).divergences == []


def test_a_process_that_compiled_nothing_is_no_attempt(tmp_path: Path) -> None:
    """In the whole report as in the summary, whose newest log gives the time."""
    started = artifact("torch_version", "2.13.0") + record("chromium_event", "{}")
    compiled = record("dynamo_start", **FIRST)
    # b's process began first, and compiled last.
    texts = {
        "a": started,
        "b": started.replace(b" 16:17", b" 14:00") + compiled,
        "c": compiled.replace(b" 16:17", b" 15:00"),
    }
    for hours, (name, text) in enumerate(texts.items()):
        path = tmp_path / f"rank_0_{name}.log"
        path.write_bytes(text)
        os.utime(path, (1.7e9 - 3600 * hours,) * 2)
    report = cs.read_trace(tmp_path)
    with Trace(tmp_path) as trace:
        outlined = trace.report()
    for variants in report.variants, outlined.variants:
        assert [variant.name for variant in variants] == ["rank 0", "rank 0, attempt 2"]
    first, second = (variant.compilations[0].started_s or 0.0 for variant in report.variants)
    assert first < second
    assert report.created == outlined.created == "2023-11-14T22:13:20+00:00"


PYTHON = "buf1 = torch.ops._c10d_functional.{}.default(buf0, 2, '0', out=buf1)"
DISPATCHER = '    aoti_torch_call_dispatcher("_c10d_functional::{}", "", dispatch_vars.data())'
BOXED = (
    'static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("_c10d_functional::{}", "");'
)
THROUGH_PYTHON = (
    'PyTuple_SetItem(py_args, 0, PyUnicode_FromString("torch.ops._c10d_functional.{0}.default"));\n'
    'throw std::runtime_error("PyObject_CallObject torch.ops._c10d_functional.{0}.default failed");'
)
PROFILED = (
    'KernelContextGuard _ctx("aoti_torch_cpu__c10d_functional_{0}", R"()");\n'
    "RAIIAtenRecordFunctionHandle record_aoti_torch_cpu__c10d_functional_{0}_"
    '("aoti_torch_cpu__c10d_functional_{0}", nullptr);\n'
    "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu__c10d_functional_{0}(buf0, &buf1_handle));"
)


@pytest.mark.parametrize("call", [PYTHON, DISPATCHER, BOXED, THROUGH_PYTHON, PROFILED])
def test_each_way_to_call_a_collective_counts_once(tmp_path: Path, call: str) -> None:
    """And the code of a graph from torch's cache, of which it logs no schedule, does not."""

    def log(*names: str) -> bytes:
        operators = ["all_gather_into_tensor_out", "wait_tensor"]
        code = "\n".join(call.format(name) for name in names)
        schedule = [f"torch.ops._c10d_functional.{name}.default" for name in operators]
        cached = record("inductor_output_code", PYTHON.format("all_reduce_"), **FIRST)
        return b"".join(
            [
                record("inductor_output_code", PYTHON.format("wait_tensor"), **FIRST),
                record("inductor_output_code", code, **FIRST),
                artifact("inductor_collective_schedule", schedule, **FIRST),
                cached,
            ]
        )

    logs = {0: log("all_gather_into_tensor_out", "wait_tensor"), 1: log("wait_tensor")}
    with Trace(ranks(tmp_path, logs)) as trace:
        (problem,) = collective_problems(trace.processes)
    assert "[rank 1]" in problem.what
    assert "all_gather_into_tensor_out: 1 scheduled, 0 called." in problem.what
