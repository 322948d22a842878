"""The devices that a worker process generates code for, and the tensors of calls on them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from ...torch_api.targets import tensors


class World:
    """Creates the tensors of a call.

    Parameters
    ----------
    mode
        The context in which torch creates tensors without data.
    """

    traces_only = False
    """Whether no graph may run, not even on tensors without data."""

    runs_calls = False
    """Whether calls run, with their data, in forks of this process."""

    lacks_gpu = False
    """Whether it emulates a GPU, on which torch would measure something."""

    def __init__(self, mode: AbstractContextManager[Any]) -> None:
        self.mode = mode

    def device(self, name: str, *, moves: bool) -> torch.device:
        """The device here of a tensor that was on the device of this name.

        Parameters
        ----------
        moves
            Whether what was on the CPU, or nowhere (meta), moves to the target.
        """
        raise NotImplementedError

    def storage(self, nbytes: int, device: str) -> torch.UntypedStorage:
        """A storage that several tensors share, and that nothing was written to."""
        return tensors.storage(self.mode, nbytes, device)

    def tensor(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        dtype: torch.dtype,
        *,
        device: str,
        requires_grad: bool = False,
        storage: torch.UntypedStorage | None = None,
        offset: int = 0,
    ) -> torch.Tensor:
        """A tensor in its own storage, which nothing was written to, or in another's."""
        return tensors.tensor(
            self.mode,
            size,
            stride,
            dtype,
            device=device,
            requires_grad=requires_grad,
            storage=storage,
            offset=offset,
        )

    def fill(self, tensor: torch.Tensor, value: float | None) -> None:
        """Gives a number its value, if the world's tensors have memory."""


class _Unfilled(contextlib.ContextDecorator):
    """A context in which deterministic algorithms do not fill new tensors with a value."""

    def __enter__(self) -> None:
        deterministic: Any = torch.utils.deterministic
        self._before = deterministic.fill_uninitialized_memory
        deterministic.fill_uninitialized_memory = False

    def __exit__(self, *_: object) -> None:
        deterministic: Any = torch.utils.deterministic
        deterministic.fill_uninitialized_memory = self._before


class ThisMachine(World):
    """The devices of this machine.

    Its tensors are real ones, for Dynamo's guards name their class; only the memory of numbers is
    written, so the system provides no other.
    """

    traces_only = True

    def __init__(self) -> None:
        super().__init__(_Unfilled())

    def device(self, name: str, *, moves: bool) -> torch.device:
        """The same device."""
        return torch.device(name)

    def fill(self, tensor: torch.Tensor, value: float | None) -> None:
        """Writes the value of a number."""
        if value is not None:
            with torch.no_grad():
                tensor.fill_(value)


class RunningMachine(World):
    """The devices of this machine, with tensors that have their data."""

    runs_calls = True

    def __init__(self) -> None:
        super().__init__(contextlib.nullcontext())

    def device(self, name: str, *, moves: bool) -> torch.device:
        """The same device."""
        return torch.device(name)
