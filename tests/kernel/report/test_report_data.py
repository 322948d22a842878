"""The reports that the front end's tests read."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilescope import load

FOLDER = Path(__file__).parents[2] / "data" / "reports"
REPORTS = sorted(FOLDER.glob("*.compilescope.json"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name.partition(".")[0])
def test_a_stored_report_is_whole(path: Path) -> None:
    report = load(path)
    assert report.subject.kind == "function" or report.subject.name == "Mlp"
    compiled = [variant for variant in report.variants if variant.requested.backend is not None]
    assert compiled
    for variant in compiled:
        # For a device that is not there nothing is built: its kernels are compiled and checked.
        if variant.requested.target is None:
            assert variant.stage == "built"
        else:
            assert {"assembly", "check"} <= set(variant.studied)
        assert variant.compilations
        assert not [problem for problem in variant.problems if problem.severity == "error"]
    files = {
        line.file for compilation in report.compilations for line in [compilation.frame] if line
    }
    assert all(file in report.files for file in files), "every frame is in a stored cell"


def test_there_is_one_of_each() -> None:
    names = {path.name.partition(".")[0] for path in REPORTS}
    assert names == {"mlp", "training", "recompiles", "breaks", "targets"}
