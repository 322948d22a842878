"""Notices what Python code is about to change outside of its process, before it happens.

Python reports such operations as audit events. `system_calls` also covers code in C, and what no
event is for.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
"""Flags with which a file is opened to be changed."""

_SOURCES = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}
"""Devices from which anyone may read without taking something from someone else."""

_FORBIDDEN = {
    "builtins.input", "fcntl.flock", "fcntl.lockf", "os.chflags", "os.chmod", "os.chown",
    "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.link", "os.lockf",
    "os.posix_spawn", "os.remove", "os.removexattr", "os.rename", "os.rmdir",
    "os.setxattr", "os.spawn", "os.symlink", "os.system", "os.truncate", "os.utime",
    "pty.spawn", "sqlite3.connect", "subprocess.Popen", "syslog.openlog", "syslog.syslog",
    "tempfile.mkdtemp", "tempfile.mkstemp", "webbrowser.open",
}  # fmt: skip
_FORBIDDEN_KINDS = {"ftplib", "http", "imaplib", "poplib", "shutil", "smtplib", "socket", "urllib"}
_HARMLESS = {"socket.gethostname"}

_NO_DESCRIPTOR = -1


def watch(found: Callable[[str], None]) -> None:
    """Calls a function with the event, in the thread that is about to change something.

    It does so until the process ends: a hook cannot be removed.
    """

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if changes(event, arguments):
            found(event)

    sys.addaudithook(hook)


def changes(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an audit event says that something outside of the process may change.

    Examples
    --------
    >>> changes("open", ("x.txt", "w", os.O_WRONLY | os.O_CREAT)), changes("os.listdir", (".",))
    (True, False)
    """
    if event == "open":
        return _opens_for_change(*arguments)
    if event == "os.mkdir":
        folder, _, descriptor = arguments
        # A path below a descriptor is another one than it looks.
        return descriptor != _NO_DESCRIPTOR or not os.path.isdir(folder)  # noqa: PTH112 - or bytes
    if event in _FORBIDDEN:
        return True
    return event.partition(".")[0] in _FORBIDDEN_KINDS and event not in _HARMLESS


def _opens_for_change(file: Any, mode: Any, flags: int) -> bool:
    if flags & WRITING or (isinstance(mode, str) and not {"w", "a", "x", "+"}.isdisjoint(mode)):
        return True
    if isinstance(file, int):
        return False
    # Reading from a pipe, a socket or a terminal takes what someone else may wait for.
    try:
        kind = Path(os.fsdecode(file)).stat().st_mode
    except (OSError, ValueError):
        return False
    is_plain = stat.S_ISREG(kind) or stat.S_ISDIR(kind)
    return not is_plain and os.path.realpath(os.fsdecode(file)) not in _SOURCES
