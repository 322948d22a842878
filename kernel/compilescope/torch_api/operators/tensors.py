"""Reads and restores tensors without autograd or a subclass noticing.

Relies on ``torch._C.DisableTorchFunctionSubclass``, ``_autograd._unsafe_set_version_counter``,
``Tensor._backward_hooks``, ``Tensor._post_accumulate_grad_hooks`` and ``torch.utils._pytree``: the
same in 2.11 to 2.15.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_leaves


@contextmanager
def plain() -> Iterator[None]:
    """Turns off subclasses' ``__torch_function__`` and the recording of gradients in the block."""
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        yield


def version(tensor: torch.Tensor) -> int | None:
    """The tensor's version counter; None for an inference tensor, which has none."""
    return None if tensor.is_inference() else tensor._version


def set_version(tensor: torch.Tensor, value: int) -> None:
    """Sets the version counter, which views and ``detach()`` share, to an earlier value.

    Correct only if the tensor holds the data of that version again: then a graph that saved it
    before can still run its backward.
    """
    torch._C._autograd._unsafe_set_version_counter((tensor,), (value,))


def sizes(tensor: torch.Tensor) -> list[int | str]:
    """The tensor's sizes; ``*`` where the parts of a nested tensor differ in size.

    A nested tensor with the layout ``torch.strided`` has no ``size()``.
    """
    if not tensor.is_nested or tensor.layout != torch.strided:
        return list(tensor.size())
    every = [part.size() for part in tensor.unbind()]
    parts = [each[0] if len(set(each)) == 1 else "*" for each in zip(*every, strict=True)]
    return [len(every), *(parts or ["*"] * (tensor.dim() - 1))]


def size_bytes(tensor: torch.Tensor) -> int:
    """The size of the tensor's elements, and of a sparse tensor's indices.

    A sparse tensor's ``nbytes`` raises.
    """
    match tensor.layout:
        case torch.sparse_coo:
            parts = [tensor._indices(), tensor._values()]
        case torch.sparse_csr | torch.sparse_bsr:
            parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
        case torch.sparse_csc | torch.sparse_bsc:
            parts = [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
        case _:
            return tensor.nbytes
    return sum(part.nbytes for part in parts)


def hooks(tensor: torch.Tensor) -> list[dict[int, Any] | None]:
    """The tensor's own dicts of hooks (backward, after accumulation); None before the first one."""
    return [tensor._backward_hooks, tensor._post_accumulate_grad_hooks]


def is_view(tensor: torch.Tensor) -> bool:
    """Whether autograd knows the tensor as a view of another."""
    return tensor._is_view()


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether the tensor has no data of its own (fake, functional, inside a transform)."""
    return (
        isinstance(tensor, torch._subclasses.FakeTensor)
        or torch._is_functional_tensor(tensor)
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def makes_fake_tensors() -> bool:
    """Whether a ``FakeTensorMode`` is active, under which new tensors have no data."""
    return torch._guards.active_fake_mode() is not None


def is_wrapper(tensor: torch.Tensor) -> bool:
    """Whether the tensor is a subclass that carries out its own operations.

    Its data are other tensors in its ``__dict__``, or can be read only by running its code.
    """
    cls = type(tensor)
    dispatch = cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
    return hasattr(cls, "__tensor_flatten__") or dispatch


def is_plain_view(tensor: torch.Tensor) -> bool:
    """Whether a view shows its base's values unchanged, only other elements of it."""
    return tensor._is_view() and not (tensor.is_conj() or tensor.is_neg())


def memory_of(tensor: torch.Tensor) -> tuple[int, int]:
    """The tensor's memory, identified by a number, and its size in bytes."""
    storage = tensor.untyped_storage()
    return storage._cdata, storage.nbytes()


def has_other_values(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether some arguments, or what is in them, are neither tensors nor None.

    Examples
    --------
    >>> has_other_values([torch.ones(2)], {"mask": None}), has_other_values([{"scale": 0.5}], {})
    (False, True)
    """
    leaves = tree_leaves((list(args), dict(kwargs)))
    return any(leaf is not None and not isinstance(leaf, torch.Tensor) for leaf in leaves)


def gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor's gradient; None without a warning if autograd keeps none for it."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None
