"""Opens a trace or report in JupyterLab, which it starts."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from ..report.errors import CompilescopeError

_REPORT_SUFFIX = ".compilescope.json"
"""The endings of report files that JupyterLab opens in the panel."""
_ADDRESS_PARAMETER = "compilescope-open"
"""The address parameter with the trace that `src/plugins/trace.ts` opens."""


def open_in_lab(path: Path, *, is_trace: bool, browser: bool, port: int) -> int:
    """Start JupyterLab on a file's folder, with the file open, and wait until it ends.

    Parameters
    ----------
    path
        A trace, or a report.
    is_trace
        Whether the path is a trace.
    browser
        Whether JupyterLab opens the browser.
    port
        0: JupyterLab's own choice.

    Raises
    ------
    CompilescopeError
        JupyterLab is not installed, or the panel does not open that kind of file.
    """
    path = path.resolve()
    for name in ("jupyterlab", "jupyterlab_compilescope"):
        if importlib.util.find_spec(name) is None:
            raise CompilescopeError(
                f"{path.name} cannot be opened in JupyterLab: {name} is not installed here.",
                remedy="Install jupyterlab and jupyterlab-compilescope, or leave out --lab.",
            )
    if not is_trace and not path.name.endswith(_REPORT_SUFFIX):
        raise CompilescopeError(
            f"JupyterLab does not open {path.name} in the panel.",
            f"It opens traces, and reports that end in {_REPORT_SUFFIX}.",
            f"Save the report as NAME{_REPORT_SUFFIX}, or leave out --lab.",
        )
    if not path.exists():
        raise CompilescopeError(f"There is no {str(path)!r}.")
    address = (
        f"/lab?{_ADDRESS_PARAMETER}={quote(path.name)}"
        if is_trace
        else f"/lab/tree/{quote(path.name)}"
    )
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab"),
            f"--ServerApp.root_dir={path.parent}",
            f"--LabApp.default_url={address}",
            *([] if browser else ["--no-browser"]),
            *([f"--ServerApp.port={port}"] if port else []),
        ]
    )
    # JupyterLab gets Ctrl-C too, and asks for confirmation on a terminal.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
