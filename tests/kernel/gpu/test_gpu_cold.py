"""What settings change in a first call, on a real GPU. Skipped where there is none."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.report.measurements.timings import HEADERS_KEPT
from compilescope.session import requests
from compilescope.session.session import Session
from compilescope.studies.first_calls import cold
from compilescope.torch_api.inductor.first_call_settings import Switch, switches

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.usefixtures("real_compiler"),
]


def pointwise(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x).sum(-1)


def test_a_setting_of_kernels_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    variant = cs.Variant()
    known = [
        switch
        for switch in switches(variant, "cuda:0")
        if switch.names == "use_static_cuda_launcher"
    ] or [Switch({"torch._inductor.config": {"fx_graph_cache": False}}, "the graph's cache")]
    assert all(not setting.why for setting in known)
    monkeypatch.setattr(cold, "switches", lambda *_: known)
    session = Session()
    loaded_report = session.inspect(
        pointwise, (torch.randn(64, 64, device="cuda"),), variants={"mine": variant}, run=False
    )
    inspection = session.inspection(loaded_report.subject.id)
    assert isinstance(inspection, Inspection)
    report = requests.study(session, inspection.report, ["cold"])
    mine = report.variant("mine")
    assert not mine.problems
    rows = [row for row in mine.cold if row.switch != HEADERS_KEPT]
    assert len(rows) == 3
    for row in rows:
        assert row.problem is None
        assert row.cold_s is not None
        assert row.warm_s is not None
        assert row.call_us is not None
