"""The example notebooks run from the first cell to the last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from compilescope.targets import known_devices
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from ..forked_kernel import forked_kernels

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
RELEASED = "quickstart"
"""The notebook that `test_release` runs, where the wheel is installed."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelManager]:
    """The kernel of all notebooks: torch and targets' processes take seconds to start."""
    # In a folder of its own: notebooks save reports and packages where they are.
    manager = KernelManager(kernel_name="python3")
    with forked_kernels():
        manager.start_kernel(cwd=str(tmp_path_factory.mktemp("notebooks")))
    yield manager
    manager.shutdown_kernel()


@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.stem != RELEASED], ids=lambda path: path.stem
)
def test_a_notebook_runs(path: Path, kernel: KernelManager) -> None:
    notebook = nbformat.read(path, as_version=4)
    if known_devices.unavailable() and any("target" in cell.source for cell in notebook.cells):
        pytest.skip(known_devices.unavailable())
    NotebookClient(notebook, timeout=None, km=kernel).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    compiled = [cell for cell in cells if cell.source.startswith("%%compile")]
    assert compiled, "the notebook shows no %%compile"
    for cell in compiled:
        shown = [output for output in cell.outputs if "text/plain" in output.get("data", {})]
        assert shown, f"{cell.source.splitlines()[0]} showed nothing"
    results = [
        output.get("data", {}).get("text/plain", "") for cell in cells for output in cell.outputs
    ]
    assert not [text for text in results if "compilescope failed" in text]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]
