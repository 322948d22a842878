"""The cache folder of compiled kernels, shared by all targets' processes: bounded, LRU."""

from __future__ import annotations

import contextlib
import os
import zlib
from pathlib import Path

import msgspec

from ..assembly_request import Assembled

MAX_BYTES = 500_000_000
"""Of all files; each is a kernel under one configuration, compressed."""

_SHARE_AFTER_PRUNING = 0.8
"""Of what is allowed: so much is left where it was too much, so that it seldom is."""


def pack(assembled: Assembled) -> bytes:
    """What is put into a file."""
    return zlib.compress(msgspec.msgpack.encode(assembled), 1)


def read(file: Path) -> Assembled | None:
    """What is in a file; None where there is none, or it was cut short. It counts as new again."""
    try:
        assembled = msgspec.msgpack.decode(zlib.decompress(file.read_bytes()), type=Assembled)
    except (OSError, zlib.error, msgspec.MsgspecError):
        return None
    with contextlib.suppress(OSError):
        os.utime(file)
    return assembled


def prune(folder: Path, most_bytes: float = MAX_BYTES) -> None:
    """Removes the files that were not used for the longest time, if there is too much.

    Other processes may read, write and prune meanwhile: what is gone for one of them is compiled
    again.
    """
    files: list[tuple[float, int, str]] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                files.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    if total <= most_bytes:
        return
    for _, size, path in sorted(files):
        if total <= _SHARE_AFTER_PRUNING * most_bytes:
            return
        with contextlib.suppress(OSError):
            Path(path).unlink()
        total -= size
