"""Tensors without data on a device that this machine lacks.

Relies on ``torch._subclasses.fake_tensor`` (FakeTensorMode, init_gpu_context), on fake tensors
sharing a storage by ``set_`` and keeping their mode when they are copied, and on
``torch.UntypedStorage.clone``, which torch calls to copy a graph's constants; the same from 2.11 to
2.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def fake_mode() -> Any:
    """The process's fake mode."""
    from torch._subclasses import fake_tensor

    module: Any = fake_tensor
    # It would allocate on the device for autograd.
    module.init_gpu_context = lambda device: None
    storages: Any = torch.UntypedStorage
    storages.clone = _clone
    # Copying a tensor would copy its mode, with the mode's weak references to storages. torch
    # decrements their count when they are deleted, but does not increment it when they are copied,
    # so it would free memory in use.
    module.FakeTensorMode.__deepcopy__ = lambda self, memo: self
    return fake_tensor.FakeTensorMode(allow_non_fake_inputs=True)


def _clone(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Clones a storage through a tensor, because only tensors know the device."""
    whole = torch.empty(0, dtype=torch.uint8, device=storage.device)
    return whole.set_(storage).clone().untyped_storage()


def storage(mode: Any, nbytes: int, device: str) -> torch.UntypedStorage:
    """A storage without memory."""
    with mode:
        return torch.empty(nbytes, dtype=torch.uint8, device=device).untyped_storage()


def tensor(
    mode: Any,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: torch.dtype,
    *,
    device: str,
    requires_grad: bool,
    storage: torch.UntypedStorage | None,
    offset: int,
) -> torch.Tensor:
    """A tensor of the mode, in its own storage or in a shared one."""
    with mode, torch.no_grad():
        if storage is None:
            result = torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device=device)
        else:
            result = torch.empty(0, dtype=dtype, device=device)
            result.set_(storage, offset, tuple(size), tuple(stride))
    return result.requires_grad_(requires_grad) if requires_grad else result
