"""Lets one cell at a time measure on a device; other cells compile only while none measures.

The file locks are released when their process ends. All cells on a machine share them, whichever
sweep started them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..report.errors import CompilescopeError

CPU = "cpu"


class Device:
    """A device of this machine, shared with other cells or held alone."""

    def __init__(self, name: str = CPU) -> None:
        self._name = ""
        self._file: IO[bytes] | None = None
        self.use(name)

    def use(self, name: str) -> None:
        """Locks a device for shared use, in place of an earlier one."""
        if name == self._name:
            return
        if self._file is not None:
            self._file.close()
        self._name = name
        self._file = _open(name)
        fcntl.flock(self._file, fcntl.LOCK_SH)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Holds it exclusively in the block; waits until it is unused."""
        assert self._file is not None, "a device is in use from the start"
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_SH)


def _open(name: str) -> IO[bytes]:
    file = _folder() / re.sub(r"\W+", "-", name)
    # Never through a link, and what is there is left as it is: only the lock is wanted.
    return os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b", 0)


def _folder() -> Path:
    """The folder of the locks, which only this user can write to.

    Raises
    ------
    CompilescopeError
        Each place for it is somebody else's.
    """
    # On a machine that several people use, anybody can make a folder by this name first. A home
    # may be shared by machines, whose devices are not each other's.
    places = (
        Path(tempfile.gettempdir()) / f"compilescope-{os.getuid()}-devices",
        Path.home() / ".cache" / "compilescope" / f"devices-{platform.node()}",
    )
    folder = next(filter(_is_ours, places), None)
    if folder is not None:
        return folder
    raise CompilescopeError(
        "There is no folder for the locks of this machine's devices.",
        f"{' and '.join(map(str, places))} cannot be made, or others can write there.",
        "Remove the first, or set TMPDIR to a folder of your own.",
    )


def _is_ours(folder: Path) -> bool:
    """Whether such a folder exists that only this user can write to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    mode = status.st_mode
    return stat.S_ISDIR(mode) and status.st_uid == os.getuid() and not mode & 0o022
