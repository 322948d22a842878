"""Tensors without data on a device that is not there.

Stands on ``torch._subclasses.fake_tensor`` (FakeTensorMode, init_gpu_context), on tensors of a fake
mode sharing a storage by ``set_`` and taking their mode along when they are copied, and on
``torch.UntypedStorage.clone``, which copying a graph's constants comes down to; the same from 2.11
to 2.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def fake_mode() -> Any:
    """A mode for the process."""
    from torch._subclasses import fake_tensor

    module: Any = fake_tensor
    # It would allocate on the device, for the sake of autograd.
    module.init_gpu_context = lambda device: None
    storages: Any = torch.UntypedStorage
    storages.clone = _clone
    # A tensor's copy would be one of a mode of its own, with copies of the weak references to
    # storages that are in it. torch counts those down when they go, but not up when they are
    # copied: memory in use would be freed.
    module.FakeTensorMode.__deepcopy__ = lambda self, memo: self
    return fake_tensor.FakeTensorMode(allow_non_fake_inputs=True)


def _clone(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """A storage is made by tensors: only they know of the device."""
    whole = torch.empty(0, dtype=torch.uint8, device=storage.device)
    return whole.set_(storage).clone().untyped_storage()


def storage(mode: Any, nbytes: int, device: str) -> torch.UntypedStorage:
    """Memory that is not there."""
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
    """A tensor of the mode, in memory of its own or in that of others."""
    with mode, torch.no_grad():
        if storage is None:
            result = torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device=device)
        else:
            result = torch.empty(0, dtype=dtype, device=device)
            result.set_(storage, offset, tuple(size), tuple(stride))
    return result.requires_grad_(requires_grad) if requires_grad else result
