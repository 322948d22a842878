"""The cause of a crash in what a process wrote to its error stream."""

from __future__ import annotations

import re

NOISE = "Extension modules: "
"""Begins the very long line at the end of Python's report of a crash."""
_FATAL = re.compile(r"^Fatal Python error: .*$", re.MULTILINE)
_CURRENT = "Current thread "
"""Begins the stack of the thread that crashed, among those of all threads."""
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (\S+)', re.MULTILINE)
_RANK = re.compile(r"^\[rank\d+\]: ?")
"""What torch writes before each line of a traceback."""


def last_words(errors: str) -> str:
    """Python's fatal error with its innermost frame, or the last line; empty if there is neither.

    Examples
    --------
    >>> last_words('''Fatal Python error: Segmentation fault
    ...
    ... Thread 0x02 (most recent call first):
    ...   File "b.py", line 9 in wait
    ...
    ... Current thread 0x01 (most recent call first):
    ...   File "a.py", line 3 in f
    ...
    ... Extension modules: numpy''')
    'Fatal Python error: Segmentation fault, in f (a.py:3)'
    >>> last_words("[rank1]: ValueError: no data")
    'ValueError: no data'
    """
    fatal_errors = list(_FATAL.finditer(errors))
    if fatal_errors:
        fatal = fatal_errors[-1]
        start = errors.find(_CURRENT, fatal.end())
        frame = _FRAME.search(errors, start) if start >= 0 else None
        return fatal[0] + (f", in {frame[3]} ({frame[1]}:{frame[2]})" if frame else "")
    lines = [line for line in errors.splitlines() if line.strip() and not line.startswith(NOISE)]
    return _RANK.sub("", lines[-1]).strip() if lines else ""
