"""Fixtures of the tests of sessions."""

from __future__ import annotations

import pytest
from compilescope.targets import local_sources


@pytest.fixture
def captured_in_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every new capture calls the subject, as for a call that no other process can capture."""
    monkeypatch.setattr(local_sources, "is_traceable", lambda _: False)
    monkeypatch.setattr(local_sources, "is_runnable", lambda _: False)
