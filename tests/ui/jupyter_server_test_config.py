"""The server of the browser tests: galata's settings, on loopback, from an empty configuration."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server

c = get_config()  # type: ignore[name-defined]  # noqa: F821
configure_jupyter_server(c)

c.ServerApp.jpserver_extensions.update(
    {"jupyterlab_compilescope": True, "jupyter_lsp": False, "jupyter_server_terminals": False}
)
# The tests of Notebook wait for its kernel as those of JupyterLab do.
c.JupyterNotebookApp.expose_app_in_browser = True

c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = int(os.environ["COMPILESCOPE_UI_PORT"])
c.ServerApp.allow_root = True
# What tests leave behind is deleted while the server still looks at it: no news.
c.Application.log_level = "ERROR"

# What no test looks at is not loaded with each page.
UNUSED = (
    *("audio", "csvviewer", "debugger", "extensionmanager", "help", "htmlviewer", "hub"),
    *("imageviewer", "inspector", "logconsole", "lsp", "pdf", "pluginmanager", "terminal"),
    *("tooltip", "vega5", "video"),
)
disabled = {f"@jupyterlab/{name}-extension": True for name in UNUSED}
disabled["@jupyterlab/apputils-extension:announcements"] = True
lab_config = Path(os.environ["JUPYTER_CONFIG_DIR"]) / "labconfig" / "page_config.json"
lab_config.parent.mkdir(parents=True, exist_ok=True)
lab_config.write_text(json.dumps({"disabledExtensions": disabled}))

# The kernelspecs of this folder stand beside the environment's own.
kernels = str(Path(__file__).parent / "jupyter_path")
os.environ["JUPYTER_PATH"] = os.pathsep.join(
    filter(None, [kernels, os.environ.get("JUPYTER_PATH")])
)
# What is compiled here is compiled afresh, and leaves the user's cache alone.
caches = Path(tempfile.mkdtemp(prefix="compilescope-ui-"))
atexit.register(shutil.rmtree, caches, ignore_errors=True)
os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(caches / "torchinductor")
# So are the times of earlier work, which estimates are made of.
os.environ["COMPILESCOPE_CACHE_DIR"] = str(caches / "history")
# What was compiled in this run of the tests is not compiled again; see tests/compiler/g++.
os.environ.setdefault("COMPILESCOPE_TEST_COMPILATIONS", str(caches / "compilations"))
compiler = Path(__file__).resolve().parents[1] / "compiler"
os.environ["PATH"] = f"{compiler}{os.pathsep}{os.environ['PATH']}"
# No test pays for headers that are precompiled for later.
os.environ["COMPILESCOPE_WARM_HEADERS"] = "0"
# A kernel's first build does not begin by building a library for each of the processor's vectors.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
# Threads that wait for each other sleep, as in tests/kernel/conftest.py.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Dynamo looks for no garbage after each frame, as in tests/kernel/conftest.py.
os.environ.setdefault("TORCH_DYNAMO_RUN_GC_AFTER_COMPILE", "0")

# The server picks a kernel's ports before the kernel binds them: on a busy machine, where other
# tests start kernels too, another process can take one meanwhile. Files of its own nobody takes.
c.KernelManager.transport = "ipc"

# Kernels are forked from a process that has imported torch; it ends with this one.
address = Path(os.environ["COMPILESCOPE_FORKS"])
forks = subprocess.Popen(
    [sys.executable, f"{kernels}/kernels/python3/forks.py", str(address)],
    stdin=subprocess.PIPE,
    # Processes that a pool starts ahead are not forked with the rest.
    env={**os.environ, "TORCH_WARM_POOL": "0"},
)
while not address.exists() and forks.poll() is None:
    time.sleep(0.01)
