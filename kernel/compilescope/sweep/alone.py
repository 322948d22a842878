"""One cell at a time measures on a device, while others may compile, but not then.

Locks of files, which end with the process that holds them: cells that run on one machine share
them, whoever started them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

CPU = "cpu"


class Device:
    """A device of this machine, shared with other cells or held alone."""

    def __init__(self, name: str = CPU) -> None:
        self._name = ""
        self._file: IO[bytes] | None = None
        self.use(name)

    def use(self, name: str) -> None:
        """Shares a device, in place of the one before; waits while somebody holds it alone."""
        if name == self._name:
            return
        if self._file is not None:
            self._file.close()
        self._name = name
        self._file = _open(name)
        fcntl.flock(self._file, fcntl.LOCK_SH)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Holds it alone in the block; waits until nobody else uses it."""
        assert self._file is not None, "a device is in use from the start"
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_SH)


def _open(name: str) -> IO[bytes]:
    folder = Path(tempfile.gettempdir()) / f"compilescope-{os.getuid()}-devices"
    folder.mkdir(mode=0o700, exist_ok=True)
    return (folder / re.sub(r"\W+", "-", name)).open("wb")
