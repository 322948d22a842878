"""Runs work in forks of this process, which change nothing outside of them.

This process itself runs and imports nothing of the user's, so every fork starts from the same
state, and what it changes ends with it.
"""

from __future__ import annotations

import contextlib
import contextvars
import gc
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import psutil

from ...processes import outside_changes, system_calls
from ...processes.free_memory import free_memory
from ..worker_messages import Answer, Message, Step, read, write
from . import forks

_WATCHED = "\0watched"
"""The step that says that nothing of the user's runs any more."""

Tell = Callable[[str], None]
"""Reports a step."""

Answering = Callable[[Tell], bytes | None]


def answer_of_fork(
    before: Callable[[], None],
    watched: Callable[[Tell], Answering],
    tell: Tell,
    limit_s: float,
) -> bytes | None:
    """What a fork answers; None if it has no answer, failed, took too long or was ended.

    It is ended if the user's code is about to change something outside of it, whether or not that
    code would handle an error.

    Parameters
    ----------
    before
        Called in the fork first.
    watched
        Called in the fork under watch: all code of the user's. It returns the function that makes
        the answer.
    tell
        Called here with the steps that the fork reports.
    limit_s
        How long ``watched`` may take.
    """
    receiving, sending = os.pipe()
    with os.fdopen(receiving, "rb") as messages:
        fork = forks.start(_be_fork, _Task(before, watched, sending))
        os.close(sending)
        limit = threading.Timer(limit_s, fork.kill)
        limit.daemon = True
        limit.start()
        answer = None
        try:
            while (message := read(messages)) is not None:
                match message:
                    case Step(step=step) if step == _WATCHED:
                        limit.cancel()
                    case Step(step=step):
                        tell(step)
                    case Answer(payload=payload):
                        answer = payload
        finally:
            limit.cancel()
            fork.kill()
            fork.join()
    return answer


class _Task:
    """What a fork does."""

    def __init__(
        self,
        before: Callable[[], None],
        watched: Callable[[Tell], Answering],
        sending: int,
    ) -> None:
        self.before = before
        self.watched = watched
        self.sending = sending


def _be_fork(task: _Task) -> NoReturn:
    """Does the task, and ends without what Python does at the end."""
    # Objects of the user's are never deleted: that may call their code.
    gc.disable()
    kept: list[Any] = []
    with contextlib.suppress(BaseException):
        answers = os.fdopen(task.sending, "wb")
        kept.append(answers)
        _detach(task.sending)

        def send(message: Message) -> None:
            write(answers, message)

        _do(task, send, kept)
    os._exit(0)


def _do(task: _Task, send: Callable[[Message], None], kept: list[Any]) -> None:
    ready: queue.SimpleQueue[tuple[contextvars.Context, Answering]] = queue.SimpleQueue()
    done = threading.Event()

    def tell(step: str) -> None:
        send(Step(step=step))

    def answer() -> None:
        with contextlib.suppress(BaseException):
            context, answering = ready.get()
            payload = context.run(answering, tell)
            if payload is not None:
                send(Answer(payload=payload))
        done.set()

    task.before()
    # The filter is for one thread and those that it starts. Inductor, which writes into its caches
    # and runs compilers, is called in a thread from before.
    threading.Thread(target=answer, daemon=True).start()
    end_watch = outside_changes.watch(lambda event: os._exit(1))
    system_calls.forbid_changes(os.getpid())
    answering = task.watched(tell)
    kept.append(answering)
    end_watch()
    tell(_WATCHED)
    # Inductor's settings are context variables: those of the call are in force in this thread.
    ready.put((contextvars.copy_context(), answering))
    done.wait()


class _NoInput:
    """In place of ``sys.stdin``: whoever reads from it waits for a user that is not there."""

    def __getattr__(self, name: str) -> Any:
        os._exit(1)


def _detach(but: int) -> None:
    """Leaves this process nothing that it could read from or write to, but one pipe."""
    sys.dont_write_bytecode = True
    with contextlib.suppress(ImportError):
        import resource

        # A core file would be a change too. With 1 instead of 0, no program gets one either.
        with contextlib.suppress(OSError, ValueError):  # the limit may be 0 already
            resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
        # Rather an error here than too little memory for the kernel.
        most = int(psutil.Process().memory_info().data + free_memory() / 2)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in Path("/proc/self/fd").iterdir():
        if int(file.name) not in (but, nothing):
            os.dup2(nothing, int(file.name))
    sys.stdin = _NoInput()
