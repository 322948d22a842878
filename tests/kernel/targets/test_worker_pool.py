"""Which targets' processes are started and ended; none is really started."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from compilescope.isolation.global_state import SavedModes
from compilescope.progress.progress import Monitor
from compilescope.report.devices import Device
from compilescope.report.errors import CompilescopeError
from compilescope.report.variant import Variant
from compilescope.targets import known_devices, target_variants, worker_pool
from compilescope.targets.call_packer import CallPacker

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

    def request(self, target: str, *rest: Any) -> bytes:
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
    call_packer = CallPacker(abs, (1,), {}, SavedModes().now())
    variants = {target: Variant(target=target) for target in targets}
    (problem,) = target_variants.generate(call_packer, variants, name, Monitor()).problems
    assert problem.what == f"{name} was asked."
    return pool.warmed


class _Worker:
    """Stands in for a target's process."""

    def __init__(self, role: str, device: Device | None, caches: Path) -> None:
        self.lock = threading.Lock()
        self.device = device
        self.is_over = False
        self.was_held = False
        """Whether nobody could ask it while it was ended."""

    def end(self) -> None:
        self.is_over = True
        self.was_held = self.lock.locked()


def test_a_process_that_makes_way_cannot_be_asked_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_pool, "WorkerProcess", _Worker)
    pool: Any = worker_pool.WorkerPool()
    pool.warm(TARGETS[0])
    pool.warm(TARGETS[1])
    first, second = pool._workers.values()
    with first.lock:
        for target in TARGETS[2:5]:
            pool.warm(target)
    assert not first.is_over
    assert second.is_over
    assert second.was_held
    assert not second.lock.locked()
