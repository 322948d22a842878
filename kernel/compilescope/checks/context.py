"""The context of a check, and the kinds of its result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ..report.checkup import Check


class CheckContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where checks try things out."""

    folder: Path
    """An empty folder of this checkup's, within torch's cache folder where that is possible."""
    front_end: str = ""
    """The version of the panel that asks; empty if none does."""
    aside: bool = False
    """Whether it runs outside of the caller's code, whose context holds torch's settings."""
    kernel_info: Mapping[str, object] | None = None
    """What the kernel says of itself; None outside of a notebook."""

    def place(self, name: str) -> Path:
        """A folder for one check's files."""
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path


CheckFunction = Callable[[CheckContext], Check]
"""A check: it returns its result."""

CHILD_S = 40.0
"""What a process that a check starts may take."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A process that a check started."""

    code: int
    output: str
    """Both streams."""
    late: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended as it should."""
        return self.code == 0 and not self.late

    @property
    def first(self) -> str:
        """The most informative line: the first with an error, else the last."""
        if self.late:
            return f"It did not end within {CHILD_S:.0f} s."
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
        return (telling or lines[-1:] or [f"It ended with code {self.code}, without output."])[0]


def run(
    command: Sequence[str], *, folder: Path, variables: Mapping[str, str] | None = None
) -> Finished:
    """Runs a command to its end, or for `CHILD_S` seconds; what it started ends with it.

    Raises
    ------
    OSError
        It cannot be started.
    """
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=folder,
        env={**os.environ, **(variables or {})},
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=CHILD_S)
        return Finished(code=process.returncode, output=output)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Finished(code=process.returncode, output=output, late=True)


def python(*arguments: str, folder: Path, variables: Mapping[str, str] | None = None) -> Finished:
    """Runs this Python in a separate process."""
    return run([sys.executable, *arguments], folder=folder, variables=variables)


def ok(name: str, finding: str, *, detail: str = "") -> Check:
    """A check that passed."""
    return Check(name=name, state="ok", finding=finding, detail=detail)


def warning(name: str, finding: str, remedy: str, *, detail: str = "") -> Check:
    """A check that passed with a limitation."""
    return Check(name=name, state="warning", finding=finding, remedy=remedy, detail=detail)


def problem(name: str, finding: str, remedy: str, *, detail: str = "") -> Check:
    """A check that failed."""
    return Check(name=name, state="problem", finding=finding, remedy=remedy, detail=detail)


def not_needed(name: str, finding: str) -> Check:
    """A check of something that is not needed here."""
    return Check(name=name, state="not needed", finding=finding)
