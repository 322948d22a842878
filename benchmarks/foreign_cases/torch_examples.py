"""The examples that PyTorch's own developers keep of what its tracer meets, from torch's package.

Control flow, data-dependent shapes, closures, mutation, decorators, containers: the database of
``torch.export`` (``torch._export.db``). They come with torch, in the version that is there, and
nothing of them is copied.
"""

from __future__ import annotations

import copy
import functools

import torch
from torch._export.db.examples import all_examples

from .cases import CASES, Made


def _add(name: str) -> None:
    def make() -> Made:
        example = all_examples()[name]
        # Made at import: the benchmark's device and seed come after that.
        args, kwargs = torch.utils._pytree.tree_map(
            _anew, (example.example_args, example.example_kwargs)
        )
        # Some change their model, which the next call is to find as it was.
        model = copy.deepcopy(example.model).to(torch.get_default_device())
        return (functools.partial(model, **kwargs) if kwargs else model), args

    CASES[f"torch_{name}"] = make


def _anew(value: object) -> object:
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(torch.get_default_device()).clone()


for _name in all_examples():
    _add(_name)
