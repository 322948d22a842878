"""What the distribution promises: its metadata, and the two packages it carries."""

from __future__ import annotations

import json
import re
from importlib import metadata, resources
from pathlib import Path

import jupyterlab_compilescope
import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE_JSON = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))


def test_the_version_is_that_of_the_front_end() -> None:
    assert metadata.version("jupyterlab-compilescope") == PACKAGE_JSON["version"]


def test_the_distribution_requires_what_the_kernel_imports() -> None:
    lines = metadata.requires("jupyterlab-compilescope") or []
    names = {
        re.split(r"[^A-Za-z0-9_-]", line)[0].lower() for line in lines if "extra ==" not in line
    }
    assert names >= {
        "cloudpickle",
        "ipywidgets",
        "jupyterlab",
        "msgspec",
        "plotly",
        "pygments",
        "torch",
        "triton",
    }


def test_the_kernel_package_is_typed() -> None:
    assert resources.files("compilescope").joinpath("py.typed").is_file()


def test_the_front_end_lies_where_the_extension_says() -> None:
    (path,) = jupyterlab_compilescope._jupyter_labextension_paths()
    built = Path(jupyterlab_compilescope.__file__).parent / path["src"]
    assert path["dest"] == PACKAGE_JSON["name"]
    assert built == ROOT / PACKAGE_JSON["jupyterlab"]["outputDir"]
    assert json.loads((built / "package.json").read_text())["version"] == PACKAGE_JSON["version"]


def test_the_pins_name_every_direct_dependency() -> None:
    lines = (ROOT / "constraints" / "dev.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}
    lines = metadata.requires("jupyterlab-compilescope") or []
    direct = {re.split(r"[^A-Za-z0-9_-]", line)[0].lower() for line in lines}
    assert direct - {"jupyterlab-compilescope"} <= pinned


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_between_the_documents_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", text)
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert not missing
