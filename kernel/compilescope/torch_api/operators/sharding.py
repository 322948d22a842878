"""Models sharded over ranks: FSDP's modules and distributed tensors.

Relies on public names alone, and imports none of them: a process with such a model has already
imported them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch


def sharded_modules(objects: Iterable[object]) -> list[Any]:
    """The objects to which ``fully_shard`` was applied."""
    cls: Any = getattr(sys.modules.get("torch.distributed.fsdp"), "FSDPModule", None)
    return [] if cls is None else [module for module in objects if issubclass(type(module), cls)]


def reshard(modules: Iterable[Any]) -> None:
    """Makes FSDP's modules hold only this rank's shard of their parameters, as between two steps.

    After a forward and before its backward some of them hold whole parameters.
    """
    for module in modules:
        module.reshard()


def own_part(tensor: torch.Tensor) -> torch.Tensor:
    """The local shard of a distributed tensor; any other tensor unchanged."""
    cls: Any = getattr(sys.modules.get("torch.distributed.tensor"), "DTensor", None)
    if cls is None or not issubclass(type(tensor), cls):
        return tensor
    part: torch.Tensor = tensor.to_local()  # type: ignore[attr-defined]  # a DTensor has it
    return part
