"""What torch measured before it chose: told by hooks, read from records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.settings.autotune import add_compile_times, read_autotunings
from compilescope.capture.records import Record
from compilescope.report import Kernel
from compilescope.torch_api.inductor.autotuning import logging_autotuning
from compilescope.torch_api.trace.artifact_names import AUTOTUNING
from compilescope.torch_api.trace.trace import Event, listening
from torch._inductor.select_algorithm import AlgorithmSelectorCache, get_algorithm_selector_cache

pytestmark = pytest.mark.slow


def make_record(name: str, said: dict[str, Any]) -> Record:
    return Record(event="artifact", metadata={"artifact": {"name": name}}, payload=json.dumps(said))


MATMUL = {
    "operator": "mm",
    "kind": "algorithm",
    "node": "mm",
    "device": "cuda",
    "inputs": ["float16[512, 512] cuda:0", "float16[512, 512] cuda:0"],
    "measured": True,
    "seconds": 1.5,
    "choices": [
        {"name": "mm", "type": "ExternKernelCaller", "time_us": 12.0},
        {
            "name": "triton_mm_7",
            "type": "TritonTemplateCaller",
            "time_us": 10.0,
            "description": "BLOCK_M=64, BLOCK_N=128, num_warps=4",
            "config": {"tile_shape": "(64, 128, 32)"},
        },
        {"name": "triton_mm_8", "type": "TritonTemplateCaller", "time_us": 10.01},
        {"name": "triton_mm_9", "type": "TritonTemplateCaller", "time_us": None, "failed": True},
        {"name": "triton_mm_11", "type": "TritonTemplateCaller", "time_us": None},
        {"name": "odd", "type": "SomethingNew", "time_us": 30.0},
    ],
}
KERNELS = [
    Kernel(name="extern_kernels.mm", language="extern", nodes=["mm"]),
    Kernel(name="triton_tem_fused_mm_0", language="triton", nodes=["mm", "relu"]),
    Kernel(name="triton_poi_fused_add_0", language="triton", nodes=["add"]),
]


def test_templates_beside_library_calls():
    (autotuning,) = read_autotunings([make_record(AUTOTUNING, MATMUL)], KERNELS)
    assert (autotuning.operator, autotuning.kind, autotuning.skipped) == ("mm", "algorithm", "")
    assert autotuning.kernel == "triton_tem_fused_mm_0"
    assert autotuning.duration_s == 1.5
    assert [(choice.name, choice.chosen, choice.why) for choice in autotuning.choices] == [
        ("triton_mm_7", True, ""),
        ("triton_mm_8", False, "as fast as the best"),
        ("mm", False, "1.2 times the best"),
        ("odd", False, "3 times the best"),
        ("triton_mm_9", False, "it could not be compiled or run"),
        ("triton_mm_11", False, "not measured: torch pruned it"),
    ]
    best = autotuning.choices[0]
    assert best.kind == "triton template"
    assert best.config == {
        "BLOCK_M": "64",
        "BLOCK_N": "128",
        "num_warps": "4",
        "tile_shape": "(64, 128, 32)",
    }
    assert [choice.kind for choice in autotuning.choices if choice.name == "odd"] == [
        "SomethingNew"
    ]


def test_the_library_wins():
    data = json.loads(json.dumps(MATMUL))
    data["choices"][0]["time_us"] = 1.0
    (autotuning,) = read_autotunings([make_record(AUTOTUNING, data)], KERNELS)
    assert autotuning.choices[0].name == "mm"
    assert autotuning.kernel == "extern_kernels.mm"


def test_nothing_could_be_measured():
    said = {**MATMUL, "choices": [{"name": "a", "time_us": None, "failed": True}]}
    (autotuning,) = read_autotunings([make_record(AUTOTUNING, said)], KERNELS)
    assert not autotuning.choices[0].chosen
    assert "could be measured" in autotuning.skipped


@pytest.mark.parametrize(("device", "freezing"), [("cpu", True), ("cuda", False)])
def test_one_candidate_is_no_measurement(device, freezing):
    only = {"name": "mm", "type": "ExternKernelCaller", "time_us": None}
    said = {**MATMUL, "measured": False, "choices": [only], "device": device}
    (autotuning,) = read_autotunings([make_record(AUTOTUNING, said)], KERNELS)
    assert autotuning.choices[0].chosen
    assert autotuning.choices[0].time_us is None
    assert "one candidate" in autotuning.skipped
    assert ("freezing" in autotuning.skipped) == freezing


def test_launch_configurations():
    said = {
        "operator": "triton_poi_fused_add_0",
        "kernel": "triton_poi_fused_add_0",
        "kind": "config",
        "measured": True,
        "choices": [
            {"name": "XBLOCK=256", "type": "config", "time_us": 8.0, "config": {"XBLOCK": "256"}},
            {"name": "XBLOCK=512", "type": "config", "time_us": 6.0},
            {
                "name": "XBLOCK=1024",
                "type": "config",
                "time_us": None,
                "why": "register spilling",
            },
        ],
    }
    (autotuning,) = read_autotunings([make_record(AUTOTUNING, said)], KERNELS)
    assert (autotuning.kind, autotuning.kernel) == ("config", "triton_poi_fused_add_0")
    assert [(choice.name, choice.why) for choice in autotuning.choices] == [
        ("XBLOCK=512", ""),
        ("XBLOCK=256", "1.33 times the best"),
        ("XBLOCK=1024", "register spilling"),
    ]


def test_coordinate_descent_has_no_times():
    said = {
        "operator": "k",
        "kernel": "k",
        "kind": "config",
        "how": "coordinate descent",
        "measured": True,
        "choices": [{"name": "XBLOCK=64"}, {"name": "XBLOCK=32", "why": "where it began"}],
    }
    (autotuning,) = read_autotunings([make_record(AUTOTUNING, said)], [])
    assert [(choice.name, choice.chosen, choice.why) for choice in autotuning.choices] == [
        ("XBLOCK=64", True, ""),
        ("XBLOCK=32", False, "where it began"),
    ]


def test_a_cached_configuration_was_not_measured_now():
    info = {
        "triton_poi_fused_add_0": {
            "autotune_cache_state": "hit",
            "best_config": [["XBLOCK", 512], ["num_warps", 4]],
            "compile_time_us": 1200,
        },
        "triton_tem_fused_mm_0": {"autotune_cache_state": "only 1 config"},
    }
    records = [make_record("triton_kernel_info", info)]
    (autotuning,) = read_autotunings(records, KERNELS)
    assert autotuning.kernel == "triton_poi_fused_add_0"
    assert autotuning.choices[0].config == {"XBLOCK": "512", "num_warps": "4"}
    assert "autotune cache" in autotuning.skipped
    kernels = [Kernel(name="triton_poi_fused_add_0", language="triton")]
    add_compile_times(kernels, records)
    assert kernels[0].resources == {"compile_us": 1200.0}


@pytest.mark.parametrize("payload", ["", "[]", "{", '{"choices": 3}', '{"choices": [1]}'])
def test_what_is_damaged_raises_nothing(payload):
    record = Record(
        event="artifact", metadata={"artifact": {"name": AUTOTUNING}}, payload=payload or None
    )
    read_autotunings([record], KERNELS)


def test_real_trace_files_tell_the_compile_times(data):
    from compilescope.analysis.assemble import assemble
    from compilescope.capture.parse_log import read

    path = Path(data) / "traces" / "h200-torch2.11-mlp_b1_python.log.gz"
    (result,) = assemble(read(path).records, variant="python")
    (kernel,) = [kernel for kernel in result.kernels if kernel.language == "triton"]
    assert kernel.resources["compile_us"] > 0
    assert result.autotunings == []


class Launcher:
    """A Triton launcher as far as it is looked at."""

    def __init__(self, block: int, registers: int) -> None:
        self.config = type(
            "Config", (), {"kwargs": {"XBLOCK": block}, "num_warps": 4, "num_stages": 1}
        )()
        self.n_regs = registers


def test_the_kernels_autotuner_is_heard(monkeypatch):
    """The GPU's own autotuner, with its measuring replaced."""
    heuristics = pytest.importorskip("torch._inductor.runtime.triton_heuristics")
    small, big = Launcher(64, 32), Launcher(128, 255)

    class Tuner:
        inductor_meta = {"kernel_name": "triton_poi_fused_add_0"}
        benchmark_failure_reasons = {big: "register_spilling"}

    monkeypatch.setattr(
        heuristics.CachingAutotuner,
        "benchmark_all_configs",
        lambda self: {small: 0.006, big: float("inf")},
    )
    monkeypatch.setattr(
        heuristics.CachingAutotuner, "coordinate_descent_tuning", lambda self, launcher: big
    )
    events: list[Event] = []
    with listening(events.append), logging_autotuning():
        heuristics.CachingAutotuner.benchmark_all_configs(Tuner())
        heuristics.CachingAutotuner.coordinate_descent_tuning(Tuner(), small)
    records = [Record(event="artifact", metadata=e.metadata, payload=e.payload) for e in events]
    configs, descent = read_autotunings(records, [])
    assert [(choice.name, choice.time_us, choice.why) for choice in configs.choices] == [
        ("XBLOCK=64, num_warps=4, num_stages=1", 6.0, ""),
        ("XBLOCK=128, num_warps=4, num_stages=1", None, "register spilling"),
    ]
    assert configs.choices[1].config["n_regs"] == "255"
    assert [choice.chosen for choice in descent.choices] == [True, False]


def selector() -> tuple[object, object]:
    return (
        vars(AlgorithmSelectorCache)["__call__"],
        list(get_algorithm_selector_cache().feedback_saver_fns),
    )


def test_two_blocks_at_once_hear_of_each_choice_once():
    savers = get_algorithm_selector_cache().feedback_saver_fns
    before = len(savers)
    with logging_autotuning():
        with logging_autotuning():
            assert len(savers) == before + 1
        assert len(savers) == before + 1
    assert len(savers) == before


def test_without_autotuning_there_is_nothing():
    fn = torch.nn.Linear(32, 16).requires_grad_(False)
    report = cs.inspect(fn, (torch.randn(8, 32),), variants=("python",), run=False)
    assert report.variant("python").compilations[0].autotunings == []


def test_one_candidate_on_the_cpu():
    before = selector()
    fn = torch.nn.Linear(32, 16).requires_grad_(False)
    variant = cs.Variant(mode="max-autotune-no-cudagraphs")
    report = cs.inspect(fn, (torch.randn(8, 32),), variants={"a": variant}, run=False)
    (autotuning,) = report.variant("a").compilations[0].autotunings
    assert (autotuning.operator, autotuning.kernel) == ("addmm", "extern_kernels.addmm")
    assert autotuning.inputs[1] == "float32[8, 32] cpu"
    if torch.__version__.startswith("2.11."):
        assert len(autotuning.choices) == 2, "torch 2.11 has two library calls for it"
    else:
        assert "freezing" in autotuning.skipped
    assert selector() == before


def test_cpp_templates_on_the_cpu():
    """With constant weights torch measures its micro-kernels against the libraries."""
    before = selector()
    fn = torch.nn.Linear(64, 32).eval()
    variant = cs.Variant(mode="max-autotune-no-cudagraphs")
    with torch._inductor.config.patch(freezing=True), torch.no_grad():
        report = cs.inspect(fn, (torch.randn(16, 64),), variants={"a": variant}, run=False)
    (autotuning,) = report.variant("a").compilations[0].autotunings
    assert autotuning.skipped == ""
    assert {choice.kind for choice in autotuning.choices} == {"cpp template", "extern"}
    assert [choice.chosen for choice in autotuning.choices] == [True, False]
    times = [choice.time_us or 0.0 for choice in autotuning.choices]
    assert 0 < times[0] <= times[1]
    kernels = report.variant("a").compilations[0].kernels
    (kernel,) = [kernel for kernel in kernels if kernel.name == autotuning.kernel]
    assert (kernel.language == "extern") == (autotuning.choices[0].kind == "extern")
    assert selector() == before
