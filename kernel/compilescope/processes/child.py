"""The child's side of a process that `processes.runner` started: its task and its result.

This module does not import torch: the time of that import is measured.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .runner import HEADER, RESULT, STEPS, TASK

_LIKELY_VICTIM = "800"


class ChildProcess:
    """The child's side of the connection.

    Parameters
    ----------
    folder
        Where its files are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.header: dict[str, Any] = json.loads((folder / HEADER).read_text(encoding="utf-8"))

    def task(self) -> bytes:
        """What there is to do."""
        return (self._folder / TASK).read_bytes()

    def step(self, name: str) -> None:
        """Reports to the parent which step begins."""
        # A step that cannot be reported must not stop the work.
        with contextlib.suppress(OSError), (self._folder / STEPS).open("a") as file:
            file.write(f"{name}\n")


def serve(work: Callable[[ChildProcess], bytes]) -> None:
    """Does the work of a process, whose last argument is its folder, and ends it.

    ``work`` gives the result; an exception of its own is a crash.
    """
    faulthandler.enable()
    _end_with_parent()
    prefer_for_oom_kill()
    folder = Path(sys.argv[-1])
    result = work(ChildProcess(folder))
    partial = folder / f"{RESULT}.partial"
    partial.write_bytes(result)
    partial.replace(folder / RESULT)
    sys.stderr.flush()
    # The result is written. A thread, pool or library that does not end must not cause a timeout,
    # and a crash in a destructor must not count as one.
    os._exit(0)


def _end_with_parent() -> None:
    """Ends this process and its group when the parent ends, for whatever reason."""
    line = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def wait() -> None:
        while os.read(line, 1):
            pass
        os.killpg(os.getpgid(0), signal.SIGKILL)

    threading.Thread(target=wait, name="compilescope-parent", daemon=True).start()


def prefer_for_oom_kill() -> None:
    """Makes the OOM killer end this process rather than the notebook's kernel."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_LIKELY_VICTIM)
