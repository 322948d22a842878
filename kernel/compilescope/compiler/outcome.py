"""What a call of the subject gave: copies of its outputs, and the gradients it leads to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import torch


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Copies, made at once: what a call returns may be one of its arguments, which is put back."""

    outputs: dict[str, Any]
    """Where in the output → a detached copy of the tensor, or the value."""
    gradients: dict[str, torch.Tensor]


def outcome_of(output: Any, gradients: Callable[[], Mapping[str, torch.Tensor]]) -> Outcome:
    """Copies the outputs and runs the backward of those that have one.

    The gradient of each output is taken as one. A subject that ran its own backward has nothing
    left to run: its gradients are what it left.
    """
    found = dict(leaves(output))
    outputs = {path: _copy(value) for path, value in found.items()}
    roots = [
        value
        for value in found.values()
        if isinstance(value, torch.Tensor)
        and value.requires_grad
        and value.grad_fn is not None
        and not value.is_complex()
    ]
    if roots:
        try:
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
        except RuntimeError as error:
            if "second time" not in str(error):
                raise
    return Outcome(outputs=outputs, gradients={k: _copy(v) for k, v in gradients().items()})


def leaves(value: Any, path: str = "output") -> Iterator[tuple[str, Any]]:
    """The tensors and plain values in an output, with where they are.

    Looks into tuples, lists, mappings and dataclasses: what models return.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, f"{path}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        names = getattr(value, "_fields", None)
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}.{names[index]}" if names else f"{path}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), f"{path}.{field.name}")
    else:
        yield path, value


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value
