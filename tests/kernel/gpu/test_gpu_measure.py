"""Measuring on a GPU: builds with CUDA graphs are kept, gone on with, and let go."""

from __future__ import annotations

import gc
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.session.session import Session

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

VARIANTS = {"python": cs.Variant(), "graphs": cs.Variant(mode="reduce-overhead")}


def network() -> torch.nn.Module:
    layers = [torch.nn.Linear(256, 256), torch.nn.GELU()] * 4
    return torch.nn.Sequential(*layers).cuda().eval().requires_grad_(False)


def inspected(session: Session, fn: Any, *args: Any, **variants: cs.Variant) -> Inspection:
    subject = session.inspect(fn, args, variants=variants or VARIANTS, run=False).subject.id
    inspection = session.inspection(subject)
    assert isinstance(inspection, Inspection)
    return inspection


def test_variants_are_measured_in_turns_and_gone_on_with() -> None:
    session = Session()
    net, x = network(), torch.randn(32, 256, device="cuda")
    before = net[0].weight.clone()
    inspection = inspected(session, net, x)
    inspection.measure(list(VARIANTS), Monitor(), seconds=1.0)
    first = inspection.measurement
    assert first.problem is None, first.problem
    assert first.state == "done"
    inspection.measure(list(VARIANTS), Monitor(), seconds=0.5)
    assert inspection.measurement.id == first.id, "what is built is measured again"
    for name in ("eager", *VARIANTS):
        timing = inspection.report.variant(name).timing
        assert timing is not None
        assert timing.device == "cuda"
        assert timing.device_us is not None
        assert timing.host_us is not None
        assert timing.initial_state == "unchanged", timing.changes
        assert len(timing.samples_us) == inspection.measurement.rounds
    assert torch.equal(net[0].weight, before)


def test_a_call_that_uses_the_gpu_by_itself_is_waited_for() -> None:
    torch.ones(1, device="cuda")

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = x.cuda()
        for _ in range(20):
            y = y @ y
        return y

    quick = {"quick": cs.Variant(backend="eager")}
    inspection = inspected(Session(), fn, torch.eye(2048), **quick)
    inspection.measure(["quick"], Monitor(), seconds=0.5)
    timing = inspection.report.variant("quick").timing
    assert timing is not None
    assert timing.device == "cuda"


def test_what_a_training_step_changes_is_put_back() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64)).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(32, 64, device="cuda")
    before = {name: value.clone() for name, value in net.state_dict().items()}

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    inspection = inspected(Session(), step, x, quick=cs.Variant(backend="aot_eager"))
    inspection.measure(["quick"], Monitor(), seconds=0.5)
    timing = inspection.report.variant("quick").timing
    assert timing is not None
    assert timing.initial_state == "restored"
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not optimizer.state


def test_forgotten_builds_give_their_memory_back() -> None:
    session = Session()
    net, x = network(), torch.randn(4096, 256, device="cuda")
    net(x)
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    inspection = inspected(session, net, x)
    inspection.measure(["graphs"], Monitor(), seconds=0.3)
    session.forget(inspection.report.subject.id)
    del inspection
    gc.collect()
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() - before < 32 * 2**20
