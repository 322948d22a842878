"""The dependencies of the panel and the widgets: ipykernel, ipywidgets, the front end."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

from .. import extras
from ..report.checkup import Check
from ..version import __version__
from .context import CheckContext, CheckFunction, not_needed, ok, problem, warning

SUBJECT = "Notebook"
_EXTENSION = "jupyterlab-compilescope"
_OUTSIDE = "This is not the kernel of a notebook."
_INSTALL = "Install jupyterlab-compilescope in the environment of JupyterLab's server too."


def subshells(context: CheckContext) -> Check:
    """Whether the panel is answered while a cell runs."""
    name = "ipykernel"
    if context.kernel_info is None:
        return not_needed(name, _OUTSIDE)
    version = metadata.version("ipykernel")
    features = context.kernel_info.get("supported_features", [])
    if isinstance(features, list) and "kernel subshells" in features:
        return ok(name, f"{version}, with subshells: the panel works while a cell runs.")
    return warning(
        name,
        f"{version}, without subshells: the panel waits until the cell has finished.",
        "Install ipykernel 7 or later and restart the kernel.",
    )


def widgets(context: CheckContext) -> Check:
    """ipywidgets, for the switches above a report."""
    if missed := extras.missed("ipywidgets"):
        if context.kernel_info is None:
            return not_needed("ipywidgets", _OUTSIDE)
        return warning("ipywidgets", missed, "pip install ipywidgets")
    import ipywidgets

    return ok("ipywidgets", str(ipywidgets.__version__))


def front_end(context: CheckContext) -> Check:
    """Whether the panel and this package are of one version."""
    name = "front end"
    if context.front_end:
        if context.front_end == __version__:
            return ok(name, f"The panel and the kernel's compilescope are both {__version__}.")
        return problem(
            name,
            f"The panel is {context.front_end}, the kernel's compilescope {__version__}.",
            "Install the same version in both environments, restart the kernel, reload the page.",
        )
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        return not_needed(name, _OUTSIDE)
    for folder in jupyter_path("labextensions"):
        file = Path(folder) / _EXTENSION / "package.json"
        if file.exists():
            version = json.loads(file.read_text(encoding="utf-8")).get("version", "")
            if version == __version__:
                return ok(name, f"Version {version} is installed in {file.parent}.")
            return warning(
                name, f"{file.parent} is {version}, this package {__version__}.", _INSTALL
            )
    if context.kernel_info is None:
        return not_needed(name, _OUTSIDE)
    return warning(
        name,
        "Not found in this kernel's environment. This is fine if JupyterLab runs in another one.",
        _INSTALL,
    )


CHECKS: tuple[CheckFunction, ...] = (subshells, widgets, front_end)
