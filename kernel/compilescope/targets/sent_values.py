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
from .packing_limits import PackingLimits

_PART_OF_FREE = 8
"""The other process and its copies of the values take some more."""
_ALIGNMENT = 64
"""torch aligns its memory to as many bytes."""


class Place(NamedTuple):
    """Where the values of a storage are."""

    offset: int
    size: int


class SentValues:
    """Copies of the values, in this process.

    Parameters
    ----------
    limits
        The bytes are counted for it before any is copied.
    """

    def __init__(self, limits: PackingLimits) -> None:
        self._limits = limits
        self._file = os.fdopen(os.memfd_create("compilescope-values"), "wb", buffering=0)
        self._size = 0
        self._storages: list[tuple[Place, torch.UntypedStorage]] = []
        self.places: dict[int, Place] = {}
        """The number of each storage → its place."""

    @property
    def path(self) -> str:
        """A file name by which another process opens the memory."""
        return f"/proc/{os.getpid()}/fd/{self._file.fileno()}"

    def add(self, number: int, storage: torch.UntypedStorage) -> None:
        """Adds a storage, whose values `copy` copies.

        Raises
        ------
        CompilescopeError
            There are too many.
        """
        if number in self.places:
            return
        size = storage.nbytes()
        self._limits.add(size)
        offset = -(-self._size // _ALIGNMENT) * _ALIGNMENT
        place = self.places[number] = Place(offset, size)
        self._storages.append((place, storage))
        self._size = offset + size

    def copy(self) -> None:
        """Copies the values of all storages.

        Raises
        ------
        CompilescopeError
            It takes too long.
        MemoryError
            Too little memory is free now.
        """
        if self._size > free_memory() / _PART_OF_FREE:
            raise MemoryError("The values of the call's tensors are not copied.")
        for (offset, size), storage in self._storages:
            if not size:
                continue
            values = memoryview((ctypes.c_char * size).from_address(storage.data_ptr())).cast("B")
            for piece in self._limits.pieces(size):
                written = piece.start
                while written < piece.stop:
                    part = values[written : piece.stop]
                    written += os.pwrite(self._file.fileno(), part, offset + written)
        self._storages.clear()

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
        return tensor.untyped_storage().data_ptr() in self._range
