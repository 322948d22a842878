"""Every test of faults has caches of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from compilescope.tiers import background, tier_warning
from compilescope.tiers.builder import builder
from compilescope.torch_api.process import caches


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing was built before, and nothing said."""
    monkeypatch.setattr(tier_warning, "_warned", {})
    with caches.only(tmp_path / "inductor"):
        yield tmp_path / "inductor"
        builder().wait()
        background.wait()
