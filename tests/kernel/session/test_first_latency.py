"""Where a first call takes long, the latency of the first variant does not wait for the second."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.inspection import first_timings
from compilescope.progress.progress import Progress
from compilescope.report import Report, Timing
from compilescope.session.session import Session
from torch import nn

VARIANTS = {"first": cs.Variant(backend="eager"), "second": cs.Variant(backend="aot_eager")}


def timings_before_the_second(
    session: Session, step: nn.Module
) -> tuple[list[str], dict[str, Timing | None], Report]:
    """The steps of an inspection, what was timed when the second build began, and the report."""
    steps: list[str] = []
    timings: dict[str, Timing | None] = {}

    def look(progress: Progress) -> None:
        steps.append(progress.step)
        if (progress.step, progress.variant) == ("building", "second"):
            (current,) = session.inspections.values()
            timings.update({v.name: v.timing for v in current.report.variants})

    x = (torch.ones(3, 3),)
    report = session.inspect(step, x, variants=VARIANTS, run=True, progress=look)
    return [step for step in steps if step in ("building", "timing")], timings, report


def test_a_variant_is_timed_before_a_long_second_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_timings, "LONG_S", 0.0)
    model = nn.BatchNorm1d(3)
    steps, timings, report = timings_before_the_second(Session(), model)
    assert steps == ["building", "timing", "building", "timing"]
    first = timings["first"]
    assert first is not None
    assert timings["eager"] is not None
    # The figures that stay are of one measurement of all variants.
    assert [variant.name for variant in report.variants] == ["first", "second", "eager"]
    final = [variant.timing for variant in report.variants]
    assert all(timing is not None and timing.turns != first.turns for timing in final)
    assert len({timing.turns for timing in final if timing is not None}) == 1
    assert model.num_batches_tracked is not None
    assert model.num_batches_tracked.item() == 0


@pytest.mark.slow
def test_the_baseline_follows_variants_that_are_built_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_timings, "LONG_S", 0.0)
    variants = {"first": cs.Variant(), "second": cs.Variant(dynamic=True)}
    report = Session().inspect(nn.Linear(3, 3), (torch.ones(3, 3),), variants=variants)
    assert [variant.name for variant in report.variants] == ["first", "second", "eager"]


def test_a_variant_that_builds_soon_is_timed_with_the_others() -> None:
    steps, timings, _ = timings_before_the_second(Session(), nn.Linear(3, 3))
    assert steps == ["building", "building", "timing"]
    assert timings["first"] is None


def test_a_call_that_fails_when_timed_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_timings, "LONG_S", 0.0)
    calls: list[object] = []

    def fail(*args: object, **kwargs: object) -> dict[str, Timing]:
        calls.append(args)
        raise ValueError("The fortieth call fails.")

    monkeypatch.setattr(first_timings, "time_variants", fail)
    _, timings, report = timings_before_the_second(Session(), nn.Linear(3, 3))
    assert len(calls) == 2
    assert timings["first"] is None
    assert [variant.stage for variant in report.variants] == ["built", "built"]
    assert all("later call failed" in variant.absent["timing"] for variant in report.variants)
    assert ["The fortieth call fails." in problem.what for problem in report.problems] == [True]
