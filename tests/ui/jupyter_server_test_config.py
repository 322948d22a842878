"""The server of the browser tests: galata's settings, on loopback, from an empty configuration."""

import os
import sys
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server

configure_jupyter_server(c)  # type: ignore[name-defined]  # noqa: F821

server = c.ServerApp  # type: ignore[name-defined]  # noqa: F821
server.ip = "127.0.0.1"
server.port = int(os.environ.get("COMPILESCOPE_UI_PORT", "8899"))
server.port_retries = 0
server.allow_root = True

# The kernelspecs of this folder stand beside the environment's own.
os.environ["JUPYTER_PATH"] = str(Path(__file__).parent / "jupyter_path")
os.environ["COMPILESCOPE_UI_PYTHON"] = sys.executable
