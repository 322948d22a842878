"""Processes that tests have started are forked from one that has imported torch, or Inductor too.

That takes a new process two seconds of processor time, or five. A fork becomes a child of the
tests' process (`forked_process`), so that whoever waits for it sees how it ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import IO, Any

import msgspec
import pytest
import torch
from compilescope.processes import runner
from compilescope.targets import worker_process

from . import forked_process

_TORCH = ("torch", "torch.fx.experimental.symbolic_shapes")
_INDUCTOR = ("torch._inductor.compile_fx", "torch._inductor.async_compile")
_TARGET = "compilescope.targets.worker.worker"
_LOADED = {
    # It becomes another device before it loads Inductor: see `forked_process`.
    _TARGET: _TORCH,
    "compilescope": _INDUCTOR,
    "tests.kernel.forked_kernel": _INDUCTOR,
    "compilescope.distributed.process": _INDUCTOR,
    "compilescope.sweep.cell_process": _INDUCTOR,
    "compilescope.reproducers.minify_process": _INDUCTOR,
    "compilescope.reproducers.trial_process": _INDUCTOR,
    "compilescope.tiers.builder_process": _INDUCTOR,
    "compilescope.studies.ahead_of_time.process": _INDUCTOR,
    "compilescope.studies.deploy.way_process": _INDUCTOR,
    "compilescope.studies.first_calls.cold_process": _INDUCTOR,
}
"""What is forked, and what is loaded by then. `startup_process` is not: the tests of start-ups want
to know what loading torch takes."""


_TAKES_IN_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_start_lock = threading.Lock()


class Forked:
    """A child process, as `subprocess.Popen` shows one."""

    def __init__(
        self, pid: int, stdin: IO[bytes], stdout: IO[bytes] | None, stderr: IO[bytes]
    ) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self._waiting = threading.Lock()

    def poll(self) -> int | None:
        """How it ended; None while it has not."""
        return self._look(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end."""
        if timeout is None:
            ended = self._look(0)
        else:
            end = threading.Event()
            ended = self.poll()
            rest = timeout
            while ended is None:
                if rest <= 0:
                    raise subprocess.TimeoutExpired("a fork", timeout)
                end.wait(min(rest, 0.02))
                rest -= 0.02
                ended = self.poll()
        assert ended is not None
        return ended

    def _look(self, how: int) -> int | None:
        with self._waiting:
            if self.returncode is None:
                pid, status = os.waitpid(self.pid, how)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode


class _Forks:
    """The process that is forked; started when it is first needed."""

    def __init__(self, loaded: Sequence[str], server: socket.socket | None = None) -> None:
        self._loaded = loaded
        self._server = server

    def start(
        self,
        command: Sequence[str],
        *,
        stdout: int,
        env: Mapping[str, str],
        cwd: Any = None,
        target: str | None = None,
    ) -> Forked:
        stdin, stdin_writer = os.pipe()
        stderr_reader, stderr_writer = os.pipe()
        output = None
        if stdout == subprocess.DEVNULL:
            stdout_writer = os.open(os.devnull, os.O_WRONLY)
        else:
            stdout_reader, stdout_writer = os.pipe()
            output = os.fdopen(stdout_reader, "rb")
        order = {
            "arguments": command[1:],
            "environ": dict(env),
            "folder": cwd and str(cwd),
            "parent": os.getpid(),
            "target": target,
        }
        files = [stdin, stdout_writer, stderr_writer]
        control = ctypes.CDLL(None).prctl
        with _start_lock:
            server = self._server = self._server or self._start_server()
            control(_TAKES_IN_ORPHANS, 1)
            try:
                socket.send_fds(server, [json.dumps(order).encode()], files)
                pid = int(server.recv(64))
            finally:
                # Otherwise orphans of the tests are the system's to wait for.
                control(_TAKES_IN_ORPHANS, 0)
        for file in files:
            os.close(file)
        return Forked(pid, os.fdopen(stdin_writer, "wb"), output, os.fdopen(stderr_reader, "rb"))

    def _start_server(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            subprocess.Popen(
                [sys.executable, forked_process.__file__, str(theirs.fileno()), *self._loaded],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # Neither processes that a pool starts ahead nor threads are forked with the rest.
                env={**os.environ, "TORCH_WARM_POOL": "0", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
        return ours


@contextlib.contextmanager
def forked(inductor: socket.socket | None = None) -> Iterator[None]:
    """In the block processes of `_LOADED` are forked, where that can be done.

    A driver of a GPU that was started before a fork does not work in it.

    Parameters
    ----------
    inductor
        A socket to a child of this process that has imported Inductor and serves already
        (`forked_process.serve`).
    """
    if sys.platform != "linux" or torch.cuda.is_available():
        yield
        return
    forks = {_TORCH: _Forks(_TORCH), _INDUCTOR: _Forks(_INDUCTOR, inductor)}

    def start(command: list[str], **options: Any) -> Any:
        for name, loaded in _LOADED.items():
            if command[1:3] == ["-m", name] or (
                command[1] == "-c" and f"from {name} " in command[2]
            ):
                wanted = {key: options.get(key) for key in ("stdout", "env", "cwd")}
                target = starting.target if name == _TARGET else None
                return forks[loaded].start(command, **wanted, target=target)
        return subprocess.Popen(command, **options)

    starting = threading.local()
    initialize = worker_process.WorkerProcess.__init__

    def start_target(self: Any, role: Any, device: Any, caches: Any) -> None:
        starting.target = msgspec.json.encode(device).decode()
        initialize(self, role, device, caches)

    replaced: Any = SimpleNamespace(**{**vars(subprocess), "Popen": start})
    with pytest.MonkeyPatch.context() as patch:
        for module in (runner, worker_process):
            patch.setattr(module, "subprocess", replaced)
        patch.setattr(worker_process.WorkerProcess, "__init__", start_target)
        yield


def run_beside_fork(program: Callable[[], None]) -> None:
    """Runs a program, beside a fork of this process from which its processes are forked."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        os.setsid()
        forked_process.serve(theirs)
        return
    theirs.close()
    with forked(inductor=ours):
        program()
