"""The example notebooks run from the first cell to the last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from compilescope.compiler.targets import known
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
RELEASED = "quickstart"
"""The notebook that `test_release` runs, where the wheel is installed."""


@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.stem != RELEASED], ids=lambda path: path.stem
)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    if known.unavailable() and any("target" in cell.source for cell in notebook.cells):
        pytest.skip(known.unavailable())
    # In a folder of its own: the notebook saves a report beside itself.
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    compiled = [cell for cell in cells if cell.source.startswith("%%compile")]
    assert compiled, "the notebook shows no %%compile"
    for cell in compiled:
        shown = [output for output in cell.outputs if "text/plain" in output.get("data", {})]
        assert shown, f"{cell.source.splitlines()[0]} showed nothing"
    told = [
        output.get("data", {}).get("text/plain", "") for cell in cells for output in cell.outputs
    ]
    assert not [text for text in told if "compilescope failed" in text]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]
