"""The Python face of the JupyterLab panel: it tells JupyterLab where the built front end is."""

from __future__ import annotations

__all__ = ["_jupyter_labextension_paths"]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the built front end lies, for ``jupyter-builder develop``.

    Returns
    -------
    list of dict
        ``src`` is relative to this package, ``dest`` to the folder of JupyterLab's extensions.
    """
    return [{"src": "labextension", "dest": "jupyterlab-compilescope"}]
