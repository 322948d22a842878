"""Sweeps of the tests keep their finished cells in a folder of each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import psutil
import pytest
from compilescope.sweep.result import SweepResult

Sweep = Callable[..., SweepResult]


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    def run(*given: Any, **options: Any) -> SweepResult:
        return cs.sweep(
            *given, **{"folder": tmp_path / "kept", "seconds": 0.05, "timeout_s": 600, **options}
        )

    return run


@pytest.fixture(autouse=True)
def nothing_left() -> Any:
    """No process of a cell outlives its sweep."""
    yield
    left = [
        child
        for child in psutil.Process().children(recursive=True)
        if "compilescope.sweep.cell_process" in " ".join(child.cmdline())
    ]
    assert not left
