"""Models spread over ranks: FSDP's modules, and tensors of which each rank has a part.

Stands on public names alone, and loads none of them: who has such a model has loaded them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch


def sharded_modules(objects: Iterable[object]) -> list[Any]:
    """Those of the objects that ``fully_shard`` was applied to."""
    cls: Any = getattr(sys.modules.get("torch.distributed.fsdp"), "FSDPModule", None)
    return [] if cls is None else [module for module in objects if issubclass(type(module), cls)]


def reshard(modules: Iterable[Any]) -> None:
    """Has FSDP's modules hold this rank's part of their parameters again, as between two steps.

    After a forward whose backward is still to come some hold the whole of them.
    """
    for module in modules:
        module.reshard()


def own_part(tensor: torch.Tensor) -> torch.Tensor:
    """The part that this rank has of a tensor that is spread over ranks; any other as it is."""
    cls: Any = getattr(sys.modules.get("torch.distributed.tensor"), "DTensor", None)
    if cls is None or not issubclass(type(tensor), cls):
        return tensor
    part: torch.Tensor = tensor.to_local()  # type: ignore[attr-defined]  # a DTensor has it
    return part
