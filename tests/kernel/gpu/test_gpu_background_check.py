"""The comparison of two wrappers beside the calls, on a real GPU. Skipped where there is none."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.tiers import background
from compilescope.tiers.alternating_calls import CALLS
from compilescope.tiers.background_check import BackgroundCheck
from compilescope.tiers.builder import builder
from compilescope.torch_api.inductor.background import background_runs
from compilescope.torch_api.inductor.background.planned_calls import PlannedCall
from compilescope.torch_api.process import caches
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def test_inference_is_checked_beside_the_calls(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64))
    model.cuda().eval().requires_grad_(False)
    with caches.only(tmp_path):
        torch._dynamo.reset()
        compiled = cs.tiered(model)
        compiled(rows())
        builder().wait()
        assert cs.tiers(compiled)[0].tiers[1].state == "checks", cs.tiers(compiled)
        assert background_runs.prepare_library.cache_info().currsize == 1
        x = rows()
        torch.testing.assert_close(compiled(x), model(x))
        # The copy was made before that, and is what the other stream reads.
        x.zero_()
        assert background.wait(600)
        assert cs.tiers(compiled)[0].serving == "cpp", cs.tiers(compiled)
        for _ in range(2 * (CALLS + 1) + 1):
            x = rows()
            torch.testing.assert_close(compiled(x), model(x))
        assert cs.tiers(compiled)[0].gain is not None
        assert background.wait(600)


def test_training_is_checked_beside_the_calls(tmp_path: Path) -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64), torch.nn.GELU(), torch.nn.Linear(64, 4)
    ).cuda()
    reference = copy.deepcopy(model)
    optimizers = [torch.optim.SGD(net.parameters(), 0.01) for net in (model, reference)]

    def step() -> None:
        """Both learn the same; the parameters change right after the calls that are compared."""
        reference.load_state_dict(model.state_dict())
        x = rows()
        for call, optimizer in zip((compiled, reference), optimizers, strict=True):
            optimizer.zero_grad()
            call(x).square().sum().backward()
            optimizer.step()
        learned, expected = model.state_dict(), reference.state_dict()
        torch.testing.assert_close(learned, expected, rtol=1e-4, atol=1e-4)

    with caches.only(tmp_path):
        torch._dynamo.reset()
        compiled = cs.tiered(model)
        step()
        builder().wait()
        assert [graph.tiers[1].state for graph in cs.tiers(compiled)] == ["checks", "checks"]
        step()
        assert background.wait(600)
        assert [graph.serving for graph in cs.tiers(compiled)] == ["cpp", "cpp"]
        for _ in range(2 * (CALLS + 1) + 1):
            step()
        assert background.wait(600)


def test_a_check_runs_the_attention_of_the_wrapper_in_advance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[PlannedCall] = []
    run = PlannedCall.run

    def counted(call: PlannedCall) -> None:
        run(call)  # an error would be logged, and the call left to the wrapper
        planned.append(call)

    monkeypatch.setattr(PlannedCall, "run", counted)

    def attend(x: Tensor) -> Tensor:
        heads = x.view(1, 16, 4, 64).transpose(1, 2)
        result = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        return result.transpose(1, 2).reshape(16, 256).relu()

    with caches.only(tmp_path), sdpa_kernel(SDPBackend.CUDNN_ATTENTION), torch.no_grad():
        torch._dynamo.reset()
        compiled = cs.tiered(attend)
        x = torch.randn(16, 256, device="cuda", dtype=torch.half)
        compiled(x)
        builder().wait()
        torch.testing.assert_close(compiled(x), attend(x), rtol=1e-2, atol=1e-2)
        assert background.wait(600)
        assert cs.tiers(compiled)[0].serving == "cpp", cs.tiers(compiled)
    assert [call.operator for call in planned] == ["_scaled_dot_product_cudnn_attention"]


def rows() -> Tensor:
    return torch.randn(16, 64, device="cuda")


def doubled(inputs: list[Any]) -> list[Tensor]:
    return [inputs.pop() * 2]


def check_of(second: Callable[[list[Any]], Any]) -> tuple[BackgroundCheck, list[str]]:
    ends: list[str] = []
    check = BackgroundCheck(
        doubled,
        second,
        static=(),
        copies_all=False,
        device=0,
        max_copied_bytes=2**30,
        changes=(),
        undefined=(),
        kernels=1,
        settle=lambda: ends.append("settled"),
        give_up=lambda: ends.append("given up"),
    )
    return check, ends


def test_a_capture_of_the_users_goes_on_beside_a_check() -> None:
    began, goes_on, done = threading.Event(), threading.Event(), threading.Event()

    def second(inputs: list[Any]) -> list[Tensor]:
        began.set()
        assert goes_on.wait(600)
        # The driver has to be asked for so much memory, which no capture allows other threads.
        torch.empty(2**28, dtype=torch.uint8, device="cuda").zero_()
        torch.cuda.current_stream().synchronize()
        done.set()
        return doubled(inputs)

    check, ends = check_of(second)
    x = rows()
    static = x * 3
    check([x])
    assert began.wait(600)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = static + 1
        goes_on.set()
        assert done.wait(600)
    assert background.wait(600)
    assert ends == ["settled"]
    graph.replay()
    assert torch.equal(result, x * 3 + 1)


def test_a_wrong_result_is_not_given() -> None:
    check, ends = check_of(lambda inputs: [inputs.pop() * 2 + 0.5])
    x = rows()
    assert torch.equal(check([x])[0], x * 2)
    assert background.wait(600)
    assert ends == ["given up"]


def test_a_check_frees_its_memory() -> None:
    check, ends = check_of(doubled)
    x = torch.randn(2**22, device="cuda")
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    result = check([x])
    assert background.wait(600)
    assert ends == ["settled"]
    del result
    assert torch.cuda.memory_allocated() == before


def test_without_room_a_call_is_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (0, 0))
    called: list[int] = []
    check, ends = check_of(lambda inputs: called.append(1))
    check([rows()])
    assert background.wait(600)
    assert (ends, called) == (["given up"], [])
