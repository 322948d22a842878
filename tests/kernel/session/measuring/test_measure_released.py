"""Builds and the user's objects are released with the subject, or with newer subjects."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.isolation.user_state import Snapshot
from compilescope.session import subjects as session_subjects

from ... import subjects
from ...isolation.test_isolation import compiled_frames
from .measure_support import QUICK, X, inspected, measure

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def test_a_subject_that_is_forgotten_meanwhile_lets_go_of_everything() -> None:
    net, x = subjects.Net(), torch.randn(4, 8)
    session, inspection = inspected(net, (x,))
    subject = inspection.report.subject.id
    job = session.panel_jobs.measure(subject, ["quick"], seconds=60, restart=False)

    def forget(kind: str, *_: Any) -> None:
        known = session.inspections.get(subject)
        if kind == "measured" and isinstance(known, Inspection) and known.measurement.rounds > 5:
            session.forget(subject)

    session.observe(forget)
    references = [weakref.ref(target) for target in (net, x, net.inner.weight, inspection)]
    del net, x, inspection
    session.panel_jobs.run_pending()
    assert job.state == "cancelled"
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


class Product(torch.nn.Module):
    """As `subjects.product`, whose C++ it shares."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight).sin()


def test_what_is_built_goes_with_a_subject_that_is_forgotten() -> None:
    net, x = Product(), torch.randn(4, 8, requires_grad=True)
    session, inspection = inspected(net, (x,), run=True, variants="python")
    references = [weakref.ref(target) for target in (net, x, net.weight)]
    subject = inspection.report.subject.id
    del net, x, inspection
    session.forget(subject)
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_only_the_latest_subjects_keep_what_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_subjects, "MAX_SUBJECTS_WITH_BUILDS", 1)
    session, first = inspected(run=True)
    second = session.inspect(subjects.plain, (X[:2],), variants=QUICK).subject.id
    with compiled_frames() as frames:
        session.measure(second, QUICK, seconds=0.05)
        assert frames == []
        session.measure(first.report.subject.id, QUICK, seconds=0.05)
    assert frames == ["plain"]


def test_a_measurement_keeps_no_state_and_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    restored: weakref.WeakSet[Snapshot] = weakref.WeakSet()
    restore = Snapshot.restore
    monkeypatch.setattr(Snapshot, "restore", lambda self: restored.add(self) or restore(self))
    _, inspection = inspected(torch.nn.BatchNorm1d(8))
    measure(inspection)
    compiled = weakref.ref(inspection._builds.build("quick").compiled)
    gc.collect()
    assert not restored
    inspection.release()
    gc.collect()
    assert compiled() is None
