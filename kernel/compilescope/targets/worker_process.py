"""The kernel's side of a target's process: starts it, sends requests, ends it and its children."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from ..processes import runner
from ..progress.progress import Cancelled
from ..report.devices import Device
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..torch_api.targets import backend_hashes
from .worker_messages import (
    Answer,
    Enter,
    Failed,
    Message,
    Outdated,
    Request,
    Role,
    Step,
    read,
    write,
)

_POLL_S = 0.1
"""How often a waiting thread checks whether its request was canceled."""

_UNSET_VARIABLES = (*runner.UNSET_VARIABLES, "TORCH_LOGS", "TRITON_INTERPRET")
_HIDDEN = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}
"""Hides this machine's GPUs: the worker only emulates the target, even if it is the same GPU."""

_TASKS: Mapping[Role, str] = {
    "compiler": "generate code",
    "interpreter": "check kernels",
    "local": "generate code",
    "local_run": "generate code",
    "local_gpu": "generate code",
}


class ProcessEnded(Exception):  # noqa: N818 - the caller says what it means
    """The process ended by itself."""


class Restart(Exception):  # noqa: N818 - nothing went wrong
    """What the process has loaded is out of date; another one has to be started."""


class WorkerProcess:
    """A process that answers questions about one target. One thread asks at a time: hold `lock`.

    Parameters
    ----------
    device
        What a process without a GPU emulates.
    caches
        Where torch's and Triton's caches of the process are.
    """

    def __init__(self, role: Role, device: Device | None, caches: Path) -> None:
        self.lock = threading.Lock()
        self._role = role
        self.device = device
        self.has_answered = False
        """Whether a request to it has ended: the process did not fail to start."""
        self._ended = False
        self._answers: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "compilescope.targets.worker.worker"],
            # Held open as long as this process lives: when it closes, the other end ends itself.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(role, caches),
            # An interrupt of the notebook does not reach it.
            start_new_session=True,
        )
        self._errors = runner.Tail(self._process)
        self._reader = threading.Thread(
            target=self._read, name="compilescope-target-answers", daemon=True
        )
        self._reader.start()
        enter = Enter(role=role, device=device)
        if role == "local_gpu":
            enter.backend_hash = backend_hashes.backend_hash()
        self._send(enter)

    @property
    def task(self) -> str:
        """What the process does, as an infinitive."""
        task = _TASKS[self._role]
        return f"{task} for {self.device.name}" if self.device is not None else task

    @property
    def pid(self) -> int:
        """The id of the process and of its process group."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and not by failing to start, which would be reported."""
        return self._ended or (self.has_answered and not self.is_alive)

    def memory_bytes(self) -> float:
        """Its current memory; 0 if it has ended."""
        if not self.is_alive:
            return 0.0
        with contextlib.suppress(psutil.Error):
            return float(psutil.Process(self._process.pid).memory_info().rss)
        return 0.0

    def request(
        self,
        request: Request,
        stepped: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> bytes:
        """The answer to a request.

        Raises
        ------
        CompilescopeError
            There is none, and why. If the process is alive, it can take further requests.
        ProcessEnded
            The process ended meanwhile.
        Restart
            The process is out of date and has to be replaced.
        Cancelled
            It was canceled, and the process ended.
        """
        self._send(request)
        try:
            while True:
                if cancelled():
                    raise Cancelled
                try:
                    message = self._answers.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                match message:
                    case Step(step=step):
                        stepped(step)
                    case Answer(payload=payload):
                        return payload
                    case Failed(problem=problem):
                        raise _error(problem)
                    case Outdated():
                        raise Restart
                    case _:
                        raise ProcessEnded
        except (CompilescopeError, ProcessEnded):
            raise
        except BaseException:
            # A late answer would be taken for that of the next request.
            self.end()
            raise
        finally:
            self.has_answered = True

    def end(self) -> None:
        """Ends it with all that it started, and waits for that."""
        self._ended = True
        runner.end(self._process)
        self._reader.join(2.0)
        self._errors.join()

    def last_words(self) -> tuple[str, str]:
        """How it ended, in words, and the end of its error output."""
        self.end()
        return runner.describe_exit(self._process.returncode), self._errors.text()

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None, "it was started with a pipe"
        # The reader reports a process that is gone.
        with contextlib.suppress(OSError, ValueError):
            write(self._process.stdin, message)

    def _read(self) -> None:
        assert self._process.stdout is not None, "it was started with a pipe"
        with self._process.stdout as stream:
            while (message := read(stream)) is not None:
                self._answers.put(message)
        self._answers.put(None)


def _environment(role: Role, caches: Path) -> Mapping[str, str]:
    variables = {name: value for name, value in os.environ.items() if name not in _UNSET_VARIABLES}
    variables["PYTHONPATH"] = os.pathsep.join(runner.import_path(runner.search_path()))
    if role in ("local", "local_run"):  # as in the kernel
        return variables
    variables |= _HIDDEN
    if role == "local_gpu":  # the code names files in the kernel's cache folders
        return variables
    variables |= {
        "TORCHINDUCTOR_CACHE_DIR": str(caches),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        # A pool of compile workers takes seconds to start and would build nothing.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    if role == "interpreter":
        variables["TRITON_INTERPRET"] = "1"
    return variables


def _error(problem: Problem) -> CompilescopeError:
    error = CompilescopeError(problem.what, problem.why, problem.remedy)
    error.problem = problem
    return error
