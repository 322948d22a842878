"""Runs work in a separate process: watched, limited, and ended with all its children.

Work that may crash, hang or use all memory runs there, and measurements there start from a fresh
process. `run` is the waiting side; `processes.child` is the process itself. This module does not
import torch: on a cluster it runs in the worker, which stays small.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
import psutil

from ..package_folder import PACKAGE
from .folders import temporary

TASK, HEADER, RESULT, STEPS, CACHES = "task", "header.json", "result", "steps", "caches"
"""Files in the process's folder: what it is given, and what it leaves."""
WAITING = "waiting"
"""The step whose time does not count against the limit: the process waits for another one."""

_POLL_S = 0.1
_MEMORY_EVERY_S = 0.2
_ERRORS_BYTES = 64_000
UNSET_VARIABLES = ("TORCH_TRACE", "TORCH_COMPILE_DEBUG", "TORCH_LOGS_OUT")
"""Variables by which torch would write into the user's own folders."""


Ending = Literal["done", "crashed", "timeout", "memory", "cancelled"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a process; None: no limit."""

    timeout_s: float | None = None
    """The time limit (s), not counting the steps in which the process waits."""
    memory_bytes: float | None = None
    """The memory limit of the process and its descendants together."""


class Ended(msgspec.Struct, kw_only=True):
    """How a process ended."""

    how: Ending
    exit_code: int | None = None
    """Its exit code; if negative, the number of the signal that ended it."""
    errors: str = ""
    """The end of what it wrote to standard error."""
    result: bytes = b""
    took_s: float = 0.0
    pid: int = 0
    peak_bytes: float = 0.0
    """The highest observed memory of the process and its children; 0 without a limit."""


def run(
    command: Sequence[str],
    task: bytes,
    *,
    header: Mapping[str, Any],
    limits: Limits,
    cancelled: Callable[[], bool] = lambda: False,
    stepped: Callable[[str], None] = lambda step: None,
    variables: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Ended:
    """Runs ``python command… FOLDER`` and waits for it.

    Parameters
    ----------
    command
        Arguments of Python: ``("-m", "compilescope.sweep.cell_process")``.
    task, header
        What the process is given: bytes, and what JSON knows. Of the header ``cwd`` and
        ``sys_path`` are used to start it: modules that the caller can import, it can too.
    cancelled
        Asked many times a second; once true, the process is ended.
    stepped
        Called with each step that the process says it begins.
    variables
        Environment variables besides this process's own.
    folder
        Where torch's caches of the process are; by default an empty folder of its own.

    Raises
    ------
    OSError
        The process cannot be started, or the disk is full.
    """
    with temporary() as place:
        (place / TASK).write_bytes(task)
        (place / HEADER).write_text(json.dumps(dict(header)), encoding="utf-8")
        caches = folder or place / CACHES
        if folder is None:
            caches.mkdir()
        process = _start(command, place, caches, header, variables or {})
        errors = Tail(process)
        start = time.perf_counter()
        watch = _Watch(process, place / STEPS, limits, stepped)
        try:
            how = watch.until_end(cancelled)
        finally:
            end(process)
            errors.join()
        result = place / RESULT
        payload = result.read_bytes() if how == "done" and result.exists() else b""
        if how == "done" and (process.returncode != 0 or not payload):
            how = "crashed"
        return Ended(
            how=how,
            exit_code=process.returncode,
            errors=errors.text(),
            result=payload,
            took_s=time.perf_counter() - start,
            pid=process.pid,
            peak_bytes=watch.peak_bytes,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process with all that it started, whatever state it is in, and waits for that."""
    children: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        children = psutil.Process(process.pid).children(recursive=True)
    # It leads a process group, which contains its children and outlives it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.kill()
    process.wait()
    if process.stdin is not None:
        # Closing flushes what the process did not read, which fails as it has ended.
        with contextlib.suppress(OSError):
            process.stdin.close()


def describe_exit(code: int | None) -> str:
    """An exit code in words: ``signal 11 (SIGSEGV)``, ``exit code 3``."""
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def _start(
    command: Sequence[str],
    place: Path,
    caches: Path,
    header: Mapping[str, Any],
    variables: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in UNSET_VARIABLES}
    environment |= {
        "TORCHINDUCTOR_CACHE_DIR": str(caches),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        "PYTHONPATH": os.pathsep.join(import_path(header.get("sys_path", []))),
        **variables,
    }
    folder = header.get("cwd")
    return subprocess.Popen(
        [sys.executable, *command, str(place)],
        # Held open while this process lives: when it closes, the child ends itself.
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=folder if folder and Path(folder).is_dir() else None,
        # An interrupt of the notebook's is not the process's.
        start_new_session=True,
    )


def search_path() -> list[str]:
    """``sys.path`` without what is not text, such as a `Path`: Python ignores that, too."""
    entries: list[object] = list(sys.path)
    return [entry for entry in entries if isinstance(entry, str)]


def import_path(caller_path: Sequence[str]) -> list[str]:
    """The caller's folders, where they are here too, and this package's own."""
    own_path = str(PACKAGE.resolve().parent)
    usual = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # The child adds the installation's folders itself, in their own order.
    extra = [name for name in caller_path if name and name not in _STANDARD and Path(name).exists()]
    return list(dict.fromkeys(name for name in [*extra, own_path, *usual] if name))


_STANDARD = frozenset(
    path for path in search_path() if "site-packages" in path or path == sys.prefix
)


class Tail:
    """The end of what a process writes to its error stream; it may write without end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None, "it was started with a pipe"
        self._text = bytearray()
        self._thread = threading.Thread(
            target=self._read, args=(process.stderr,), name="compilescope-errors", daemon=True
        )
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while piece := stream.read1(8192):  # type: ignore[attr-defined]  # it is buffered
                self._text += piece
                del self._text[:-_ERRORS_BYTES]

    def join(self) -> None:
        """Waits for the process's last words, once it has ended."""
        # A process that left the group may hold the pipe open forever.
        self._thread.join(2.0)

    def text(self) -> str:
        """The part of the output that is kept."""
        return bytes(self._text).decode(errors="replace")


class _Watch:
    """Watches a process until it ends or has to be ended."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        steps: Path,
        limits: Limits,
        stepped: Callable[[str], None],
    ) -> None:
        self._process = process
        self._steps = steps
        self._limits = limits
        self._stepped = stepped
        self._step = ""
        self._read = 0
        self.peak_bytes = 0.0

    def until_end(self, cancelled: Callable[[], bool]) -> Ending:
        """Why it ended; "done" is also what ended by itself with an error."""
        spent, before, looked = 0.0, time.monotonic(), 0.0
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_S)
                self._read_steps()
                return "done"
            now = time.monotonic()
            if self._step != WAITING:
                spent += now - before
            before = now
            self._read_steps()
            if cancelled():
                return "cancelled"
            if self._limits.timeout_s is not None and spent > self._limits.timeout_s:
                return "timeout"
            # Checking takes some milliseconds, during which the process may be measuring.
            if self._limits.memory_bytes is not None and now - looked >= _MEMORY_EVERY_S:
                looked = now
                held = _memory_bytes(self._process.pid, self._limits.memory_bytes)
                self.peak_bytes = max(self.peak_bytes, held)
                if held > self._limits.memory_bytes:
                    return "memory"

    def _read_steps(self) -> None:
        try:
            text = self._steps.read_text(encoding="utf-8")
        except OSError:
            return
        # The last line may be half written.
        lines = text.split("\n")[:-1]
        for line in lines[self._read :]:
            self._step = line
            self._stepped(line)
        self._read = len(lines)


def _memory_bytes(pid: int, limit: float) -> float:
    """The memory of a process and of all that it started (bytes).

    In a plain sum, shared pages count several times. Only if that sum exceeds the limit are pages
    divided among the processes, which stops them for a moment.
    """
    try:
        parent = psutil.Process(pid)
        family = [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return 0.0
    held = 0.0
    for process in family:
        with contextlib.suppress(psutil.Error):
            held += process.memory_info().rss
    if held <= limit:
        return held
    return sum(_shared_out(member) for member in family)


def _shared_out(process: psutil.Process) -> float:
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return float(line.split()[1]) * 1024
    except OSError:
        with contextlib.suppress(psutil.Error):
            return float(process.memory_info().rss)
    return 0.0
