"""What is released: built from the sdist, installed with what it declares, and used.

The venv has the newest of everything that the wheel asks for, whatever `constraints/dev.txt` pins,
but for torch and Triton: those are this environment's own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SHARE = "share/jupyter/labextensions/jupyterlab-compilescope/"
QUICKSTART = ROOT / "examples" / "quickstart.ipynb"
LARGE = re.compile(r"torch|triton|pytorch-triton.*|nvidia-.*|cuda-.*")
"""Distributions of gigabytes: torch and what it brings for a GPU."""

FINDER = """
import sys
from importlib.machinery import PathFinder

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [{here!r}]) if name in {modules!r} else None

sys.meta_path.append(Finder)
"""
"""Has a venv import the large ones from where they are, so that what torch compiled there, its
headers above all, is found again. A link would be another place to the C++ compiler."""


class Release(NamedTuple):
    sdist: Path
    wheel: Path


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that must succeed, in an environment without Node (or anything else)."""
    environment = {**os.environ, "PATH": os.devnull}
    for name in ("PYTHONPATH", "PIP_CONSTRAINT"):
        environment.pop(name, None)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """An sdist, and a wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    hatchling = (sys.executable, "-m", "hatchling", "build", "-d", folder)
    run(*hatchling, "-t", "sdist", cwd=ROOT)
    sdist = next(folder.glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        # The filter came with 3.12; the archive is our own.
        archive.extractall(folder)
    run(*hatchling, "-t", "wheel", cwd=next(path for path in folder.iterdir() if path.is_dir()))
    return Release(sdist, next(folder.glob("*.whl")))


@pytest.fixture(scope="module")
def python(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a venv with the wheel and what it declares, and nothing else."""
    home = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(home, with_pip=False)
    interpreter = home / "bin" / "python"
    here, site = Path(sysconfig.get_path("purelib")), next((home / "lib").glob("python*/site-*"))
    modules = set()
    for distribution in metadata.distributions(path=[str(here)]):
        if LARGE.fullmatch(distribution.name):
            tops = {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}
            for top in tops:
                if top.endswith(".dist-info"):
                    (site / top).symlink_to(here / top)
                else:
                    modules.add(top.removesuffix(".py"))
    (site / "large.py").write_text(FINDER.format(modules=modules, here=str(here)))
    (site / "large.pth").write_text("import large\n")
    pip = (sys.executable, "-m", "pip", "--python", interpreter, "install", "-q")
    # Without a second check of what pip has just worked out.
    run(*pip, "--no-compile", "--prefer-binary", "--no-warn-conflicts", release.wheel, cwd=home)
    return interpreter


def test_the_wheel_holds_both_packages_and_the_front_end_once(release: Release) -> None:
    names = zipfile.ZipFile(release.wheel).namelist()
    assert "compilescope/report/report.py" in names
    assert "compilescope/py.typed" in names
    assert "compilescope/views/html/templates/page.html" in names
    assert "jupyterlab_compilescope/__init__.py" in names
    shared = [name.partition(".data/data/")[2] for name in names if ".data/data/" in name]
    assert f"{SHARE}package.json" in shared
    assert f"{SHARE}install.json" in shared
    assert "etc/jupyter/jupyter_server_config.d/jupyterlab_compilescope.json" in shared
    assert any(name.startswith(f"{SHARE}static/remoteEntry.") for name in shared)
    assert any(name.startswith(f"{SHARE}schemas/") for name in shared)
    assert not [name for name in names if name.startswith("jupyterlab_compilescope/labextension")]
    assert not [name for name in names if "tests/" in name or "node_modules/" in name]
    assert not [name for name in names if name.endswith(".orig")]


def test_the_licenses_of_what_is_bundled_travel_with_it(release: Release) -> None:
    with zipfile.ZipFile(release.wheel) as archive:
        text = archive.read("compilescope/views/built/licenses.txt").decode()
    for package in ("react", "@codemirror/merge", "@jupyterlab/translation", "@lumino/widgets"):
        (entry,) = [
            part
            for part in re.split(r"\n-{80}\n\n", text)
            if re.search(rf"^{package} \d", part, re.M)
        ]
        assert "Copyright" in entry


def test_an_index_takes_it_and_shows_no_link_that_leads_nowhere(
    release: Release, tmp_path: Path
) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", *release, cwd=tmp_path)
    with zipfile.ZipFile(release.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        shown = archive.read(name).decode()
    assert "# compilescope" in shown
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", shown)


def test_jupyterlab_has_the_extension_without_node(python: Path, tmp_path: Path) -> None:
    listed = run(python, "-m", "jupyterlab.labextensions", "list", cwd=tmp_path)
    line = next(line for line in listed.splitlines() if "jupyterlab-compilescope" in line)
    assert "enabled" in line
    assert "OK" in line


def test_the_quickstart_runs_where_nothing_else_is_installed(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "kernels" / "clean"
    kernel.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "clean", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))

    notebook = nbformat.read(QUICKSTART, as_version=4)
    cells = [nbformat.v4.new_code_cell(SHORT)]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.source.startswith("%%compile"):
            cells.append(nbformat.v4.new_code_cell(BUILT))
    cells.append(nbformat.v4.new_code_cell(CLEAN.format(prefix=str(python.parents[1]))))
    notebook.cells = cells
    resources = {"metadata": {"path": str(tmp_path)}}
    # A cell that raises ends it.
    NotebookClient(notebook, timeout=600, kernel_name="clean", resources=resources).execute()


SHORT = """
from compilescope.builds import build_and_time
from compilescope.studies.layers import layers
build_and_time.SECONDS_PER_VARIANT, layers.SECONDS = 0.04, 0.3
"""
"""What `less_work.short_timing` does, where the tests are not."""
BUILT = """
failed = [one for one in _report.variants if one.stage == "failed" or one.problems]
assert _report.variants and not failed, failed
"""
CLEAN = """
import importlib.util
import compilescope
assert compilescope.__file__.startswith({prefix!r})
assert importlib.util.find_spec("numpy") is None
"""
