"""The sizes that ``torch.export`` may make dynamic: all those of a call's tensors.

Relies on ``torch.utils._pytree`` (tree_leaves): the same in 2.11 to 2.15. Nothing public lists the
tensors in all the containers that ``torch.export`` accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

_CODE = """\
shapes = torch.export.ShapesCollection()
for value in {}:
    if isinstance(value, torch.Tensor):
        shapes[value] = [torch.export.Dim.AUTO] * value.dim()
"""
_DIRECT = "(*args, *kwargs.values())"
_NESTED = "torch.utils._pytree.tree_leaves((args, kwargs))"


def has_nested_tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether tensors are in containers among the arguments."""
    return any(
        isinstance(leaf, torch.Tensor)
        for value in (*args, *kwargs.values())
        if not isinstance(value, torch.Tensor)
        for leaf in pytree.tree_leaves(value)
    )


def dynamic_shapes_code(*, nested: bool) -> str:
    """The code that assigns to ``shapes`` the ``dynamic_shapes`` for ``args`` and ``kwargs``.

    Parameters
    ----------
    nested
        Whether it looks for tensors in containers, too.
    """
    return _CODE.format(_NESTED if nested else _DIRECT)


def dynamic_shapes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What the code assigns for a call."""
    names: dict[str, Any] = {"torch": torch, "args": tuple(args), "kwargs": dict(kwargs)}
    exec(dynamic_shapes_code(nested=has_nested_tensors(args, kwargs)), names)
    return names["shapes"]
