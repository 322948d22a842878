"""What becomes of CUDA graphs: by torch's words, by its rules, and counted."""

from __future__ import annotations

import logging

import compilescope
import pytest
import torch
from compilescope import Variant
from compilescope.analysis.settings.cuda_graph_reasons import read_skip
from compilescope.analysis.settings.cuda_graphs import LoggedSkip, add_counts, cuda_graphs_of
from compilescope.analysis.settings.effective import cuda_graphs_row
from compilescope.capture.records import Record
from compilescope.report import Compilation, CudaGraphs, Graph, Node, Report
from compilescope.torch_api.inductor.cuda_graphs import Counts, CudaGraphSkip, collecting_skips
from torch import Tensor

AROUND_CPP = not torch.__version__.startswith("2.11.")
"""torch 2.11 captures no CUDA graph around a C++ wrapper."""
ASKED = {"triton.cudagraphs": True}
WHOLE = {"triton.cudagraphs": True, "graph_partition": False}
GPU = {
    "python": Variant(mode="reduce-overhead", target="h100"),
    "cpp": Variant(mode="reduce-overhead", cpp_wrapper=True, target="h100"),
    "whole": Variant(options=WHOLE, cpp_wrapper=True, target="h100"),
    "off": Variant(target="h100"),
}


def plain(x: Tensor) -> Tensor:
    return torch.relu(x @ x).sum(0)


def on_the_cpu_between(x: Tensor) -> Tensor:
    return torch.relu(x @ x).to("cpu").sin().to(x.device) @ x


def in_place(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def of(function: object, *variants: str) -> dict[str, CudaGraphs]:
    report: Report = compilescope.inspect(
        function,  # type: ignore[arg-type]
        (torch.ones(8, 8),),
        variants={name: GPU[name] for name in variants},
        run=False,
    )
    by_name = {variant.name: variant.cuda_graphs for variant in report.variants}
    assert None not in by_name.values()
    return by_name  # type: ignore[return-value]


@pytest.mark.slow
def test_the_cpp_wrapper_captures_none_with_partitions_and_one_setting_changes_that() -> None:
    data = of(plain, *GPU)
    assert data["python"].outcome == "captured"
    (part,) = data["python"].partitions
    assert (part.name, part.captured, part.kernels) == ("partition_0", True, 2)
    cpp = data["cpp"]
    assert cpp.outcome == "skipped"
    (skip,) = cpp.skips
    if AROUND_CPP:
        assert "graph partition" in skip.reason
        assert skip.setting == "torch._inductor.config.graph_partition = False"
        assert data["whole"].outcome == "captured"
        assert [part.captured for part in data["whole"].partitions] == [True]
    else:
        assert (skip.reason, skip.setting) == ("cpp wrapper enabled", "")
        assert "torch 2.12 or later" in skip.remedy
        assert data["whole"].outcome == "skipped"
    assert (data["off"].outcome, data["off"].partitions) == ("not asked", [])
    assert all(partition.captured == 0 for partition in data.values()), "nothing ran"


@pytest.mark.slow
def test_what_cannot_be_captured_splits_the_graph_or_has_it_skipped() -> None:
    data = of(on_the_cpu_between, "python", "whole")
    parts = data["python"].partitions
    assert data["python"].outcome == "partly"
    assert [part.captured for part in parts] == [True, False, True]
    assert [part.kernels for part in parts] == [2, 1, 1]
    assert parts[1].why == "It works on the CPU."
    (skip,) = data["whole"].skips
    assert skip.setting == "", "under the C++ wrapper no setting alone would do"
    if AROUND_CPP:
        assert skip.reason.startswith("cpu device")
        assert skip.where is not None
        assert skip.where.function == "on_the_cpu_between"
    else:
        assert skip.reason == "cpp wrapper enabled"


@pytest.mark.slow
def test_an_argument_changed_in_place_is_foreseen() -> None:
    item = of(in_place, "python")["python"]
    assert (item.outcome, item.why) == ("skipped", "mutated inputs (1 instances)")
    assert item.skips[0].where is not None
    assert item.skips[0].where.code == "x.add_(1)"


def on_gpu() -> Compilation:
    node = Node(name="mm", op="call_function", target="torch.ops.aten.mm.default", device="cuda:0")
    graph = Graph(stage="post_grad", text="", nodes=[node])
    compilation = Compilation(id="0/0", graphs={"post_grad": graph})
    compilation.code.cpp = "void inductor_entry_impl() {}"
    return compilation


def found_on_gpu(*said: str, cpp: bool = False) -> CudaGraphs:
    cuda_graphs = cuda_graphs_of(
        Variant(cpp_wrapper=cpp), [on_gpu()], ASKED, [LoggedSkip(reason, "0/0") for reason in said]
    )
    assert cuda_graphs is not None
    return cuda_graphs


def test_torch_tells_why_in_its_metrics_too() -> None:
    event = "compilation_metrics"
    reason = "skipping cudagraphs due to cpp wrapper enabled"
    record = Record(
        event=event, metadata={event: {"cudagraph_skip_reason": reason}}, compile_id="0/0"
    )
    cuda_graphs = cuda_graphs_of(Variant(cpp_wrapper=True), [on_gpu()], ASKED, [], [record])
    assert cuda_graphs is not None
    assert cuda_graphs.skips[0].remedy == "Use the Python wrapper, or torch 2.12 or later."
    (row,) = cuda_graphs_row(cuda_graphs, Variant(mode="reduce-overhead"))
    assert (row.requested, row.actual, row.differs) == ("on", "off", True)
    assert row.why == "cpp wrapper enabled"


@pytest.mark.parametrize(
    ("text", "reason", "setting"),
    [
        (
            (
                "skipping cudagraphs due to skipping cudagraphs due to cpu device (x). "
                "Found from : \n"
                '   File "m.py", line 3, in f\n    y = x.cpu()\n'
            ),
            "cpu device (x)",
            "graph_partition = True",
        ),
        (
            (
                "skipping cudagraphs due to disabling cudagraphs due to incompatible op "
                "aten.nonzero "
                'Found from   File "m.py", line 3, in f\n    torch.nonzero(y)\n'
            ),
            "incompatible op aten.nonzero",
            "graph_partition = True",
        ),
        (
            (
                "skipping cudagraph due to function 0 exceeding max re-recording limit (=128) on "
                "cudagraph node None due to static input data pointer changed.\ninput name: arg0_1."
            ),
            (
                "function 0 exceeding max re-recording limit (=128) on cudagraph node None due to "
                "static input data pointer changed"
            ),
            "cudagraph_unexpected_rerecord_limit",
        ),
        ("skipping cudagraphs due to something new", "something new", ""),
    ],
)
def test_reasons_are_read(text: str, reason: str, setting: str) -> None:
    skip = read_skip(text)
    assert skip.reason == reason
    assert setting in skip.setting
    assert (skip.where is None) == ("File" not in text)


def test_what_was_counted_is_said() -> None:
    cuda_graphs = found_on_gpu()
    counts = Counts()
    counts.recorded, counts.replayed, counts.re_recorded = 2, 2, 1
    counts.reasons = ["static input data pointer changed"]
    add_counts(cuda_graphs, counts, calls=4)
    assert (
        cuda_graphs.outcome,
        cuda_graphs.captured,
        cuda_graphs.replayed,
        cuda_graphs.re_recorded,
        cuda_graphs.calls,
    ) == (
        "captured",
        2,
        2,
        1,
        4,
    )
    assert "static input data pointer changed" in cuda_graphs.why


def test_what_torch_says_at_a_call_counts() -> None:
    cuda_graphs = found_on_gpu()
    counts = Counts()
    counts.skips = [CudaGraphSkip("skipping cudagraphs due to mutated inputs (1 instances)", "")]
    add_counts(cuda_graphs, counts, calls=4)
    assert (cuda_graphs.outcome, cuda_graphs.why) == ("skipped", "mutated inputs (1 instances)")
    assert not cuda_graphs.partitions[0].captured
    nothing = found_on_gpu()
    add_counts(nothing, Counts(), calls=4)
    assert nothing.outcome == "unknown"


def test_skips_are_heard_and_the_loggers_stay_as_they_are() -> None:
    logger = logging.getLogger("torch._inductor")
    before = (logger.level, list(logger.handlers))
    cuda_graph_skips: list[CudaGraphSkip] = []
    own = logging.getLogger("torch._inductor.cudagraph_utils.__cudagraphs")
    with collecting_skips(cuda_graph_skips):
        own.warning("skipping cudagraphs due to %s", "x")
        own.warning("skipping cudagraphs due to %s", "x")
        own.warning("CUDAGraph supports dynamic shapes")
        logging.getLogger("torch._inductor.utils").warning("skipping cudagraphs")
    own.warning("skipping cudagraphs: too late")
    assert cuda_graph_skips == [CudaGraphSkip("skipping cudagraphs due to x", "")]
    assert (logger.level, list(logger.handlers)) == before


def test_on_the_cpu_there_is_no_gpu() -> None:
    report = compilescope.inspect(
        plain, (torch.ones(4, 4),), variants=("reduce-overhead", "python"), run=False
    )
    cuda_graphs = report.variant("reduce-overhead").cuda_graphs
    assert cuda_graphs is not None
    assert cuda_graphs.outcome == "no GPU"
    assert report.variant("python").cuda_graphs is None
