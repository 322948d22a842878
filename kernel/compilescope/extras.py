"""Optional packages, and the features that are missing without them."""

from __future__ import annotations

from importlib.util import find_spec

_MISSED = {
    "anywidget": ("anywidget", "A cell's output has no panel"),
    "ipykernel": ("ipykernel", "There is no kernel for notebooks"),
    "IPython": ("IPython", "There is no %%compile"),
    "ipywidgets": ("ipywidgets", "A report in a cell has no switches"),
    "jupyterlab": ("JupyterLab", "There is no panel"),
    "numpy": ("NumPy", "Triton's interpreter cannot check kernels"),
    "plotly": ("Plotly", "compilescope.chart draws nothing"),
    "pygments": ("Pygments", "Code in a cell has no colors"),
}
"""Module → its name, and what it is missed for."""


def missed(module: str) -> str:
    """A line about a missing module, its use and how to install it; empty if it is installed."""
    if find_spec(module) is not None:
        return ""
    return missing_text(module)


def missing_text(module: str) -> str:
    """The line about a module that is not installed."""
    name, why = _MISSED[module]
    return f"{why}: {name} is not installed (pip install {module.lower()})."


def optional() -> dict[str, str]:
    """The distributions that may be missing, with their modules."""
    return {module.lower(): module for module in _MISSED}
