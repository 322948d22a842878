"""The Python package of the panel: the built front end, and the server's reader of files."""

from __future__ import annotations

from typing import Any

__all__ = [
    "_jupyter_labextension_paths",
    "_jupyter_server_extension_points",
    "_load_jupyter_server_extension",
]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the built front end lies, for ``jupyter-builder develop``.

    Returns
    -------
    list of dict
        ``src`` is relative to this package, ``dest`` to the folder of JupyterLab's extensions.
    """
    return [{"src": "labextension", "dest": "jupyterlab-compilescope"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """What Jupyter's server loads: this package."""
    return [{"module": "jupyterlab_compilescope"}]


def _load_jupyter_server_extension(app: Any) -> None:
    """Serve traces and earlier versions' reports of the file browser."""
    from concurrent.futures import ThreadPoolExecutor

    from jupyter_server.utils import url_path_join

    from .reports import ReportHandler
    from .traces import OpenTraces, TraceHandler

    executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="compilescope")
    base = url_path_join(app.web_app.settings["base_url"], "compilescope")
    traces = {"traces": OpenTraces(), "executor": executor}
    handlers = [
        (url_path_join(base, "trace"), TraceHandler, traces),
        (url_path_join(base, "report"), ReportHandler, {"executor": executor}),
    ]
    app.web_app.add_handlers(".*$", handlers)
