"""The result of a call of the subject: copies of its outputs, gradients and changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec
import torch

from ...isolation.own_backward import Backward, UsedUpError
from ...isolation.saved_tensors import free_bytes
from ...isolation.state_changes import changed_tensors
from ...isolation.user_state import Snapshot
from ...torch_api.operators import tensors
from ...torch_api.operators.numpy_values import from_numpy


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Copies, made immediately: a call may return one of its arguments, which is then restored."""

    outputs: dict[str, Any]
    """Where in the output → a detached copy of the tensor, or the value; for NumPy's numbers,
    a tensor."""
    gradients: dict[str, torch.Tensor]
    has_backward: bool = False
    """Whether an output requires a gradient, so that a backward ran after the call."""
    is_used_up: bool = False
    """Whether the call ran the outputs' backward itself, so that it could not run again."""
    changes: dict[str, torch.Tensor] = {}
    """Tensors that the call wrote to or replaced: parameters that an optimizer stepped, BatchNorm's
    statistics, arguments. For a gradient, its final value."""
    unchecked: str = ""
    """Why the changes were left out, if they were."""

    def values(self) -> dict[str, Any]:
        """All of them by path; gradients are at ``<where the tensor is>.grad``."""
        named = {f"{path}.grad": gradient for path, gradient in self.gradients.items()}
        return {**self.outputs, **self.changes, **named}


def outcome_of(
    output: Any,
    backward: Backward | None,
    copy: Callable[[torch.Tensor], Any] = lambda tensor: tensor.detach().clone(),
    subjects_own: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Outcome:
    """Copies the outputs and runs the backward of those that have one.

    The gradient of each output is one. If the subject ran its own backward, no backward is left to
    run: its gradients are those that it computed.

    Parameters
    ----------
    backward
        Runs the backward: the snapshot's method. None if the backward is no part of the call.
    copy
        Makes the copy of a tensor.
    subjects_own
        Makes a context for the backward, which is the only code of the subject that runs here.
    """
    values = dict(leaves(output))
    outputs = {
        path: copy(value) if isinstance(value, torch.Tensor) else from_numpy(value)
        for path, value in values.items()
    }
    if backward is None:
        return Outcome(outputs=outputs, gradients={})
    roots = [
        value
        for value in values.values()
        if isinstance(value, torch.Tensor)
        and value.requires_grad
        and value.grad_fn is not None
        and not value.is_complex()
    ]
    of_inputs: dict[str, torch.Tensor] = {}
    is_used_up = False
    if roots:
        output_gradients = [torch.ones_like(root) for root in roots]
        with subjects_own():
            try:
                of_inputs = backward.run(roots, output_gradients)
            except UsedUpError:
                is_used_up = True
    gradients = {**backward.gradients(), **of_inputs}
    return Outcome(
        outputs=outputs,
        gradients={path: copy(gradient) for path, gradient in gradients.items()},
        has_backward=bool(roots) and not is_used_up,
        is_used_up=is_used_up,
    )


def with_changes(
    outcome: Outcome,
    snapshot: Snapshot,
    copy: Callable[[torch.Tensor], Any] = lambda tensor: tensor.detach().clone(),
) -> Outcome:
    """Adds copies of what the call changed in place; call it before the snapshot is restored.

    They are left out if they would take more than a quarter of the free memory.
    """
    changed = changed_tensors(snapshot)
    sizes: dict[torch.device, int] = {}
    with tensors.plain():
        for tensor in changed.values():
            sizes[tensor.device] = sizes.get(tensor.device, 0) + tensors.size_bytes(tensor)
        if any(size > free_bytes(device) / 4 for device, size in sizes.items()):
            return msgspec.structs.replace(outcome, unchecked=TOO_MUCH)
        copies = {path: copy(tensor) for path, tensor in changed.items()}
    return msgspec.structs.replace(outcome, changes=copies)


def leaves(
    value: Any, path: str = "output", around: frozenset[int] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """The tensors and plain values in an output, with their paths.

    Looks into tuples, lists, mappings and dataclasses: what models return. ``around`` are the ids
    of the containers around the value, which are not entered again.
    """
    parts = _parts(value)
    if parts is None:
        yield path, value
    elif id(value) not in around:
        for step, part in parts:
            yield from leaves(part, path + step, around | {id(value)})


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """The parts of a container, with the last step of their paths; None if it is none."""
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        names = getattr(value, "_fields", None)
        return [(f".{names[i]}" if names else f"[{i}]", item) for i, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        # A field that __init__ does not set may have no value.
        return [(f".{name}", getattr(value, name)) for name in names if hasattr(value, name)]
    return None


TOO_MUCH = (
    "What the call changes in place is not compared: a copy would take more than a quarter of the "
    "free memory."
)
