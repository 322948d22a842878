"""The wheel, built from the sdist, holds the built front end and installs without Node."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SHARE = "share/jupyter/labextensions/jupyterlab-compilescope/"


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that must succeed, in an environment without Node (or anything else)."""
    environment = {**os.environ, "PATH": os.devnull}
    environment.pop("PYTHONPATH", None)
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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made from an sdist."""
    folder = tmp_path_factory.mktemp("dist")
    hatchling = (sys.executable, "-m", "hatchling", "build", "-d", folder)
    run(*hatchling, "-t", "sdist", cwd=ROOT)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        # The filter came with 3.12; the archive is our own.
        archive.extractall(folder)
    run(*hatchling, "-t", "wheel", cwd=next(path for path in folder.iterdir() if path.is_dir()))
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_both_packages_and_the_front_end_once(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "compilescope/report.py" in names
    assert "compilescope/py.typed" in names
    assert "jupyterlab_compilescope/__init__.py" in names
    shared = [name.partition(".data/data/")[2] for name in names if ".data/data/" in name]
    assert f"{SHARE}package.json" in shared
    assert f"{SHARE}install.json" in shared
    assert any(name.startswith(f"{SHARE}static/remoteEntry.") for name in shared)
    assert any(name.startswith(f"{SHARE}schemas/") for name in shared)
    assert not [name for name in names if name.startswith("jupyterlab_compilescope/labextension")]
    assert not [name for name in names if "tests/" in name or "node_modules/" in name]


def test_the_wheel_installs_and_loads_without_node(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    site = next((home / "lib").glob("python*/site-packages"))
    # The dependencies of this environment, without what is installed in it editably: a .pth file
    # that is reached through another one is not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel, cwd=tmp_path
    )

    listed = run(python, "-m", "jupyterlab.labextensions", "list", cwd=tmp_path)
    line = next(line for line in listed.splitlines() if "jupyterlab-compilescope" in line)
    assert "enabled" in line
    assert "OK" in line
    where = run(python, "-c", "import compilescope; print(compilescope.__path__[0])", cwd=tmp_path)
    assert Path(where.strip().splitlines()[-1]).is_relative_to(home)
