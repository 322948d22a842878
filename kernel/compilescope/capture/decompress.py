"""Reads the bytes of a trace file: decompressed, and in UTF-8."""

from __future__ import annotations

import codecs
import contextlib
import importlib
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from ..report.problem import Problem

MAX_BYTES = 1 << 29
"""The decompressed size allowed for any compressed file, since a small file can contain any
amount."""
_MAX_RATIO = 100
"""The allowed compression ratio; traces have ratios from ten to forty."""
_ALWAYS_BYTES = 1 << 24
"""The decompressed size that is allowed however small the file is."""
_PIECE = 1 << 20
_ZSTD_PIECE = 1 << 12
"""A larger piece might decompress to more than the memory holds: to up to 32,768 times its size."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UTF16 = {codecs.BOM_UTF16_LE: 3, codecs.BOM_UTF16_BE: 2}
"""The file's first bytes → the positions of zero bytes, since a trace begins in ASCII."""


class Unpacked(NamedTuple):
    """A file's text."""

    data: bytes
    problem: Problem | None = None
    """The problem if a part is missing, and why."""


def unpack(path: Path) -> Unpacked:
    """Read a file, plain or compressed.

    Raises
    ------
    OSError
        It cannot be read.
    """
    text = io.BytesIO()
    problem = unpack_into(path, text)
    return Unpacked(in_utf8(text.getvalue()), problem)


def unpack_into(path: Path, target: BinaryIO) -> Problem | None:
    """Write a file's decompressed bytes, and return the problem if a part is missing.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with path.open("rb") as file:
        magic = file.read(len(_ZSTD))
        most = min(MAX_BYTES, max(_ALWAYS_BYTES, file.seek(0, io.SEEK_END) * _MAX_RATIO))
        file.seek(0)
        if magic.startswith(_GZIP):
            import gzip  # a plain log needs none of it

            # One read of the stream at a time, to keep the data before any damage.
            return _copy(gzip.GzipFile(fileobj=file).read1, target, path.name, most)
        if magic.startswith(_ZSTD):
            module = _zstd()
            if module is None:
                return _no_zstd(path.name)
            return _copy(_zstd_reader(module, file), target, path.name, most)
        while piece := file.read(_PIECE):
            target.write(piece)
    return None


def is_compressed(magic: bytes) -> bool:
    """Whether `unpack` decompresses a file with this beginning."""
    return magic.startswith((_GZIP, _ZSTD))


def is_utf8(magic: bytes) -> bool:
    """Whether a trace with this beginning is in UTF-8 without a byte order mark."""
    return not magic.startswith(codecs.BOM_UTF8) and not _is_utf16(magic)


def in_utf8(data: bytes) -> bytes:
    """A trace's text in UTF-8, whatever its encoding."""
    if _is_utf16(data):
        # PowerShell writes redirected output this way.
        data = data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _is_utf16(data: bytes) -> bool:
    zero = _UTF16.get(data[:2])
    return zero is not None and data[zero : zero + 1] == b"\0"


def _copy(read: Callable[[int], bytes], target: BinaryIO, name: str, most: int) -> Problem | None:
    size = 0
    try:
        while piece := read(_PIECE):
            target.write(piece)
            size += len(piece)
            if size > most:
                return _too_large(name, most)
    except _damage_errors():
        return _damaged(name) if size else _unreadable(name)
    return None


def _damage_errors() -> tuple[type[Exception], ...]:
    import gzip

    module = _zstd()
    zstd = () if module is None else (cast(type[Exception], module.ZstdError),)
    return (gzip.BadGzipFile, EOFError, zlib.error, *zstd)


def _zstd() -> Any:
    """Python's own module for zstd (3.14 and newer), otherwise the package, otherwise None."""
    for name in ("compression.zstd", "zstandard"):
        # Any folder of that name is a package "compression", which has no zstd then.
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return None


def _zstd_reader(module: Any, file: BinaryIO) -> Callable[[int], bytes]:
    """Read a file with one of the modules of `_zstd`."""
    if hasattr(module, "ZstdFile"):
        return cast(BinaryIO, module.ZstdFile(file)).read
    pieces = _zstd_pieces(module, file)
    return lambda size: next(pieces, b"")


def _zstd_pieces(module: Any, file: BinaryIO) -> Iterator[bytes]:
    """Decompress with zstandard, whose own reader ends silently where a frame is cut off."""
    data = file.read(_ZSTD_PIECE)
    while data:
        frame = module.ZstdDecompressor().decompressobj()
        while not frame.eof:
            if not data:
                raise EOFError
            if piece := frame.decompress(data):
                yield piece
            data = frame.unused_data or file.read(_ZSTD_PIECE)


def _damaged(name: str) -> Problem:
    return Problem(
        severity="warning",
        what=f"{name} is truncated or corrupt; nothing after that point is read.",
        why="The compressed file ends too early, or a piece of it is not what was written.",
        remedy="What could be unpacked is shown. Copy the trace again to have all.",
    )


def _unreadable(name: str) -> Problem:
    return Problem(
        severity="error",
        what=f"{name} cannot be unpacked.",
        why="It begins as a compressed file, but its first bytes are damaged or cut off.",
        remedy="Copy the trace again.",
    )


def _too_large(name: str, most: int) -> Problem:
    return Problem(
        severity="warning",
        what=f"{name} unpacks to more than {most >> 20} MiB: the rest is not read.",
        why="A small compressed file may unpack to more than fits in memory.",
        remedy="What was unpacked is shown. Unpack the file yourself to have all.",
    )


def _no_zstd(name: str) -> Problem:
    return Problem(
        severity="error",
        what=f"{name} cannot be unpacked.",
        why="It is compressed with zstd, which Python reads from 3.14 on.",
        remedy="Run pip install zstandard, or unpack it (zstd -d) and open the result.",
    )
