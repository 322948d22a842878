"""A target's process: emulates the device of its first message, then answers requests.

Started as ``python -m compilescope.targets.worker.worker`` by `targets.worker_process`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import queue
import signal
import sys
import threading
import time
from typing import IO, Any

from ...processes.child import prefer_for_oom_kill
from ...report.errors import CompilescopeError
from ...report.problem import Problem, fault
from ..worker_messages import Answer, Enter, Failed, Message, Outdated, Request, Step, read, write

_LOOK_EVERY_S = 0.5


def main() -> None:
    """Serves until the other end is gone."""
    faulthandler.enable()
    prefer_for_oom_kill()
    questions, answers = _lines()
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(questions, inbox), daemon=True).start()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    Worker(inbox, answers).serve()


class Worker:
    """Answers one request after the other.

    Parameters
    ----------
    inbox
        Where questions arrive.
    answers
        Where answers go.
    """

    def __init__(self, inbox: queue.SimpleQueue[Message], answers: IO[bytes]) -> None:
        self._inbox = inbox
        self._answers = answers
        self._writing = threading.Lock()
        self._world: Any = None

    def serve(self) -> None:
        """Takes the role in the first message, then answers requests; does not return."""
        first = self._inbox.get()
        assert isinstance(first, Enter), "the first message has the role"
        try:
            self._enter(first)
        except BaseException as error:  # noqa: BLE001 - the answer reports any error
            self._send(Failed(problem=_explained(error)))
            # The device is only partly emulated, so answers might be wrong.
            sys.stderr.flush()
            os._exit(1)
        while True:
            request = self._inbox.get()
            assert isinstance(request, Request), "each message after the first is a request"
            began = time.time()
            answer = self._answered(request)
            # Before the answer is sent: the user may change a file as soon as it arrives.
            self._clean.note_files(began)
            self._send(answer)
            self._clean.restore()

    def _enter(self, first: Enter) -> None:
        if first.role == "compiler":
            from .pretend_device import PretendDevice

            assert first.device is not None, "it emulates a device"
            self._world = PretendDevice.enter(first.device)
        elif first.role == "local":
            from .world import ThisMachine

            self._world = ThisMachine()
        elif first.role == "local_run":
            from ...builds.first_compilation import warm_up_compiler
            from .world import RunningMachine

            self._world = RunningMachine()
            warm_up_compiler("cpu")  # once, instead of in every fork
        elif first.role == "local_gpu":
            from .hidden_gpu import HiddenGpu

            assert first.device is not None, "it emulates a device"
            self._world = HiddenGpu.enter(first.device, first.backend_hash)

        # Loads torch, so the device must be emulated by now.
        from .reset import InitialState

        self._clean = InitialState()

    def _answered(self, request: Request) -> Message:
        if self._clean.is_outdated():
            return Outdated()
        sys.path += [folder for folder in request.folders if folder not in sys.path]
        with contextlib.suppress(OSError):
            os.chdir(request.folder)
        try:
            answer = importlib.import_module(f".answer_{request.kind}", __package__).answer
            return Answer(payload=answer(self._world, request.payload, self._step))
        except BaseException as error:  # noqa: BLE001 - the answer reports any error
            return Failed(problem=_explained(error))

    def _step(self, step: str) -> None:
        self._send(Step(step=step))

    def _send(self, message: Message) -> None:
        with self._writing:
            write(self._answers, message)


def _lines() -> tuple[IO[bytes], IO[bytes]]:
    """Where the kernel speaks, and where it listens. What a subject prints goes elsewhere."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def _listen(questions: IO[bytes], inbox: queue.SimpleQueue[Message]) -> None:
    while (message := read(questions)) is not None:
        inbox.put(message)
    _end()


def _end_with_parent(parent: int) -> None:
    # A fork of the kernel keeps the pipe open when the kernel ends, but the parent's id changes.
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    _end()


def _end() -> None:
    """Ends this process and all that it started."""
    os.killpg(os.getpgid(0), signal.SIGKILL)


def _explained(error: BaseException) -> Problem:
    if isinstance(error, CompilescopeError):
        return error.problem
    return fault(error, "in the target's process")


if __name__ == "__main__":
    main()
