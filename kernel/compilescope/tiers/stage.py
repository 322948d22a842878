"""Stages that replace a graph's wrapper for some calls, during the switch to the next tier."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import torch

from ..measure.numerics import compare
from ..report import OutputError
from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor.background.background_runs import bytes_of
from ..torch_api.inductor.graph_recording import is_capturing
from ..torch_api.operators.tensor_copies import copied

_HOST_BYTES = 64 * 2**20


class Stage(ABC):
    """Serves one call at a time, until it is settled.

    Concurrent calls in other threads use the wrapper, as do calls that are captured into a CUDA
    graph, and all calls once it is settled.

    Parameters
    ----------
    wrapper
        The wrapper for those calls.
    """

    def __init__(self, wrapper: Inner) -> None:
        self._wrapper = wrapper
        self._turn = threading.Lock()
        self.is_settled = False

    def __call__(self, inputs: list[Any]) -> Any:
        """Call the graph."""
        if is_capturing() or not self._turn.acquire(blocking=False):
            return self._serve_beside(inputs)
        try:
            if self.is_settled or not self._may_serve():
                return self._wrapper(inputs)
            return self._serve(inputs)
        finally:
            self._turn.release()

    def after_fork(self) -> None:
        """Forget the call of a thread that does not exist in this process."""
        self._turn = threading.Lock()

    def _may_serve(self) -> bool:
        """Whether it may serve the call of this thread."""
        return True

    def _serve_beside(self, inputs: list[Any]) -> Any:
        """Serve a call while another thread is served, or a capture."""
        return self._wrapper(inputs)

    @abstractmethod
    def _serve(self, inputs: list[Any]) -> Any:
        """Serve a call."""


class ComparingStage(Stage):
    """Compares the results of a new tier with those of the wrapper.

    Parameters
    ----------
    wrapper
        The current wrapper.
    changes
        The inputs that the graph changes in place, by number; None if it may write to any: a
        backward reuses the memory of its saved tensors.
    devices
        The GPUs whose random numbers it may draw.
    undefined
        The indices of the outputs that torch leaves uninitialized: they are not compared.
    kernels
        How many kernels of the graph may round differently from those of the wrapper.
    """

    def __init__(
        self,
        wrapper: Inner,
        *,
        changes: Collection[int] | None,
        devices: Sequence[int],
        undefined: Collection[int],
        kernels: int = 1,
    ) -> None:
        super().__init__(wrapper)
        self._changes = changes
        self._changed_places = [] if changes is None else sorted(changes)
        self._devices = devices
        self._undefined = undefined
        self._kernels = kernels

    def _copies(self, inputs: Sequence[Any]) -> list[Any]:
        """The inputs, with copies of those that the graph may change."""
        changes = range(len(inputs)) if self._changes is None else self._changes
        return [copied(value) if place in changes else value for place, value in enumerate(inputs)]

    def _is_unchanged(self, place: int) -> bool:
        """Whether the graph does not change an input."""
        return self._changes is not None and place not in self._changes

    def _changed(self, inputs: Sequence[Any]) -> list[Any]:
        """The inputs that the graph changes for its caller."""
        return [inputs[place] for place in self._changed_places]

    def _differences(
        self, expected: Sequence[Any], actual: Sequence[Any]
    ) -> list[OutputError] | None:
        """The deviation of results that should be equal; None if they agree."""
        with torch.no_grad():
            if len(expected) != len(actual):
                errors = compare(list(expected), list(actual))
                return [error for error in errors if not error.ok]
            wrong = [
                error
                for place, (left, right) in enumerate(zip(expected, actual, strict=True))
                if place not in self._undefined
                for error in self._errors(f"output {place}", left, right)
                if not error.ok
            ]
        return wrong or None

    def _errors(self, path: str, expected: Any, actual: Any) -> list[OutputError]:
        """The deviation of one result; empty if both are bitwise equal, as usual."""
        if _is_same(expected, actual):
            return []
        if _device_of(expected) == _device_of(actual):
            expected, actual = _on_host(expected), _on_host(actual)
        return compare({path: expected}, {path: actual}, self._kernels)


def _is_same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, torch.Tensor) and isinstance(actual, torch.Tensor):
        like = expected.dtype == actual.dtype and expected.stride() == actual.stride()
        return like and expected.device == actual.device and torch.equal(expected, actual)
    return expected is actual


def _device_of(value: Any) -> torch.device | None:
    return value.device if isinstance(value, torch.Tensor) else None


def _on_host(value: Any) -> Any:
    """A small tensor on the CPU: for a GPU, the driver would first load kernels that compare it."""
    is_small = isinstance(value, torch.Tensor) and bytes_of(value) <= _HOST_BYTES
    return value.cpu() if is_small else value
