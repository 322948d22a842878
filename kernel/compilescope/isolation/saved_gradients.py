"""Saves the gradients of the leaves that a tensor was computed from.

A call that runs its own backward also runs that of the graph in which its arguments were computed,
up to parameters that the call does not reach in any other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..torch_api.operators import tensors
from .saved_python import Change


def upstream_leaves(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the leaves that a tensor's gradient reaches; none for a leaf."""
    with tensors.plain():
        pending: list[Any] = [tensor.grad_fn]
    seen: set[Any] = set()
    leaves: list[torch.Tensor] = []
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        # A node that accumulates a gradient has the leaf.
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, torch.Tensor):
            leaves.append(leaf)
        pending.extend(following for following, _ in node.next_functions)
    return leaves


class SavedGradients:
    """The gradients of some leaves: the tensors and copies of their data."""

    def __init__(self, leaves: Sequence[torch.Tensor]) -> None:
        with tensors.plain():
            self._saved = [(leaf, leaf.grad, _copy(leaf.grad)) for leaf in leaves]

    def changed(self) -> Iterator[Change]:
        """Whether any of them differs."""
        with tensors.plain():
            if any(_differs(leaf, grad, copy) for leaf, grad, copy in self._saved):
                yield Change()

    def restore(self) -> None:
        """Restores each leaf's gradient and its data."""
        with tensors.plain():
            for leaf, grad, copy in self._saved:
                if not _differs(leaf, grad, copy):
                    continue
                if grad is not None and copy is not None and not torch.equal(grad, copy):
                    grad.copy_(copy)
                leaf.grad = grad


def _copy(grad: torch.Tensor | None) -> torch.Tensor | None:
    """A copy; None for a sparse gradient, to which autograd adds by making another."""
    return grad.clone() if grad is not None and grad.layout is torch.strided else None


def _differs(leaf: torch.Tensor, grad: torch.Tensor | None, copy: torch.Tensor | None) -> bool:
    if leaf.grad is not grad:
        return True
    return grad is not None and copy is not None and not torch.equal(grad, copy)
