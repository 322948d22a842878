"""Sweeps of the tests keep their finished cells in a folder of each test."""

from __future__ import annotations

import contextlib
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
    children = psutil.Process().children(recursive=True)
    assert not [child for child in children if _is_of_a_cell(child)]


def _is_of_a_cell(process: psutil.Process) -> bool:
    # What has ended since it was listed has no command.
    with contextlib.suppress(psutil.Error):
        return "compilescope.sweep.cell_process" in " ".join(process.cmdline())
    return False
