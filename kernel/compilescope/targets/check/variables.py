"""Tracks what a wrapper's variables hold while it runs: a node's value, or its source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ...torch_api.targets.described_graphs import LoweredBuffer, LoweredGraph, Shape
from .buffers import writes


class Source:
    """What something was made from: nodes, and kernels whose results are no node's."""

    def __init__(self, nodes: set[str] | None = None, kernels: set[str] | None = None) -> None:
        self.nodes = nodes or set()
        self.kernels = kernels or set()
        self.unknown = ""
        """The kernel that should have made it but was not run; empty if all were run."""

    def add(self, other: Source) -> None:
        """Adds the nodes and kernels of another source."""
        self.nodes |= other.nodes
        self.kernels |= other.kernels
        self.unknown = self.unknown or other.unknown


class Variables:
    """The variables of one run of a graph's wrapper."""

    def __init__(self, graph: LoweredGraph, inputs: dict[str, Any]) -> None:
        self._writes = writes(graph)
        self._shapes = {
            node.name: node.value for node in graph.nodes if isinstance(node.value, Shape)
        }
        self._inputs = set(inputs)
        self._input_values = {name: copied(value) for name, value in inputs.items()}
        self._holds = {name: name for name in inputs}
        self._behind: dict[str, Source] = {}

    def read(self, names: Sequence[str]) -> Source:
        """What these variables were made from."""
        source = Source()
        for name in names:
            if name in self._behind:
                source.add(self._behind[name])
            elif name in self._holds:
                source.nodes.add(self._holds[name])
        return source

    def values(self, source: Source) -> dict[str, Any]:
        """Node → value, of a source; of the graph's inputs too, whose sizes others may need."""
        return {
            name: value
            for name, value in self._input_values.items()
            if name in source.nodes or name in self._inputs
        }

    def largest(self, source: Source) -> float:
        """The largest magnitude among a source's numbers that are not whole."""
        result = 0.0
        for name in source.nodes:
            value = self._input_values[name]
            if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
                sizes = value.double().abs()
                sizes = sizes[sizes.isfinite()]
                result = max(result, sizes.max().item() if sizes.numel() else 0.0)
        return result

    def has_integers(self, source: Source) -> bool:
        """Whether a source has tensors of integers, which may be indices."""
        kinds = [getattr(self._input_values[name], "dtype", torch.float32) for name in source.nodes]
        return any(not (kind.is_floating_point or kind.is_complex) for kind in kinds)

    def is_written(self, name: str) -> bool:
        """Whether a write to the variable is still to come."""
        return bool(self._writes.get(name))

    def write(self, name: str) -> LoweredBuffer | None:
        """The buffer that a variable becomes by its next write."""
        turns = self._writes.get(name)
        return turns.pop(0) if turns else None

    def hold(self, name: str, node: str, tensor: torch.Tensor) -> None:
        """Records that a variable now holds a node's value."""
        self._behind.pop(name, None)
        self._holds[name] = node
        value = tensor.detach().clone()
        shape = self._shapes.get(node)
        if shape is not None and tuple(value.shape) != shape.size:
            value = value.reshape(shape.size)
        self._input_values[node] = value

    def come_from(self, name: str, source: Source) -> None:
        """Records that a variable now holds a value that is no node's."""
        self._holds.pop(name, None)
        self._behind[name] = source

    def rename(self, name: str, old: str) -> None:
        """Records that a variable now holds another one's value."""
        if old in self._holds:
            self._holds[name] = self._holds[old]
        if old in self._behind:
            self._behind[name] = self._behind[old]


def copied(value: Any) -> Any:
    """A tensor of the same layout with the same numbers, in memory of its own."""
    if not isinstance(value, torch.Tensor):
        return value
    memory = value.untyped_storage().clone()  # type: ignore[no-untyped-call]
    layout = (value.storage_offset(), value.shape, value.stride())
    return torch.empty(0, dtype=value.dtype).set_(memory, *layout)


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors have the same bits; a comparison by value would fail for NaN."""
    bits = [
        torch.empty(0, dtype=torch.uint8).set_(side.untyped_storage()) for side in (left, right)
    ]
    return torch.equal(*bits)
