"""The bytes of a trace file: unpacked, and in UTF-8."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path
from typing import NamedTuple

from ..report.problem import Problem

MOST_BYTES = 1 << 29
"""How much a compressed file may unpack to: a small file can hold any amount."""
_PIECE = 1 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UTF16 = {codecs.BOM_UTF16_LE: 3, codecs.BOM_UTF16_BE: 2}
"""The file's first bytes → where a zero follows, since a trace begins in ASCII."""


class Unpacked(NamedTuple):
    """A file's text."""

    data: bytes
    problem: Problem | None = None
    """What of it is missing, and why."""


def unpack(path: Path) -> Unpacked:
    """Read a file, plain or compressed.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with path.open("rb") as file:
        begin = file.read(len(_ZSTD))
        if begin.startswith(_ZSTD):
            return Unpacked(b"", _no_zstd(path.name))
        if not begin.startswith(_GZIP):
            return Unpacked(_in_utf8(begin + file.read()))
        file.seek(0)
        parts: list[bytes] = []
        problem = None
        size = 0
        try:
            with gzip.GzipFile(fileobj=file) as packed:
                # One read of the stream at a time: what comes before damage is kept.
                while piece := packed.read1(_PIECE):
                    parts.append(piece)
                    size += len(piece)
                    if size > MOST_BYTES:
                        problem = _too_large(path.name)
                        break
        except (gzip.BadGzipFile, EOFError, zlib.error):
            problem = _damaged(path.name)
    return Unpacked(_in_utf8(b"".join(parts)), problem)


def _in_utf8(data: bytes) -> bytes:
    zero = _UTF16.get(data[:2])
    if zero is not None and data[zero : zero + 1] == b"\0":
        # PowerShell writes so what it redirects.
        data = data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _damaged(name: str) -> Problem:
    return Problem(
        severity="warning",
        what=f"{name} is cut or damaged: what comes behind the damage is not read.",
        why="The compressed file ends too early, or a piece of it is not what was written.",
        remedy="What could be unpacked is shown. Copy the trace again to have all.",
    )


def _too_large(name: str) -> Problem:
    return Problem(
        severity="warning",
        what=f"{name} unpacks to more than {MOST_BYTES >> 20} MiB: the rest is not read.",
        why="A small compressed file may unpack to more than the memory holds.",
        remedy="What was unpacked is shown. Unpack the file yourself to have all.",
    )


def _no_zstd(name: str) -> Problem:
    return Problem(
        severity="error",
        what=f"{name} cannot be unpacked.",
        why="It is compressed with zstd, which is not read here.",
        remedy="Unpack it (zstd -d), and open the result.",
    )
