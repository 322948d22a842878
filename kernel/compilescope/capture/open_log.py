"""Opens a trace file as logs of single processes that can be read at any offset."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..report.problem import Problem
from .decompress import in_utf8, is_compressed, is_utf8, unpack_into
from .parse_log import by_rank, names_ranks

_BEGINNING = 1 << 20
"""How many bytes of a file are examined for lines that name ranks."""


class Log(NamedTuple):
    """The log of one process."""

    file: BinaryIO
    rank: int | None = None
    """The rank, if each line names it."""
    grows: bool = True
    """Whether later additions to the path can be read here."""


class OpenLogs(NamedTuple):
    """The logs in one file."""

    logs: list[Log]
    problem: Problem | None = None
    """The problem if a part of the file is missing."""


def open_logs(path: Path) -> OpenLogs:
    """Open a trace file: a plain file in place, any other as a private copy.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with path.open("rb") as opened:
        beginning = opened.read(_BEGINNING)
    plain = not is_compressed(beginning) and is_utf8(beginning)
    if plain and not names_ranks(beginning):
        return OpenLogs([Log(path.open("rb"))])
    import tempfile  # a plain log needs no copy, and may take less time than this import

    copy: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the trace
    problem = unpack_into(path, copy)
    copy.seek(0)
    beginning = copy.read(_BEGINNING)
    copy.seek(0)
    if not is_utf8(beginning):
        text = in_utf8(copy.read())
        copy.close()
        copy, beginning = io.BytesIO(text), text[:_BEGINNING]
    if not names_ranks(beginning):
        return OpenLogs([Log(copy, grows=False)], problem)
    parts = by_rank(copy.read())
    copy.close()
    return OpenLogs([Log(io.BytesIO(text), rank, grows=False) for rank, text in parts], problem)
