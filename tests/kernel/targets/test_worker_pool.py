"""Which targets' processes are started and ended; none is really started."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from compilescope.progress.progress import Monitor
from compilescope.report.errors import CompilescopeError
from compilescope.report.variant import Variant
from compilescope.targets import known_devices, target_variants

pytestmark = pytest.mark.skipif(
    bool(known_devices.unavailable()), reason=known_devices.unavailable()
)

TARGETS = ["a100", "h100", "l4", "b200", "mi300x", "rtx4090"]


class _Pool:
    """Says which targets it was told of, and answers nothing."""

    def __init__(self) -> None:
        self.warmed: list[str] = []

    def warm(self, target: str) -> None:
        known_devices.find(target)
        self.warmed.append(target)

    def ask(self, target: str, *rest: Any) -> bytes:
        raise CompilescopeError(f"{target} was asked.")


def test_processes_are_started_for_the_coming_targets_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The one that is asked now comes last: it is the last that makes way for others.
    assert _warmed(TARGETS, "h100", monkeypatch) == ["mi300x", "b200", "l4", "h100"]
    assert _warmed(TARGETS, "rtx4090", monkeypatch) == ["rtx4090"]


def test_another_variants_target_may_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _warmed(["h100", "none such", "l4"], "h100", monkeypatch) == ["l4", "h100"]


def _warmed(targets: Sequence[str], name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets whose processes are started, in order, when this one's variant is generated."""
    pool = _Pool()
    monkeypatch.setattr(target_variants, "shared_pool", lambda: pool)
    shipment = target_variants.Shipment(abs, (1,), {}, [])
    variants = {target: Variant(target=target) for target in targets}
    (problem,) = target_variants.generate(shipment, variants, name, Monitor()).problems
    assert problem.what == f"{name} was asked."
    return pool.warmed
