"""Transient errors of a build, and errors that installing something fixes."""

from __future__ import annotations

import errno
import os
import subprocess

ENGLISH = {"LC_ALL": "C"}
"""Environment variables of the build process: `is_transient` parses the output of compilers."""
_TYPES = (OSError, MemoryError, ImportError, subprocess.TimeoutExpired)
_TORCH_TYPES = ("InvalidCxxCompiler",)
"""By name: torch may not have been imported yet."""
_SYSTEM = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.ENOMEM),
    *(errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EACCES, errno.EPERM),
    errno.ENOENT,  # a compiler, a header or a library that may be installed
)
_WORDS = (
    *(os.strerror(number).lower() for number in _SYSTEM),
    "out of memory",
    "memory exhausted",
    "killed",
    "terminated signal",
    "timed out",
    "not found",
    "cannot find",
)
"""Messages of compilers, linkers and the system under `ENGLISH`."""


def is_transient(error: BaseException) -> bool:
    """Whether a retry may succeed with the same code and the same versions.

    Parameters
    ----------
    error
        The error with its causes: torch wraps errors in its own.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, _TYPES) or type(current).__name__ in _TORCH_TYPES:
            return True
        if isinstance(current, subprocess.CalledProcessError) and current.returncode < 0:
            return True  # a signal ended it, and it wrote nothing
        text = str(current).lower()
        if any(words in text for words in _WORDS):
            return True
        current = current.__cause__ or current.__context__
    return False
