"""Example inputs of a graph: random numbers, and integers within range where they are indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from ...torch_api.targets.described_graphs import LoweredGraph, LoweredNode, NamedObject, Ref, Shape

_BY_DIMENSION = ("gather", "scatter", "index_select", "index_add", "index_copy", "index_fill")
"""Operators that take a tensor, one of its dimensions, and indices into that."""
_INDEXED = ("index.", "index_put", "_unsafe_index.", "_unsafe_index_put", "_unsafe_masked_index")
"""Operators that take a tensor and a list of indices, one a dimension."""
_DIVISIONS = ("div", "remainder", "fmod", "floor_divide", "__rshift__", "__lshift__", "bitwise_")
_SMALLEST, _LARGEST = -9, 9


def example(shape: Shape, generator: torch.Generator, *, positive: bool = False) -> torch.Tensor:
    """A tensor of random numbers: normally distributed, or positive ones below 1."""
    size = _storage_size(shape)
    if shape.dtype == torch.bool:
        return _shaped(torch.rand(size, generator=generator) < 0.5, shape)
    if shape.dtype.is_complex or shape.dtype.is_floating_point:
        wide = torch.complex64 if shape.dtype.is_complex else torch.float32
        values = torch.randn(size, generator=generator, dtype=wide)
        if positive and not shape.dtype.is_complex:
            values = torch.rand(size, generator=generator) * 0.9 + 0.1
        return _shaped(values.to(shape.dtype), shape)
    low = 0 if shape.dtype == torch.uint8 or positive else _SMALLEST
    return integers(shape, low, _LARGEST, generator)


def integers(shape: Shape, low: int, high: int, generator: torch.Generator) -> torch.Tensor:
    """A tensor of random integers from ``low`` to ``high``."""
    values = torch.randint(low, high + 1, (_storage_size(shape),), generator=generator)
    return _shaped(values.to(shape.dtype), shape)


def filled(shape: Shape, value: float) -> torch.Tensor:
    """A tensor of one value, laid out as the shape says."""
    return _shaped(torch.full((_storage_size(shape),), value, dtype=shape.dtype), shape)


def example_value(value: Any, generator: torch.Generator) -> Any:
    """Random numbers in the place of a node's value; integers and flags are zero."""
    if isinstance(value, Shape):
        is_number = value.dtype.is_floating_point or value.dtype.is_complex
        return example(value, generator) if is_number else filled(value, 0)
    if isinstance(value, tuple):
        return tuple(example_value(item, generator) for item in value)
    return value


def with_strides(value: torch.Tensor, shape: Shape) -> torch.Tensor:
    """A tensor with the strides that the shape says."""
    if tuple(value.shape) != shape.size or value.stride() == shape.stride:
        return value
    return torch.empty_strided(shape.size, shape.stride, dtype=value.dtype).copy_(value)


def input_of(
    graph: LoweredGraph, node: LoweredNode, generator: torch.Generator, *, positive: bool
) -> torch.Tensor:
    """An example for one of the graph's inputs."""
    shape: Shape = node.value
    if shape.dtype.is_floating_point or shape.dtype.is_complex or shape.dtype == torch.bool:
        return example(shape, generator, positive=positive)
    bounds = list(_bounds(graph, node.name))
    if any(bound.size == _DENSE for bound in bounds):
        return _block_list(shape)
    if bounds:
        size = max(1, min(bound.size for bound in bounds))
        if positive:
            # Also through additions and multiplications before the indexing.
            return integers(shape, 0, (size - 1) // 8, generator)
        from_end = all(bound.from_end for bound in bounds) and shape.dtype != torch.uint8
        return integers(shape, -size if from_end else 0, size - 1, generator)
    if _divides(graph, node.name):
        return integers(shape, 1, 7, generator)
    return example(shape, generator, positive=positive)


_DENSE = -1
"""In the place of a size: the input lists blocks of an attention mask."""


class _Bound(NamedTuple):
    size: int
    """Of what is indexed."""
    from_end: bool = False
    """Negative ones count from its end."""


def _bounds(graph: LoweredGraph, name: str) -> Iterator[_Bound]:
    """The bounds of the values: the sizes that they index."""
    nodes = {node.name: node for node in graph.nodes}
    reached, behind = {name}, [name]
    while behind:
        current = behind.pop()
        for user in graph.nodes:
            if user.op != "call_function" or not _takes(user, current):
                continue
            bound = _bound(user, current, nodes)
            if bound is not None:
                yield bound
            elif user.name not in reached and _is_integer(user):
                reached.add(user.name)
                behind.append(user.name)


def _bound(user: LoweredNode, name: str, nodes: dict[str, LoweredNode]) -> _Bound | None:
    operator = _operator(user)
    args = user.args
    if operator.startswith("flex_attention"):
        return _Bound(_DENSE)
    if operator.startswith("embedding."):
        return _Bound(_size(args[0], nodes)[0]) if Ref(name) == args[1] else None
    if operator.startswith("embedding_dense_backward"):
        return _Bound(int(args[2])) if Ref(name) == args[1] else None
    if operator.startswith(_BY_DIMENSION) and len(args) > 2 and Ref(name) == args[2]:
        sizes = _size(args[0], nodes)
        return _Bound(sizes[args[1]] if sizes else 1)
    if operator.startswith(_INDEXED):
        indices = next((arg for arg in args[1:] if isinstance(arg, (list, tuple))), [])
        for dimension, index in enumerate(indices):
            if index == Ref(name):
                return _Bound(_size(args[0], nodes)[dimension], operator.startswith("index"))
    if operator.startswith("take."):
        return _Bound(math.prod(_size(args[0], nodes)))
    return None


def _divides(graph: LoweredGraph, name: str) -> bool:
    return any(
        len(user.args) > 1 and user.args[1] == Ref(name) and _operator(user).startswith(_DIVISIONS)
        for user in graph.nodes
    )


def _operator(node: LoweredNode) -> str:
    return node.target.name if isinstance(node.target, NamedObject) else ""


def _size(argument: object, nodes: dict[str, LoweredNode]) -> tuple[int, ...]:
    value = nodes[argument.name].value if isinstance(argument, Ref) else None
    return value.size if isinstance(value, Shape) else ()


def _is_integer(node: LoweredNode) -> bool:
    dtype = node.value.dtype if isinstance(node.value, Shape) else torch.bool
    return dtype != torch.bool and not dtype.is_floating_point and not dtype.is_complex


def _takes(node: LoweredNode, name: str) -> bool:
    return any(ref.name == name for ref in refs((node.args, node.kwargs)))


def refs(value: object) -> Iterator[Ref]:
    """The nodes that an argument names."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from refs(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from refs(item)
    elif isinstance(value, slice):
        yield from refs((value.start, value.stop, value.step))


def _block_list(shape: Shape) -> torch.Tensor:
    """All blocks in order, or how many these are: a mask whose blocks are all looked at."""
    last = shape.size[-1] if shape.size else 1
    counts = torch.arange(last).expand(shape.size) if len(shape.size) == 4 else last
    full = torch.empty_strided(shape.size, shape.stride, dtype=shape.dtype)
    return full.copy_(counts) if isinstance(counts, torch.Tensor) else full.fill_(counts)


def _storage_size(shape: Shape) -> int:
    """Elements of the memory that a tensor of this shape lies in."""
    if 0 in shape.size:
        return 0
    return 1 + sum(
        (size - 1) * stride for size, stride in zip(shape.size, shape.stride, strict=True)
    )


def _shaped(memory: torch.Tensor, shape: Shape) -> torch.Tensor:
    return memory.as_strided(shape.size, shape.stride)
