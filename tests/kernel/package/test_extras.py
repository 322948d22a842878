"""compilescope where the notebook's packages are not installed, as on a node with a GPU."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from compilescope import extras
from compilescope.checks import notebook, versions
from compilescope.checks.context import CheckContext
from compilescope.report import Compilation, Kernel, VariantReport
from compilescope.report.variant import Variant
from compilescope.targets import checking

HERE = Path(__file__).parent
HIDDEN = (
    "IPython,anywidget,comm,ipykernel,ipywidgets,jupyter_core,jupyterlab,numpy,plotly,pygments,"
    "traitlets,triton"
)


@pytest.mark.slow
def test_it_works_with_torch_and_little_else(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, HERE / "bare_process.py", HIDDEN, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").stat().st_size


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hides modules, and the distributions of the same names."""
    version, find = metadata.version, extras.find_spec

    def hide(*modules: str) -> None:
        def asked(name: str) -> str:
            if name in modules:
                raise metadata.PackageNotFoundError(name)
            return version(name)

        monkeypatch.setattr(
            extras, "find_spec", lambda name: None if name in modules else find(name)
        )
        monkeypatch.setattr(metadata, "version", asked)

    return hide


def test_the_doctor_says_what_may_be_missing(without: Any, tmp_path: Path) -> None:
    without("plotly", "jupyterlab")
    check = versions.own_requirements(CheckContext(folder=tmp_path))
    assert check.state == "not needed"
    assert (
        "There is no panel: JupyterLab is not installed (pip install jupyterlab)." in check.finding
    )
    assert "(pip install plotly)" in check.finding

    without("msgspec", "plotly")
    check = versions.own_requirements(CheckContext(folder=tmp_path))
    assert check.state == "warning"
    assert "msgspec" in check.finding
    assert "plotly" not in check.finding


def test_switches_are_missed_in_a_notebook_alone(without: Any, tmp_path: Path) -> None:
    without("ipywidgets")
    assert notebook.widgets(CheckContext(folder=tmp_path)).state == "not needed"
    check = notebook.widgets(CheckContext(folder=tmp_path, kernel_info={}))
    assert check.state == "warning"
    assert "no switches" in check.finding


def test_kernels_are_not_checked_without_numpy(without: Any) -> None:
    without("numpy")
    kernel = Kernel(name="triton_poi_fused_0", language="triton", source="def f(): ...")
    variant = VariantReport(
        name="h100",
        requested=Variant(target="h100"),
        stage="sources",
        target=SimpleNamespace(),  # type: ignore[arg-type]
        compilations=[Compilation(id="0/0", kernels=[kernel])],
    )
    checking.add_check(variant, b"", None, None)  # type: ignore[arg-type]
    assert kernel.check is not None
    assert kernel.check.outcome == "not checked"
    assert "(pip install numpy)" in kernel.check.why
    (problem,) = variant.problems
    assert problem.why == kernel.check.why
