"""Which variants of a report a request is for."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from compilescope.session import requests
from compilescope.session.session import Session

from .. import subjects

Inspected = tuple[Session, Report]


@pytest.fixture(scope="module")
def inspected() -> Inspected:
    session = Session()
    variants = {"quick": cs.Variant(backend="aot_eager"), "python": cs.Variant()}
    report = session.inspect(subjects.plain, (torch.randn(4, 8),), variants=variants, run=False)
    return session, report


@pytest.mark.parametrize(
    ("variants", "names"),
    [
        ((name for name in ["quick", "python"]), ["quick", "python"]),
        (["python", cs.Variant(dynamic=True)], ["python", "python dynamic"]),
        ({"python": cs.Variant(dynamic=True)}, ["python dynamic"]),
    ],
)
def test_the_variants_to_measure_may_come_in_any_collection(
    inspected: Inspected, variants: object, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, report = inspected
    asked: list[str] = []
    monkeypatch.setattr(session, "measure", lambda subject, requested, **_: asked.extend(requested))
    requests.measure(session, report, variants=variants)
    assert asked == names


@pytest.mark.parametrize("variants", [[], {}, ()])
def test_no_variant_to_measure_is_refused(inspected: Inspected, variants: object) -> None:
    session, report = inspected
    with pytest.raises(cs.CompilescopeError, match="variants is empty"):
        requests.measure(session, report, variants=variants)
