"""Reads the heads of a log's records block by block, without its texts in memory.

A head contains a record's kind, its compilation and, for most events, all its data. Texts are read
on demand, by the record's offset in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import msgspec

_FIRST_BYTES, _BLOCK_BYTES = 64 << 10, 4 << 20
"""The buffer's size for a small log, and for a large one: larger ones are no faster."""
_NEWLINE = b"\n"[0]
_CONTINUES = b"\t\r\n"
"""A line that begins so belongs to the record before it: it is of its text, or blank."""

EVERY_HEAD = re.compile(rb'\n(?![\t\r\n])(?:[A-Z]\d{4} [^\n\]]*\] (\{"(\w+)"[^\n]*))?')
"""The newline before each record, its metadata and event; neither if a line is not a record."""

FEW_HEADS = re.compile(
    rb"\n(?![\t\r\n])"
    rb'(?![A-Z][^\n\]]*\] \{"(?:chromium_event|describe_s|describe_t[^\n]*"frame_id"))'
    rb"(?:[A-Z](\d{4} \d\d:\d\d:\d\d)\.(\d{6}) \d+ [^\s\]][^\n\]]*:\d+\] "
    rb'(\{"(\w+)"))?'
)
"""The same with the second and the microsecond, without spans and the tensors of a compilation.

Those are most of all records. It ends after the event, as `Block.line_end` is faster where metadata
has kilobytes.
"""

ARTIFACT_NAME = re.compile(rb'"name": "([^"\\]*)"')
"""Matches the name in an artifact's metadata."""

_NO_TEXT = re.compile(rb"\n[^\t\r\n]")
_BLANK = re.compile(rb"\n{2,}")


class Head(msgspec.Struct):
    """The fields of any record's metadata that say where it belongs."""

    compiled_autograd_id: int | None = None
    frame_id: int | None = None
    frame_compile_id: int | None = None
    attempt: int | None = None
    has_payload: str | None = None


decode_head = msgspec.json.Decoder(Head).decode


class Block(NamedTuple):
    """A part of a log from the newline before a record to the end of a record."""

    buffer: bytearray
    """Reused: valid until the next block is requested."""
    end: int
    """Its end in the buffer."""
    offset: int
    """The offset of the buffer's first byte in the file; -1 for the newline before the file's first
    line."""

    def line_end(self, position: int) -> int:
        """The end of the line that a position is in."""
        end = self.buffer.find(b"\n", position, self.end)
        return self.end if end < 0 else end

    def payload_at(self, head_end: int) -> bytes:
        """The text after the head that ends there; empty if there is none."""
        if head_end + 1 >= self.end or self.buffer[head_end + 1] not in _CONTINUES:
            return b""
        return unindented(bytes(self.buffer[head_end : self._text_end(head_end)]))

    def record_at(self, newline: int) -> bytes:
        """The record after a newline, with its text."""
        text_end = self._text_end(self.line_end(newline + 1))
        return bytes(self.buffer[newline + 1 : text_end])

    def _text_end(self, head_end: int) -> int:
        following = _NO_TEXT.search(self.buffer, head_end, self.end)
        return self.end if following is None else following.start()


def unindented(text: bytes) -> bytes:
    r"""A payload as torch wrote it: without the ``\n\t`` before each of its lines."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    return without_tabs(text)


def without_tabs(text: bytes) -> bytes:
    """A payload of lines that end in a newline, as torch wrote it.

    A blank line is not torch's, which indents those too: a system that collects logs added it.
    """
    text = text.strip(b"\n")
    if b"\n\n" in text:
        text = _BLANK.sub(b"\n", text)
    return text.replace(b"\n\t", b"\n")[1:]


def checksum_of(payload: bytes) -> str:
    """The checksum that torch logs with a payload."""
    import hashlib  # for milliseconds that the first view of a log does not need

    return hashlib.md5(payload).hexdigest()


class Blocks:
    """A log that continues reading where the last call stopped.

    Parameters
    ----------
    file
        Open for binary reading; it may grow.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._buffer = bytearray(_FIRST_BYTES)
        self._buffer[0] = _NEWLINE
        self._remaining = 1
        """How many bytes at the beginning of the buffer are in no block yet."""
        self._offset = -1

    @property
    def position(self) -> int:
        """The read position in the file, in bytes."""
        return self._offset + self._remaining

    @property
    def next_offset(self) -> int:
        """The offset of the first record that is in no block yet."""
        return self._offset + 1

    def complete(self) -> Iterator[Block]:
        """The records that are followed by another one, so that their text is complete."""
        is_full = False
        while True:
            # The caller may read elsewhere in the file between blocks.
            self._file.seek(self.position)
            is_small = is_full and len(self._buffer) < _BLOCK_BYTES
            if is_small or self._remaining > len(self._buffer) // 2:
                self._buffer = self._buffer + bytearray(len(self._buffer))
            with memoryview(self._buffer) as view:
                size = self._file.readinto(view[self._remaining :])  # type: ignore[attr-defined]
            if not size:
                return
            end = self._remaining + size
            is_full = end == len(self._buffer)
            boundary = _last_boundary(self._buffer, end)
            if boundary > 0:
                yield Block(self._buffer, boundary, self._offset)
            self._remaining = end - boundary
            self._buffer[: self._remaining] = self._buffer[boundary:end]
            self._offset += boundary

    def last(self) -> Block | None:
        """The data after the complete records: the file's last record, or a part of it."""
        end = self._remaining - (self._buffer[self._remaining - 1] == _NEWLINE)
        return Block(self._buffer, end, self._offset) if end > 1 else None

    def take_last(self) -> None:
        """Skip `last`: later data begins another record."""
        self._offset += self._remaining - 1
        self._buffer[0], self._remaining = _NEWLINE, 1

    def last_is_complete(self) -> bool:
        """Whether the last record is whole: its line ends, and its text has the checksum."""
        block = self.last()
        if block is None or self._buffer[self._remaining - 1] != _NEWLINE:
            return False
        head = EVERY_HEAD.match(block.buffer, 0, block.end)
        if head is None or head[1] is None:
            return True
        try:
            expected = decode_head(head[1]).has_payload
        except msgspec.DecodeError:
            return True
        return expected in (None, checksum_of(block.payload_at(head.end())))


def _last_boundary(buffer: bytearray, end: int) -> int:
    """The last newline before ``end`` that is followed by a record; 0 if only the first one is."""
    newline = buffer.rfind(b"\n", 0, end - 1)
    while newline > 0 and buffer[newline + 1] in _CONTINUES:
        newline = buffer.rfind(b"\n", 0, newline)
    return max(newline, 0)
