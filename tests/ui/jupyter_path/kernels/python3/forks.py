"""Forks kernels from a process that has imported torch, which takes seconds in each new process.

    python forks.py SOCKET

Listens at a Unix socket until its standard input closes. Each connection is a kernel that
``kernel.py``, the process that Jupyter starts and signals, asks for; a Python file among its
arguments is run instead of IPython's kernel. What a kernel starts, such as the cells of a sweep, is
forked too.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from pathlib import Path

from ipykernel.ipkernel import IPythonKernel  # noqa: F401
from ipykernel.kernelapp import IPKernelApp

REPOSITORY = Path(__file__).resolve().parents[5]
LOADED = (
    *("torch._dynamo", "torch._inductor.async_compile", "torch._inductor.compile_fx"),
    *("torch._inductor.codegen.cpp_wrapper_cpu", "torch._inductor.codegen.triton"),
)


def serve(listener: socket.socket) -> list[str] | None:
    """Fork kernels.

    Returns
    -------
    list of str or None
        In a new kernel's process, its arguments; None once standard input is closed.
    """
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(sys.stdin, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is sys.stdin:
                return None
            if key.fileobj is listener:
                client, _ = listener.accept()
                arguments, files = _asked(client)
                kernel = os.fork()
                if kernel == 0:
                    selector.close()
                    listener.close()
                    client.close()
                    _become(arguments, files)
                    return list(arguments["argv"])
                for file in files:
                    os.close(file)
                ended = os.pidfd_open(kernel)
                selector.register(client, selectors.EVENT_READ, (kernel, client, ended))
                selector.register(ended, selectors.EVENT_READ, (kernel, client, ended))
                continue
            kernel, client, ended = key.data
            if key.fileobj is client:
                signals = client.recv(64)
                # Without its process a kernel ends, and what it has started with it.
                for number in signals or [signal.SIGKILL]:
                    os.killpg(kernel, number)
                if signals:
                    continue
                selector.unregister(client)
            else:
                _, status = os.waitpid(kernel, 0)
                selector.unregister(ended)
                os.close(ended)
                if client in selector.get_map():
                    selector.unregister(client)
                    client.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                client.close()


def _asked(client: socket.socket) -> tuple[dict[str, object], list[int]]:
    data, files, _, _ = socket.recv_fds(client, 1 << 20, 3)
    return json.loads(data), files


def _become(arguments: dict[str, object], files: list[int]) -> None:
    """Makes this the process that was asked for, in a session of its own."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(arguments["environ"])
    # It is to end with the process that Jupyter started, which is not its parent.
    os.environ.pop("JPY_PARENT_PID", None)
    os.chdir(arguments["cwd"])


def _run_kernel(argv: list[str]) -> None:
    """Runs a program in Python, or IPython's kernel."""
    if argv[0].endswith(".py"):
        sys.argv = argv
        runpy.run_path(argv[0], run_name="__main__")
    else:
        IPKernelApp.launch_instance(argv=argv)


if __name__ == "__main__":
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()

    for module in LOADED:
        importlib.import_module(module)

    # What the kernel's own tests fork their processes with. Kernels do not see the folder.
    sys.path.append(str(REPOSITORY))
    from tests.kernel import forked_process, forks, less_work

    sys.path.remove(str(REPOSITORY))
    forked_process.import_what_an_inspection_needs()
    forked_process.compute_what_inductor_keeps()
    less_work.less_compiling()
    less_work.keep_slower_wrappers()
    # A kernel's collector leaves these objects alone, and their memory shared; like that of the
    # kernel's own tests it looks for garbage only when it is told to.
    gc.collect()
    gc.freeze()
    gc.set_threshold(1_000_000_000)
    kernel = serve(listener)
    if kernel is not None:
        forked_process.run_to_its_end(lambda: forks.run_beside_fork(lambda: _run_kernel(kernel)))
