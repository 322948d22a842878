"""Saves tensors by a copy of each storage, and restores them bit for bit.

Changes are found by comparing data: ``_version`` misses writes through ``.data``, NumPy or a
compiled kernel. A storage is written only if it differs, through a separate tensor, so that
restoring neither records a gradient nor increments a version counter.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ..torch_api.operators import tensors
from .saved_python import Change, SavedDict

_INTEGERS = {
    1: torch.uint8,
    2: torch.int16,
    4: torch.int32,
    8: torch.int64,
    # There is none of this width, but torch has all operations for this type.
    16: torch.complex128,
}
"""Item size → a type to read bits with: some types (quantized, of four bits) lack operations."""
_SHARED_BYTES = (torch.quint4x2, torch.quint2x4)
"""Types with several elements in a byte, which have no strides in bytes."""
_HISTORY = "an operation in place was added to its autograd history"


class SavedStorage:
    """The bytes of a storage, copied once even if several views share it."""

    def __init__(self, storage: torch.UntypedStorage, device: torch.device) -> None:
        self.storage = storage
        self.size = storage.nbytes()
        self.copy = _bytes(storage).to(device, copy=True)

    def changed(self) -> bool:
        """Whether any byte or the number of bytes differs."""
        if self.storage.nbytes() != self.size:
            return True
        now = _bytes(self.storage)
        return not torch.equal(now, self.copy.to(now.device))

    def restore(self) -> None:
        """Writes the bytes back if any differs."""
        if self.storage.nbytes() != self.size:
            self.storage.resize_(self.size)
        now = _bytes(self.storage)
        saved = self.copy.to(now.device)
        if not torch.equal(now, saved):
            now.copy_(saved)


class SavedTensor:
    """A tensor without its storage's bytes: geometry, version, gradient, flags and hooks."""

    def __init__(
        self, tensor: torch.Tensor, *, with_data: bool, storage: SavedStorage | None = None
    ) -> None:
        self.tensor = tensor
        self.cls = type(tensor)
        self.with_data = with_data
        self.storage = storage
        # An alias of the same storage, to point the tensor at it again.
        self.alias = torch.Tensor.detach(tensor) if with_data else None
        self.geometry = _geometry(tensor) if with_data else None
        self.whole = tensor.detach().clone() if _is_kept_whole(tensor) else None
        self.version = tensors.version(tensor)
        self.is_leaf = tensor.is_leaf
        self.requires_grad = tensor.requires_grad
        self.history = tensor.grad_fn
        self.has_grad = tensor.is_leaf or tensor.retains_grad
        self.grad = tensors.gradient(tensor)
        self.hooks = [None if hook is None else SavedDict(hook) for hook in tensors.hooks(tensor)]

    def before(self) -> torch.Tensor | None:
        """A tensor with the saved data and layout; None if they were not copied."""
        if self.whole is not None:
            return self.whole
        if self.storage is None or self.geometry is None or self.tensor.is_quantized:
            return None
        _, offset, dtype, device, size, stride = self.geometry
        saved = self.storage.copy
        data = torch.empty(0, dtype=dtype, device=saved.device)
        return data.set_(saved.untyped_storage(), offset, size, stride).to(device)

    def written(self) -> bool:
        """Whether the tensor's own data or geometry differ; others may share its storage.

        Without a copy to compare with, whether its version counter increased.
        """
        if self.storage is None:
            return tensors.version(self.tensor) != self.version
        if _geometry(self.tensor) != self.geometry:
            return True
        if self.tensor.dtype in _SHARED_BYTES:
            return self.storage.changed()
        now = _bits(self.tensor, self.storage.storage)
        return not torch.equal(now, _bits(self.tensor, self.storage.copy).to(now.device))

    def changed(self) -> Iterator[Change]:
        """The differences other than its data: class, gradient, flags, history, hooks."""
        tensor = self.tensor
        if (
            type(tensor) is not self.cls
            or tensor.is_leaf != self.is_leaf
            or tensor.requires_grad != self.requires_grad
            or (not self.is_leaf and tensor.grad_fn is not self.history)
        ):
            yield Change()
        grad = tensors.gradient(tensor)
        if self.has_grad and grad is not self.grad:
            yield Change(".grad", grad)
        for saved, now in zip(self.hooks, tensors.hooks(tensor), strict=True):
            if any(saved.changed()) if saved is not None else now:
                yield Change(".hooks")

    def restore(self) -> None:
        """Restores the tensor; its storage must already have the old bytes.

        Raises
        ------
        RuntimeError
            Autograd keeps a history that cannot be undone.
        """
        tensor = self.tensor
        if type(tensor) is not self.cls:
            tensor.__class__ = self.cls
        if self.whole is not None:
            if tensors.version(tensor) != self.version:
                _put_whole(tensor, self.whole)
        elif self.alias is not None and _geometry(tensor) != self.geometry:
            tensor.data = self.alias
        if self.with_data and self.version is not None and tensors.version(tensor) != self.version:
            tensors.set_version(tensor, self.version)
        if self.is_leaf and not tensor.is_leaf:
            if tensors.is_view(tensor):
                raise RuntimeError(_HISTORY)
            tensor.detach_()
        if tensor.is_leaf and tensor.requires_grad != self.requires_grad:
            tensor.requires_grad_(self.requires_grad)
        if self.has_grad and tensors.gradient(tensor) is not self.grad:
            tensor.grad = self.grad
        for saved, now in zip(self.hooks, tensors.hooks(tensor), strict=True):
            if saved is not None:
                saved.restore()
            elif now:
                now.clear()
        if not self.is_leaf and tensor.grad_fn is not self.history:
            raise RuntimeError(_HISTORY)


class TensorSaver:
    """Saves tensors, each storage once, within half of the free memory."""

    def __init__(self) -> None:
        self.storages: dict[tuple[Any, ...], SavedStorage | None] = {}
        self.tensors: list[tuple[str, SavedTensor]] = []
        self.remaining_bytes: dict[torch.device, float] = {}
        """Device → how many more bytes may be copied there."""

    def save(self, tensor: torch.Tensor, path: str) -> str:
        """Saves a tensor; returns why its data could not be, or an empty string."""
        with tensors.plain():
            if tensors.is_fake(tensor):
                return f"{path}: a {type(tensor).__name__} has no data to save."
            reason, with_data, storage = "", False, None
            if not tensors.is_wrapper(tensor) and not tensor.is_meta:
                with_data = _is_kept_whole(tensor) or tensor.untyped_storage().nbytes() == 0
                if not with_data:
                    storage = self._save_storage(tensor)
                    with_data = storage is not None
                if not with_data:
                    reason = f"{path}: its data do not fit in half of the free memory."
            saved = SavedTensor(tensor, with_data=with_data, storage=storage)
            self.tensors.append((path, saved))
            return reason

    def written(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The tensors whose data changed, by path; each storage is compared once."""
        changed = {
            id(saved_storage)
            for saved_storage in self.storages.values()
            if saved_storage is not None and saved_storage.changed()
        }
        for path, saved in self.tensors:
            moved = saved.geometry is not None and _geometry(saved.tensor) != saved.geometry
            is_unchanged = saved.storage is not None and id(saved.storage) not in changed
            if moved or (not is_unchanged and saved.written()):
                yield path, saved.tensor

    def _save_storage(self, tensor: torch.Tensor) -> SavedStorage | None:
        storage = tensor.untyped_storage()
        size, device = storage.nbytes(), storage.device
        key = (device, storage.data_ptr(), size)
        if key not in self.storages:
            home = next(
                (
                    candidate
                    for candidate in (device, torch.device("cpu"))
                    if self._fits(candidate, size)
                ),
                None,
            )
            self.storages[key] = SavedStorage(storage, home) if home is not None else None
        return self.storages[key]

    def _fits(self, device: torch.device, size: int) -> bool:
        if device not in self.remaining_bytes:
            self.remaining_bytes[device] = free_bytes(device) / 2
        fits = size <= self.remaining_bytes[device]
        if fits:
            self.remaining_bytes[device] -= size
        return fits


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    """A flat tensor over the whole storage, in the widest integers that divide it."""
    dtype = torch.int64 if storage.nbytes() % 8 == 0 else torch.uint8
    return torch.empty(0, dtype=dtype, device=storage.device).set_(storage)


def _bits(tensor: torch.Tensor, data: torch.UntypedStorage | torch.Tensor) -> torch.Tensor:
    """A tensor's own elements, as bytes, out of a storage or of a copy of one."""
    storage = data.untyped_storage() if isinstance(data, torch.Tensor) else data
    dtype = _INTEGERS[tensor.element_size()]
    elements = torch.empty(0, dtype=dtype, device=storage.device)
    elements.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
    # A flat tensor may have gaps or repeat one element: bytes can only be read of adjacent ones.
    return elements.reshape(-1).contiguous().view(torch.uint8)


def _put_whole(tensor: torch.Tensor, saved: torch.Tensor) -> None:
    """Restores the data of a sparse or nested tensor."""
    if tensor.layout in (torch.strided, torch.jagged, torch.sparse_coo):
        tensor.data = saved.clone()
        return
    # For compressed tensors an assignment of `data` has no effect.
    with torch.no_grad():
        tensor.resize_as_sparse_(saved).copy_(saved)


def _geometry(tensor: torch.Tensor) -> tuple[Any, ...]:
    if _is_kept_whole(tensor):
        return (tensor.layout, tensor.dtype, *tensors.sizes(tensor))
    return (
        tensor.untyped_storage().data_ptr(),
        tensor.storage_offset(),
        tensor.dtype,
        tensor.device,
        tensor.size(),
        tensor.stride(),
    )


def _is_kept_whole(tensor: torch.Tensor) -> bool:
    """Whether it is sparse or nested: it has no strides, or is of several parts."""
    return tensor.layout != torch.strided or tensor.is_nested


def free_bytes(device: torch.device) -> float:
    """The free memory of a device; infinite if unknown."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    meminfo = Path("/proc/meminfo")
    if device.type == "cpu" and meminfo.exists():
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return float("inf")
