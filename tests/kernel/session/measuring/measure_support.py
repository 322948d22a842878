"""A call whose builds the tests of measurements keep and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compilescope as cs
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.session.session import Session

from ... import subjects

# Built by Dynamo alone: what is measured is not what these tests are about.
QUICK = {"quick": cs.Variant(backend="eager")}
BOTH = {**QUICK, "aot": cs.Variant(backend="aot_eager")}
X = torch.randn(4, 8)


def inspected(
    fn: Callable[..., Any] = subjects.plain, args: tuple[Any, ...] = (X,), **options: Any
) -> tuple[Session, Inspection]:
    session = Session()
    options = {"variants": QUICK, "run": False, **options}
    subject = session.inspect(fn, args, **options).subject.id
    inspection = session.inspection(subject)
    assert isinstance(inspection, Inspection)
    return session, inspection


def measure(inspection: Inspection, *names: str, seconds: float = 0.1, **options: Any) -> None:
    inspection.measure(names or ["quick"], Monitor(), seconds=seconds, **options)


def series_extents(inspection: Inspection) -> dict[str, tuple[int, int]]:
    """By variant: the first round that it took part in, and how many."""
    series = inspection.measurement.series
    return {name: (measured.first, len(measured.samples_us)) for name, measured in series.items()}
