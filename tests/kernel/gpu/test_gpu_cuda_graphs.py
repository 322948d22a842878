"""CUDA graphs recorded and replayed on a real GPU. Skipped where there is none."""

from __future__ import annotations

import compilescope
import pytest
import torch
from compilescope import Variant
from compilescope.report import CudaGraphs
from compilescope.torch_api.inductor.cuda_graphs import Counts, counting
from torch import Tensor, nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

RECENT = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 12)


def plain(x: Tensor) -> Tensor:
    return torch.relu(x @ x).sum(0)


def in_place(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def built(function: object, x: Tensor, variant: Variant) -> CudaGraphs:
    report = compilescope.inspect(function, (x,), variants={"v": variant})  # type: ignore[arg-type]
    result = report.variant("v")
    assert result.stage == "built", result.problems
    assert [problem for problem in result.problems if problem.severity == "error"] == []
    assert result.cuda_graphs is not None
    return result.cuda_graphs


def test_a_graph_is_recorded_once_and_replayed() -> None:
    cuda_graphs = built(plain, torch.ones(64, 64, device="cuda"), Variant(mode="reduce-overhead"))
    assert (cuda_graphs.outcome, cuda_graphs.skips) == ("captured", [])
    assert (
        cuda_graphs.captured,
        cuda_graphs.replayed,
        cuda_graphs.re_recorded,
        cuda_graphs.calls,
    ) == (1, 2, 0, 4)
    assert cuda_graphs.memory_bytes is not None
    assert cuda_graphs.memory_bytes > 0


def test_training_records_forward_and_backward() -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).cuda()
    cuda_graphs = built(model, torch.ones(8, 16, device="cuda"), Variant(mode="reduce-overhead"))
    assert cuda_graphs.outcome == "captured"
    assert cuda_graphs.captured >= 2
    assert cuda_graphs.replayed >= 2
    assert {part.name.partition(",")[0] for part in cuda_graphs.partitions} == {
        "forward",
        "backward",
    }


def test_an_argument_changed_in_place_is_skipped_at_the_call() -> None:
    cuda_graphs = built(in_place, torch.ones(64, device="cuda"), Variant(mode="reduce-overhead"))
    assert (cuda_graphs.outcome, cuda_graphs.captured) == ("skipped", 0)
    assert "mutated inputs" in cuda_graphs.why


def test_the_cpp_wrapper() -> None:
    x = torch.ones(64, 64, device="cuda")
    whole = {"triton.cudagraphs": True, "graph_partition": False}
    cuda_graphs = built(plain, x, Variant(options=whole, cpp_wrapper=True))
    if RECENT:
        assert (cuda_graphs.outcome, cuda_graphs.captured, cuda_graphs.replayed) == (
            "captured",
            1,
            2,
        )
    else:
        assert (cuda_graphs.outcome, cuda_graphs.captured) == ("skipped", 0)
        assert "cpp wrapper" in cuda_graphs.why


def test_a_parameter_that_moved_is_recorded_again() -> None:
    model = nn.Linear(16, 16).cuda().requires_grad_(False)
    compiled = torch.compile(model, mode="reduce-overhead")
    x = torch.ones(8, 16, device="cuda")
    for _ in range(3):
        compiled(x)
    counts = Counts()
    with counting(counts):
        compiled(x)
        model.weight.data = model.weight.data.clone()
        compiled(x)
        compiled(x)
    assert (counts.replayed, counts.recorded, counts.re_recorded) == (2, 1, 1)
    assert counts.reasons == ["static input data pointer changed"]
    compiled(x)
    assert counts.replayed == 2, "nothing counts any more"
