"""The backward of a call's result, which ends at the call's arguments."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

from ..torch_api.operators.tensors import plain, version

_SECOND_TIME = "second time"
"""Part of torch's message if a graph is freed."""


class UsedUpError(RuntimeError):
    """The call has run this backward itself: what it saved is freed, or an optimizer changed it."""


class Backward:
    """Runs a call's backward and nothing beyond it.

    An argument may be the result of computations outside the call: ``attend(x.sin(), y)``. Their
    graph is the user's: a backward through it would free what it saved, so that the user's own
    backward fails, and would add to gradients that the call does not reach.

    Parameters
    ----------
    tensors
        The tensors that the call reaches, by path, as they are before it: a call that writes to one
        in place changes where its gradient comes from.
    has_gradients
        Whether somebody wants the gradients afterwards.
    """

    def __init__(self, tensors: Mapping[str, torch.Tensor], *, has_gradients: bool = True) -> None:
        self._tensors = tensors
        self._has_gradients = has_gradients
        with plain():
            self._computed = {
                path: get_gradient_edge(tensor)
                for path, tensor in tensors.items()
                if tensor.requires_grad and not tensor.is_leaf
            }
            self._versions = [version(leaf) for leaf in self._leaves()]

    def run(
        self, roots: Sequence[torch.Tensor], output_gradients: Sequence[torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        """Runs it, and accumulates the gradients of leaves; if it fails, they are unchanged.

        Returns
        -------
        dict of str to Tensor
            The gradients of the other tensors, by path.

        Raises
        ------
        UsedUpError
            The call has run it before.
        """
        try:
            return self._run(roots, output_gradients)
        except RuntimeError as error:
            if self._is_used_up(str(error)):
                raise UsedUpError(str(error)) from error
            raise

    def is_plain(self) -> bool:
        """Whether ``torch.autograd.backward`` does the same, if no leaf holds a gradient.

        No argument was computed outside the call.
        """
        return not self._computed

    @contextmanager
    def without_old_gradients(self) -> Iterator[None]:
        """Leaves hold no gradients in the block, and those from before it afterwards."""
        with plain():
            before = [(leaf, leaf.grad) for leaf in self._leaves()]
            for leaf, _ in before:
                leaf.grad = None
        try:
            yield
        finally:
            with plain():
                for leaf, gradient in before:
                    leaf.grad = gradient

    def _run(
        self, roots: Sequence[torch.Tensor], output_gradients: Sequence[torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        if not self._computed:
            with self._accumulated_at_the_end():
                torch.autograd.backward(roots, output_gradients)
            return {}
        if self._are_overwritten():
            try:
                torch.autograd.backward(roots, output_gradients)
            except RuntimeError as error:
                # The graphs of earlier calls follow that of this one, and are freed.
                if _SECOND_TIME not in str(error):
                    raise
            return {}
        # torch.autograd.backward would run the function that computed an input, too.
        with plain():
            leaves = self._leaves()
        ends: list[Any] = [*leaves, *self._computed.values()]
        gradients: Sequence[torch.Tensor | None] = torch.autograd.grad(
            roots, ends, output_gradients, allow_unused=True
        )
        self._accumulate(leaves, gradients)
        if not self._has_gradients:
            return {}
        others = zip(self._computed, gradients[len(leaves) :], strict=True)
        return {path: gradient for path, gradient in others if gradient is not None}

    @contextmanager
    def _accumulated_at_the_end(self) -> Iterator[None]:
        """Adds the gradients of the block to those from before it, or none if it fails.

        The first functions of a backward may have nothing saved that is freed: they run a second
        time before another one fails.
        """
        with plain():
            leaves = self._leaves()
        with self.without_old_gradients():
            yield
            with plain():
                gradients = [leaf.grad for leaf in leaves]
        self._accumulate(leaves, gradients)

    @staticmethod
    def _accumulate(
        leaves: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None]
    ) -> None:
        """Adds gradients to those of the leaves; those of other tensors may follow them."""
        with plain():
            for leaf, gradient in zip(leaves, gradients, strict=False):
                if gradient is not None:
                    leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient

    def _is_used_up(self, message: str) -> bool:
        """Whether a backward fails with this message because the call has run it.

        What the call itself overwrote in its forward is the subject's own failure: only an
        optimizer writes to leaves.
        """
        if _SECOND_TIME in message:
            return True
        with plain():
            return "modified by an inplace operation" in message and self._versions != [
                version(leaf) for leaf in self._leaves()
            ]

    def _leaves(self) -> list[torch.Tensor]:
        """The different tensors whose gradients accumulate."""
        leaves = {id(leaf): leaf for leaf in self._tensors.values() if leaf.is_leaf}
        return [leaf for leaf in leaves.values() if leaf.requires_grad]

    def _are_overwritten(self) -> bool:
        """Whether a call has written to a tensor that was computed outside it.

        Its graph then goes through that call, and through those before: nothing can undo this, so
        there is no other end than the user's own leaves.
        """
        with plain():
            return any(
                get_gradient_edge(self._tensors[path]) != edge
                for path, edge in self._computed.items()
            )

    def gradients(self) -> dict[str, torch.Tensor]:
        """The current gradients of the leaves, by path; none if they are not requested."""
        if not self._has_gradients:
            return {}
        return {
            path: tensor.grad
            for path, tensor in self._tensors.items()
            if tensor.is_leaf and tensor.grad is not None
        }

    def without_gradients(self) -> Backward:
        """The same, without gradients."""
        alone = copy.copy(self)
        alone._has_gradients = False
        return alone
