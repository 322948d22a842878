"""Runs work in forks of this process, which change nothing outside of them.

This process itself runs and imports nothing of the user's, so every fork starts from the same
state, and what it changes ends with it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import psutil

from ...processes import outside_changes, system_calls
from ...processes.free_memory import free_memory
from ...report.problem import Problem, in_short
from ..worker_messages import Answer, Failed, Message, Step, read, write
from . import forks

Tell = Callable[[str], None]
"""Reports a step."""

Reply = Callable[[bytes], NoReturn]
"""Sends the answer and ends the fork. What its callers hold is not deleted before: that may run
code of the user's which ends the fork without an answer."""


class Answered(NamedTuple):
    """What came of a call."""

    payload: bytes | None
    """None: the kernel has to do the work."""
    why: str = ""
    """Why it has to."""


def answer_of_fork(
    before: Callable[[], None],
    watched: Callable[[Tell, Reply], str],
    tell: Tell,
    limit_s: float,
) -> Answered:
    """What a fork answers.

    It is ended if code in it is about to change something outside of it, whether or not that code
    would handle an error.

    Parameters
    ----------
    before
        Called in the fork first, and not watched.
    watched
        Called in the fork under watch: all that may run code of the user's. It returns why there is
        no answer, if there is none.
    tell
        Called here with the steps that the fork reports.
    limit_s
        How long each step may take.
    """
    receiving, sending = os.pipe()
    with os.fdopen(receiving, "rb") as messages:
        try:
            fork = forks.start(_be_fork, _Task(before, watched, sending))
        finally:
            os.close(sending)
        limit = _Limit(limit_s, fork.kill)
        found = None
        try:
            limit.restart()
            while (message := read(messages)) is not None:
                match message:
                    case Step(step=step):
                        limit.restart()
                        tell(step)
                    case Answer(payload=payload):
                        found = Answered(payload)
                    case Failed(problem=problem):
                        found = Answered(None, problem.what)
        finally:
            limit.end()
            fork.kill()
            fork.join()
    if found is not None:
        return found
    if limit.is_over:
        return Answered(None, f"a step took more than {limit_s:.0f} s")
    return Answered(None, f"the fork {forks.end_of(fork.exitcode) or 'did not answer'}")


class _Limit:
    """Calls a function once a time has passed since `restart`."""

    def __init__(self, seconds: float, ended: Callable[[], None]) -> None:
        self._seconds = seconds
        self._ended = ended
        self.is_over = False
        self._timer: threading.Timer | None = None

    def restart(self) -> None:
        """Begins, or begins again."""
        self.end()
        self._timer = threading.Timer(self._seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Nothing is called any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self.is_over = True
        self._ended()


class _Task(NamedTuple):
    """What a fork does."""

    before: Callable[[], None]
    watched: Callable[[Tell, Reply], str]
    sending: int


def _be_fork(task: _Task) -> NoReturn:
    """Does the task, and ends without what Python does at the end."""
    gc.disable()
    with contextlib.suppress(BaseException):
        answers = os.fdopen(task.sending, "wb")
        _detach(task.sending)
        _end_with(answers, _not_done(task, answers))
    os._exit(0)


def _not_done(task: _Task, answers: IO[bytes]) -> Failed:
    """Does the task, which ends the fork; returns why, if it does not."""

    def reply(payload: bytes) -> NoReturn:
        _end_with(answers, Answer(payload=payload))

    def changed(event: str) -> NoReturn:
        _end_with(answers, _failed(f"the call would change something outside: {event}"))

    try:
        task.before()
        sys.stdin = _NoInput(changed)
        outside_changes.watch(changed)
        system_calls.forbid_changes(os.getpid())
        return _failed(task.watched(lambda step: write(answers, Step(step=step)), reply))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the kernel does the work
        return _failed(in_short(error))


def _failed(why: str) -> Failed:
    return Failed(problem=Problem(severity="info", what=why))


def _end_with(answers: IO[bytes], message: Message) -> NoReturn:
    with contextlib.suppress(BaseException):
        write(answers, message)
    os._exit(0)


class _NoInput:
    """In place of ``sys.stdin``: whoever reads from it waits for a user that is not there."""

    def __init__(self, changed: Callable[[str], NoReturn]) -> None:
        self._changed = changed

    def __getattr__(self, name: str) -> Any:
        self._changed(f"sys.stdin.{name}")


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
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in Path("/proc/self/fd").iterdir():
        if int(file.name) not in (but, nothing):
            os.dup2(nothing, int(file.name))
