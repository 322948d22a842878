"""Errors of a build that may pass by themselves, or once something is installed."""

from __future__ import annotations

import subprocess

_TYPES = (OSError, MemoryError, ImportError, subprocess.TimeoutExpired)
_WORDS = (
    "no space left on device",
    "disk quota exceeded",
    "read-only file system",
    "input/output error",
    "out of memory",
    "cannot allocate memory",
    "memory exhausted",
    "killed",
    "terminated signal",
    "timed out",
    "too many open files",
    "resource temporarily unavailable",
    "permission denied",
    # A compiler, a header or a library that may be installed.
    "no such file or directory",
    "not found",
    "cannot find",
    "invalidcxxcompiler",
)
"""As compilers, linkers and the system word it."""


def may_pass(error: BaseException) -> bool:
    """Whether another try may do better with the same code and the same versions.

    Parameters
    ----------
    error
        With what it was raised from: torch wraps errors in its own.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        text = f"{type(current).__name__}: {current}".lower()
        if isinstance(current, _TYPES) or any(words in text for words in _WORDS):
            return True
        current = current.__cause__ or current.__context__
    return False
