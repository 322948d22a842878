"""The process that `forks` has forked.

    python forked_process.py SOCKET MODULE...

Imports the modules, and forks for each order that comes. A target's process is forked from one that
is the target already: each target has one, which is forked when it is first needed.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Targets = dict[str, "socket.socket | None"]
"""Environment and target → the process that is that target; None if it could not become it."""


def serve(requests: socket.socket) -> None:
    """Forks until the other end is gone; returns in a fork when its program has ended.

    The fork is one of a fork that ends at once: so it becomes a child of the tests' process, which
    takes in orphans meanwhile.
    """
    targets: Targets = {}
    while True:
        data, files, _, _ = socket.recv_fds(requests, 1 << 20, 3)
        if not data:
            return
        order = json.loads(data)
        if (target := order.pop("target", None)) is not None:
            environ = {
                name: value for name, value in order["environ"].items() if name not in _OF_A_FORK
            }
            key = json.dumps([environ, target], sort_keys=True)
            if key not in targets:
                targets[key], own = _fork_target(target, environ, requests, targets, files)
                if own is not None:
                    serve(own)
                    return
            if (other := targets[key]) is not None:
                socket.send_fds(other, [json.dumps(order).encode()], files)
                for file in files:
                    os.close(file)
                requests.send(other.recv(64))
                continue
        reader, writer = os.pipe()
        intermediate = os.fork()
        if intermediate == 0:
            pid = os.fork()
            if pid:
                os.write(writer, str(pid).encode())
                os._exit(0)
            for file in (reader, writer):
                os.close(file)
            requests.close()
            while (parent := os.getppid()) != order["parent"]:
                if parent == 1:
                    os._exit(1)
                time.sleep(0.001)
            _become(order, files)
            return
        for file in (writer, *files):
            os.close(file)
        pid_text = os.read(reader, 64)
        os.close(reader)
        os.waitpid(intermediate, 0)
        requests.send(pid_text)


_OF_A_FORK = ("PYTEST_CURRENT_TEST", "PYTHONPATH")
"""Variables that differ between tests, and that nothing reads before `_become`."""


def _fork_target(
    target: str,
    environ: dict[str, str],
    requests: socket.socket,
    targets: Targets,
    files: list[int],
) -> tuple[socket.socket | None, socket.socket | None]:
    """Forks the process that is a target from now on.

    Returns
    -------
    tuple
        Here, the socket to it, if it has become the target; in the new process, its own socket.
    """
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        for other in (here, requests, *targets.values()):
            if other is not None:
                other.close()
        for file in files:
            os.close(file)
        os.environ.clear()
        os.environ.update(environ)
        try:
            _become_target(target)
        except BaseException:  # noqa: BLE001 - whatever it is
            # The process that was asked for tries again, and says why it cannot.
            os._exit(1)
        there.send(b"ready")
        return None, there
    there.close()
    return (here if here.recv(64) else None), None


def _become_target(target: str) -> None:
    """Does what a target's process does first, and has it do nothing when it is told to."""
    import msgspec
    from compilescope.report.devices import Device
    from compilescope.targets.worker import pretend_device

    if (device := msgspec.json.decode(target, type=Device | None)) is not None:
        world = pretend_device.PretendDevice.enter(device)
        pretend_device.PretendDevice.enter = lambda *_, **__: world  # type: ignore[method-assign,assignment]
    importlib.import_module("compilescope.targets.worker.reset")
    importlib.import_module("torch._inductor.compile_fx")
    gc.collect()
    gc.freeze()


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


def import_what_an_inspection_needs() -> None:
    """Imports what the first inspection of a process would import.

    A fork inspects a call, and says what it has loaded by then; here nothing is inspected.
    """
    source, destination = os.pipe()
    inspector = os.fork()
    if inspector == 0:
        os.close(source)
        import compilescope as cs
        import torch

        cs.inspect(lambda x: (x @ x).relu().softmax(-1), (torch.ones(4, 4),), run=False)
        with os.fdopen(destination, "w") as file:
            json.dump(list(sys.modules), file)
        os._exit(0)
    os.close(destination)
    with os.fdopen(source) as file:
        names = json.load(file)
    os.waitpid(inspector, 0)
    for name in names:
        if name.partition(".")[0] in ("compilescope", "torch", "sympy"):
            importlib.import_module(name)


def compute_what_inductor_keeps() -> None:
    """Computes what Inductor computes at a process's first compilation, and keeps.

    Its patterns, a hash of Triton's files and the processor's vector instructions, each of which is
    tried in a library of its own: three seconds of processor time.
    """
    import torch
    from torch._inductor import cpu_vec_isa
    from torch._inductor.codecache import CacheBase
    from torch._inductor.fx_passes import joint_graph, post_grad

    joint_graph.lazy_init(torch.device("cpu"))
    post_grad.lazy_init()
    CacheBase.get_system()
    cpu_vec_isa.valid_vec_isa_list()


def main() -> None:
    """Imports what is to be there in each fork, and serves."""
    for name in sys.argv[2:]:
        importlib.import_module(name)
    if "torch._inductor.compile_fx" in sys.modules:
        import_what_an_inspection_needs()
        compute_what_inductor_keeps()
        less_work = importlib.import_module("less_work")  # it is beside this program
        less_work.less_compiling()
        less_work.short_timing_in_processes()
        less_work.keep_slower_wrappers()
    # A fork's collector leaves these objects alone, and their memory shared; like that of the
    # tests' process it looks for garbage only when it is told to (`less_garbage_collection`).
    gc.collect()
    gc.freeze()
    gc.set_threshold(1_000_000_000)
    serve(socket.socket(fileno=int(sys.argv[1])))


def run_to_its_end(program: Callable[[], None]) -> None:
    """Runs a program, and ends this process as Python would, without freeing its objects.

    That would copy the memory that a fork shares: a third of a second.
    """
    status = 0
    try:
        program()
    except SystemExit as error:
        if not isinstance(error.code, int | None):
            raise
        status = error.code or 0
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run_to_its_end(main)
