"""The process that `forks` has forked.

    python forked_process.py SOCKET MODULE...

Imports the modules, and forks for each order that comes.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import sys
import time
from pathlib import Path
from typing import Any


def serve(line: socket.socket) -> None:
    """Forks until the other end is gone; returns in a fork when its program has ended.

    The fork is one of a fork that ends at once: so it becomes a child of the tests' process, which
    takes in orphans meanwhile.
    """
    while True:
        data, files, _, _ = socket.recv_fds(line, 1 << 20, 3)
        if not data:
            return
        order = json.loads(data)
        heard, said = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid:
                os.write(said, str(pid).encode())
                os._exit(0)
            for file in (heard, said):
                os.close(file)
            line.close()
            while (parent := os.getppid()) != order["parent"]:
                if parent == 1:
                    os._exit(1)
                time.sleep(0.001)
            _become(order, files)
            return
        for file in (said, *files):
            os.close(file)
        pid_text = os.read(heard, 64)
        os.close(heard)
        os.waitpid(between, 0)
        line.send(pid_text)


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
