"""Temporary folders that are removed even if the process that made them crashes.

Each contains a file that its process has locked. The lock is released when the process ends, so a
folder whose lock is free is abandoned: the next process that makes a folder removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "compilescope-"
_LOCK = ".in-use"


@contextlib.contextmanager
def temporary(kind: str = "") -> Iterator[Path]:
    """A new folder that is removed after the block, or later by another process.

    Parameters
    ----------
    kind
        A part of its name, to know it by.

    Raises
    ------
    OSError
        There is no room for it.
    """
    remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}{kind and '-'}"))
    try:
        # Locked before it gets its name, so that it is never found unlocked while this process
        # lives.
        unnamed = folder / f"{_LOCK}.new"
        with unnamed.open("xb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            unnamed.rename(folder / _LOCK)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def remove_abandoned(place: Path) -> None:
    """Removes this user's folders there whose processes have ended; looks once in a process."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    # What is not there was not made by `temporary`; what is a link is not followed.
    number = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    with os.fdopen(number, "r+b", 0) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
