"""The process that `forks` has forked.

    python forked_process.py SOCKET MODULE...

Imports the modules, and forks for each order that comes.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import platform
import runpy
import signal
import socket
import sys
from pathlib import Path
from typing import Any

CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
"""The number of the system call, which the C library does not offer without a stack."""
_CLONE_PARENT = 0x8000
"""The fork is a child of this process's parent."""


def serve(line: socket.socket) -> None:
    """Forks until the other end is gone; returns in a fork when its program has ended."""
    library = ctypes.PyDLL(None)
    python = ctypes.pythonapi
    while True:
        data, files, _, _ = socket.recv_fds(line, 1 << 20, 3)
        if not data:
            return
        python.PyOS_BeforeFork()
        pid = library.syscall(CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            python.PyOS_AfterFork_Child()
            line.close()
            _become(json.loads(data), files)
            return
        python.PyOS_AfterFork_Parent()
        for file in files:
            os.close(file)
        line.send(str(pid).encode())


def _become(order: dict[str, Any], files: list[int]) -> None:
    """Makes this the process that was asked for, and runs its program."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(order["environ"])
    if order["folder"]:
        os.chdir(order["folder"])
    path = order["environ"].get("PYTHONPATH", "").split(os.pathsep)
    # The first is this program's folder.
    sys.path[:] = [str(Path.cwd()), *path, *sys.path[1:]]
    how, what, *rest = order["arguments"]
    sys.argv[:] = [how, *rest]
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(what, {"__name__": "__main__"})


def main() -> None:
    """Imports what is to be there in each fork, and serves."""
    for name in sys.argv[2:]:
        importlib.import_module(name)
    # A fork's collector leaves these objects alone, and their memory shared.
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
