"""A folder through which tasks of an executor report their steps and are canceled.

The worker of a task may run on another machine, where the folder may not be visible: its steps
are then unknown here, and it cannot be canceled.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_RUNNING_FILE = "go"
"""The file whose removal cancels the tasks."""


class TaskFolder:
    """The files that tasks share with the process that submits them.

    Parameters
    ----------
    path
        An existing folder. In a worker that does not see it, steps are not written, and the task is
        not canceled.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._is_visible = self.path.is_dir()

    def allow(self) -> None:
        """Lets tasks run. The process that submits them calls it first."""
        (self.path / _RUNNING_FILE).touch()

    def cancel(self) -> None:
        """Cancels every task. As long as the folder exists, also those that start later."""
        (self.path / _RUNNING_FILE).unlink(missing_ok=True)

    def cancelled(self) -> bool:
        """Whether the tasks were canceled, or their folder was removed."""
        return self._is_visible and not (self.path / _RUNNING_FILE).exists()

    def write_step(self, task: str, step: str) -> None:
        """Writes the current step of a task; does nothing if that fails: a step is optional."""
        if self._is_visible:
            with contextlib.suppress(OSError):
                self._step_file(task).write_text(step, encoding="utf-8")

    def read_step(self, task: str) -> str:
        """The current step of a task; empty if it is unknown."""
        try:
            return self._step_file(task).read_text(encoding="utf-8")
        except OSError:
            return ""

    def remove_step(self, task: str) -> None:
        """Removes the step of a task that has ended."""
        self._step_file(task).unlink(missing_ok=True)

    def _step_file(self, task: str) -> Path:
        return self.path / f"{task.replace(os.sep, '-')}.step"
