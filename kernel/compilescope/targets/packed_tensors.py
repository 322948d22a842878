"""Descriptions of tensors, and tensors that are created from them: with their data, if sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.parameter import UninitializedTensorMixin  # type: ignore[attr-defined]

from ..report.errors import CompilescopeError
from ..torch_api.operators import tensors

if TYPE_CHECKING:
    from .sent_values import ReceivedValues
    from .worker.world import World


class PlainTensor(NamedTuple):
    """A tensor that is no view of another."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    device: str
    requires_grad: bool
    memory: int
    """Which memory it is in; the number says nothing else."""
    offset: int
    inference: bool
    """It was made in inference mode."""
    parameter: bool
    value: float | None = None
    """Of a number, a tensor without dimensions on the CPU: the symbols of Dynamo have it."""
    cast: bool = False
    """It is a view of a tensor of another dtype, whose sizes Dynamo reads."""


class View(NamedTuple):
    """A tensor that autograd knows as a view of another."""

    base: torch.Tensor
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    requires_grad: bool
    value: float | None = None


class SubclassTensor(NamedTuple):
    """A subclass's tensor, which holds others."""

    subclass: type[Any]
    inner: dict[str, torch.Tensor]
    context: object
    size: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool
    parameter: bool


def reduce_tensor(tensor: torch.Tensor) -> tuple[Any, ...]:
    """The function that restores a tensor, and its arguments, as ``__reduce__`` returns them.

    Raises
    ------
    CompilescopeError
        Its shape alone does not describe it.
    """
    described = _described(tensor)
    is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    attributes = dict(tensor.__dict__) if is_plain else {}
    grad = tensor.grad if tensor.is_leaf else None
    state = (attributes, grad) if attributes or grad is not None else None
    return (described,), state, None, None, _complete


def _described(tensor: torch.Tensor) -> PlainTensor | View | SubclassTensor:
    if isinstance(tensor, UninitializedTensorMixin):
        raise _refused(tensor, "It has no shape before the first call: call the subject once.")
    parameter = isinstance(tensor, torch.nn.Parameter)
    if tensors.is_wrapper(tensor) and not tensors.is_fake(tensor):
        if not hasattr(tensor, "__tensor_flatten__"):
            raise _refused(tensor, "It does not say what it is made of (__tensor_flatten__).")
        names, context = tensor.__tensor_flatten__()
        return SubclassTensor(
            subclass=type(tensor),
            inner={name: getattr(tensor, name) for name in names},
            context=context,
            size=tuple(tensor.size()),
            stride=tuple(tensor.stride()),
            requires_grad=tensor.requires_grad,
            parameter=parameter,
        )
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise _refused(tensor, f"Its layout is {tensor.layout}, not a plain one.")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) and not tensors.is_fake(tensor):
        raise _refused(tensor, "A description of it does not keep its class.")
    size, stride, offset = (
        tuple(tensor.size()),
        tuple(tensor.stride()),
        int(tensor.storage_offset()),
    )
    base = tensor._base
    if base is not None and base.dtype == tensor.dtype and tensors.is_plain_view(tensor):
        return View(base, size, stride, offset, tensor.requires_grad, _number(tensor))
    return PlainTensor(
        size=size,
        stride=stride,
        dtype=tensor.dtype,
        device=tensor.device.type,
        requires_grad=tensor.requires_grad,
        memory=tensors.memory_of(tensor)[0],
        offset=offset,
        inference=tensor.is_inference(),
        parameter=parameter,
        value=_number(tensor),
        cast=base is not None and base.dtype != tensor.dtype,
    )


def _number(tensor: torch.Tensor) -> float | None:
    is_real = not tensor.is_complex() and not tensors.is_fake(tensor)
    return tensor.item() if is_real and not tensor.dim() and tensor.is_cpu else None


class Rebuilding:
    """Makes the tensors of one call.

    Parameters
    ----------
    world
        Where.
    moves
        What was on the CPU, or nowhere (meta), is on the target; else it stays there.
    shared
        Memory that several tensors are in → its size.
    values
        Their data; None: they have none.
    """

    def __init__(
        self,
        world: World,
        moves: bool,
        shared: dict[int, int],
        values: ReceivedValues | None = None,
    ) -> None:
        self._values = values
        self._world = world
        self._moves = moves
        self._shared = shared
        self._storages: dict[int, torch.UntypedStorage] = {}

    def device(self, name: str) -> torch.device:
        """The device that one of the subject's is there."""
        return self._world.device(name, moves=self._moves)

    def tensor(self, described: PlainTensor | View | SubclassTensor) -> torch.Tensor:
        """The tensor that is described."""
        if isinstance(described, PlainTensor):
            return self._rebuild_plain(described)
        if isinstance(described, View):
            with self._world.mode, torch.set_grad_enabled(described.requires_grad):
                view = described.base.as_strided(described.size, described.stride, described.offset)
            self._world.fill(view, described.value)
            return view
        subclass_tensor = described.subclass.__tensor_unflatten__(
            described.inner, described.context, described.size, described.stride
        )
        if described.parameter:
            return torch.nn.Parameter(subclass_tensor, requires_grad=described.requires_grad)
        return subclass_tensor.requires_grad_(described.requires_grad)  # type: ignore[no-any-return]

    def _rebuild_plain(self, described: PlainTensor) -> torch.Tensor:
        if described.cast and (self._world.traces_only or self._values is not None):
            raise CompilescopeError(
                "A view of a tensor of another dtype cannot be traced in another process.",
                "Its sizes would be named otherwise.",
            )
        device = self.device(described.device).type
        storage = self._storage(described.memory, device)
        with torch.inference_mode(described.inference):
            tensor: torch.Tensor = self._world.tensor(
                described.size,
                described.stride,
                described.dtype,
                device=device,
                requires_grad=described.requires_grad and not described.parameter,
                storage=storage,
                offset=described.offset,
            )
            self._world.fill(tensor, described.value)
            if described.parameter:
                return torch.nn.Parameter(tensor, requires_grad=described.requires_grad)
            return tensor

    def _storage(self, memory: int, device: str) -> torch.UntypedStorage | None:
        """The memory of a tensor; None if it has its own, whose content was not sent."""
        has_values = self._values is not None and device == "cpu"
        if not has_values and memory not in self._shared:
            return None
        storage = self._storages.get(memory)
        if storage is None:
            if self._values is not None and has_values:
                storage = self._values.storage(memory)
            else:
                storage = self._world.storage(self._shared[memory], device)
            self._storages[memory] = storage
        return storage


def _complete(tensor: torch.Tensor, state: tuple[dict[str, Any], torch.Tensor | None]) -> None:
    attributes, grad = state
    tensor.__dict__.update(attributes)
    if grad is not None:
        tensor.grad = grad


def _refused(tensor: torch.Tensor, why: str) -> CompilescopeError:
    name = type(tensor).__name__
    return CompilescopeError(
        f"A {name} of shape {_size(tensor)} cannot be sent to the target's process.", why
    )


def _size(tensor: torch.Tensor) -> object:
    try:
        return list(tensor.shape)
    except RuntimeError:
        return "unknown"
