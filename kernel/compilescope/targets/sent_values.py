"""Memory that holds the values of a call's tensors, for another process on this machine.

It belongs to no file that could be left over: it is freed when the last process closes it. The
other process maps it privately, so that what it writes is seen by nobody else.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import NamedTuple

import torch

from ..processes.free_memory import free_memory
from ..report.errors import CompilescopeError

_AT_MOST = 1 << 30
_PART_OF_FREE = 8
"""The other process and its copies of the values take some more."""
_ALIGNMENT = 64
"""torch aligns its memory to as many bytes."""
_CHUNK = 1 << 28


class Place(NamedTuple):
    """Where the values of a storage are."""

    offset: int
    size: int


class SentValues:
    """Copies of the values, in this process."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.memfd_create("compilescope-values"), "wb", buffering=0)
        self._size = 0
        self._most = min(_AT_MOST, free_memory() / _PART_OF_FREE)
        self.places: dict[int, Place] = {}
        """The number of each storage → its place."""

    @property
    def path(self) -> str:
        """A file name by which another process opens the memory."""
        return f"/proc/{os.getpid()}/fd/{self._file.fileno()}"

    def add(self, number: int, storage: torch.UntypedStorage) -> None:
        """Copies the values of a storage.

        Raises
        ------
        CompilescopeError
            There are too many.
        """
        size = storage.nbytes()
        if number in self.places:
            return
        offset = -(-self._size // _ALIGNMENT) * _ALIGNMENT
        if offset + size > self._most:
            raise CompilescopeError(
                "The values of the call's tensors cannot be sent to another process.",
                f"They take more than {self._most / 1e6:.0f} MB.",
            )
        if size:
            values = memoryview((ctypes.c_char * size).from_address(storage.data_ptr())).cast("B")
            written = 0
            while written < size:
                part = values[written : written + _CHUNK]
                written += os.pwrite(self._file.fileno(), part, offset + written)
        self.places[number] = Place(offset, size)
        self._size = offset + size

    def close(self) -> None:
        """Frees the memory, unless another process has mapped it."""
        self._file.close()


class ReceivedValues:
    """The values in the other process.

    Parameters
    ----------
    path, places
        As in `SentValues`.
    """

    def __init__(self, path: str, places: dict[int, Place]) -> None:
        self._places = places
        self._memory: mmap.mmap | None = None
        self._range = range(0)
        if any(size for _, size in places.values()):
            with open(path, "rb") as file:  # noqa: PTH123 - it is no path of a folder
                self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            start = torch.frombuffer(self._memory, dtype=torch.uint8).data_ptr()
            self._range = range(start, start + len(self._memory))

    def storage(self, number: int) -> torch.UntypedStorage:
        """The storage of this number, each time a new one of the same memory."""
        offset, size = self._places[number]
        if not size:
            return torch.empty(0, dtype=torch.uint8).untyped_storage()
        assert self._memory is not None, "it is mapped if something has a size"
        part = torch.frombuffer(self._memory, dtype=torch.uint8, count=size, offset=offset)
        return part.untyped_storage()

    def has(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's data are those of the other process."""
        storage = tensor.untyped_storage()
        return storage.data_ptr() in self._range or not storage.nbytes()
