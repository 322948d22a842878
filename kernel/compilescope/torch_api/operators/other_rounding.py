"""Runs a computation in which every operator rounds its result differently.

Compiled code rounds differently from eager: sums have another order, and fused operators are not
rounded in between. How far that changes a result depends on the program: a value that crosses zero
before a ReLU, or a gradient in which large terms cancel, changes by far more than one rounding
step. Here each operator's result is changed at random by up to two rounding steps, so that the
spread of a few runs shows the effect of rounding alone (the idea of Monte Carlo arithmetic).

Stands on ``torch.utils._python_dispatch.TorchDispatchMode``, which also sees the operators that
autograd runs, and on ``FunctionSchema.is_mutable`` and ``Argument.alias_info`` of operators.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import tensors
from .double_precision import arguments_written

_STEPS = 2
"""The most rounding steps by which a result is changed: a sum in another order differs by a few."""


class OtherRounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode under which operators round differently; use `with_other_rounding`.

    Parameters
    ----------
    seed
        The seed of the rounding's own random numbers; the program's are not touched.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if _is_rounded(leaf)]
        result = func(*args, **kwargs)
        # A result without tensor arguments is a constant or random.
        if not inputs or torch.Tag.nondeterministic_seeded in func.tags:
            return result
        storages = {tensor.untyped_storage()._cdata for tensor in inputs}
        changed = [
            leaf
            for leaf in tree_leaves(result)
            if _is_rounded(leaf) and leaf.untyped_storage()._cdata not in storages
        ]
        for tensor in (*changed, *filter(_is_rounded, arguments_written(func, args, kwargs))):
            self._round(tensor)
        return result

    def _round(self, tensor: torch.Tensor) -> None:
        generator = self._generators.get(tensor.device)
        if generator is None:
            generator = torch.Generator(tensor.device).manual_seed(self._seed)
            self._generators[tensor.device] = generator
        steps = torch.randint(
            -_STEPS, _STEPS + 1, tensor.shape, generator=generator, device=tensor.device
        )
        tensor.add_(tensor * steps * torch.finfo(tensor.dtype).eps)


@contextlib.contextmanager
def with_other_rounding(seed: int) -> Iterator[None]:
    """Runs the block in eager, each operator's result changed by up to two rounding steps."""
    stance: Any = torch.compiler.set_stance
    with stance("force_eager"), OtherRounding(seed):
        yield


def _is_rounded(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and (value.is_floating_point() or value.is_complex())
        and value.dtype.itemsize > 1
        and value.layout == torch.strided
        and not value.is_meta
        and not tensors.is_wrapper(value)
        and value.untyped_storage().nbytes() > 0
    )
