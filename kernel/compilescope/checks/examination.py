"""Runs all checks in separate threads, within a time limit."""

from __future__ import annotations

import contextvars
import datetime
import shutil
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from .. import ipython_shell
from ..report.checkup import Check, Checkup
from ..torch_api.process import caches
from ..torch_api.process.environment import environment
from . import caches as cache_folders
from . import compiler, gpu, headers, notebook, openmp, precompiled, triton, versions
from . import environment as surroundings
from .context import CheckContext, CheckFunction

SUBJECTS: tuple[ModuleType, ...] = (
    compiler,
    openmp,
    headers,
    precompiled,
    triton,
    gpu,
    cache_folders,
    versions,
    notebook,
    surroundings,
)
"""The modules of checks, in the order in which they are shown."""

LIMIT_S = 150.0
"""After this long the checkup ends; unfinished checks are reported as such."""
_THREADS = 2
"""How many subjects are checked at once: most of the time is spent waiting for compilers."""


class Examination:
    """A checkup under way. Safe to ask from any thread.

    Starts immediately, in separate threads that inherit the caller's torch settings.

    Parameters
    ----------
    front_end
        The version of the panel that asks; empty if none does.
    kernel_info
        What the kernel says of itself; None outside of a notebook.
    aside
        Whether the request comes from elsewhere than the user's code.
    limit_s
        How long it may take.
    subjects
        What to look at.
    """

    def __init__(
        self,
        *,
        front_end: str = "",
        kernel_info: Mapping[str, object] | None = None,
        aside: bool = False,
        limit_s: float = LIMIT_S,
        subjects: tuple[ModuleType, ...] = SUBJECTS,
    ) -> None:
        self._start = time.monotonic()
        self._end = self._start + limit_s
        self._limit_s = limit_s
        self._created = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        self._subjects = subjects
        self._queue = list(subjects)
        self._done: dict[str, list[Check]] = {subject.SUBJECT: [] for subject in subjects}
        self._open = set(self._done)
        self._took: float | None = None
        self._lock = threading.Lock()
        self._finished = threading.Event()
        self._environment = _environment()
        self._folder = _folder()
        self._context = CheckContext(
            folder=self._folder, front_end=front_end, aside=aside, kernel_info=kernel_info
        )
        for number in range(min(_THREADS, len(subjects))):
            context = contextvars.copy_context()
            threading.Thread(
                target=context.run,
                args=(self._work,),
                name=f"compilescope-doctor-{number}",
                daemon=True,
            ).start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until it is finished, or out of time; says whether it is."""
        left = max(0.0, self._end - time.monotonic())
        self._finished.wait(left if timeout_s is None else min(timeout_s, left))
        return self.finished

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self._finished.is_set() or time.monotonic() >= self._end

    def checkup(self) -> Checkup:
        """The results so far; subjects that are being checked are in ``waiting``."""
        over = self.finished
        with self._lock:
            checks: list[Check] = []
            for subject in self._subjects:
                checks += self._done[subject.SUBJECT]
                if over and subject.SUBJECT in self._open:
                    checks.append(self._late(subject.SUBJECT))
            waiting = [] if over else [name for name in self._done if name in self._open]
            took = self._took if self._took is not None else time.monotonic() - self._start
        return Checkup(
            checks=checks,
            created=self._created,
            environment=self._environment,
            seconds=min(took, self._limit_s),
            waiting=waiting,
        )

    def _work(self) -> None:
        while True:
            with self._lock:
                subject = self._queue.pop(0) if self._queue else None
            if subject is None:
                return
            for look in subject.CHECKS:
                if time.monotonic() >= self._end:
                    return
                check = run_check(look, self._context, subject.SUBJECT)
                with self._lock:
                    self._done[subject.SUBJECT].append(check)
            with self._lock:
                self._open.discard(subject.SUBJECT)
                last = not self._open
            if last:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._took = time.monotonic() - self._start
                self._finished.set()

    def _late(self, subject: str) -> Check:
        return Check(
            name="unfinished",
            subject=subject,
            state="problem",
            finding=f"This was not finished within {self._limit_s:.0f} s.",
            remedy="Ask again when the machine is less busy; a disk may not answer.",
        )


def run_check(look: CheckFunction, context: CheckContext, subject: str) -> Check:
    """Runs one check. If the check itself raises, its result says so."""
    start = time.monotonic()
    try:
        check = look(context)
    except Exception as error:  # noqa: BLE001 - the others are made all the same
        name = look.__name__.replace("_", " ")
        check = Check(
            name=name,
            state="problem",
            finding=f"The check itself failed: {type(error).__name__}: {error}",
            remedy=f"Please report it with its traceback: cs.doctor().check({name!r}).detail.",
            detail=traceback.format_exc(),
        )
    check.subject, check.seconds = subject, time.monotonic() - start
    return check


def _folder() -> Path:
    """The folder for the checks' files: libraries built there must be loadable."""
    try:
        return caches.new_folder()
    except OSError:  # which a check tells
        return Path(tempfile.mkdtemp(prefix="compilescope-"))


def _environment() -> str:
    machine = environment()
    parts = (
        f"compilescope {machine.compilescope}",
        f"torch {machine.torch}",
        f"triton {machine.triton}" if machine.triton else "",
        f"Python {machine.python}",
        machine.platform,
        ", ".join(machine.gpus) or machine.cpu,
    )
    return " · ".join(part for part in parts if part)


def kernel_info() -> Mapping[str, object] | None:
    """What the kernel of this process says of itself; None where there is no kernel."""
    info = getattr(ipython_shell.kernel(), "kernel_info", None)
    return info if isinstance(info, Mapping) else None
