"""Computes a graph's nodes with torch's own operators: in float64, or in the graph's types."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ...torch_api.targets.described_graphs import LoweredGraph, LoweredNode, NamedObject, Ref
from ...torch_api.targets.interpreter import random_integers, random_numbers
from .errors import first_sentence
from .examples import refs

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
_NUMBERS = (bool, int, float)


class NoReferenceError(Exception):
    """The nodes cannot be computed here; the message is the end of a sentence that says why."""


class Reference:
    """Computes nodes of a graph from the values of others.

    Parameters
    ----------
    wide
        In float64: nothing is rounded on the way, except into types of 8 bits.
    """

    def __init__(self, graph: LoweredGraph, *, wide: bool) -> None:
        self._graph = graph
        self._nodes = {node.name: node for node in graph.nodes}
        self._order = {node.name: place for place, node in enumerate(graph.nodes)}
        self._wide = wide
        self.lanes = False
        """How random numbers are generated: see `torch_api.targets.interpreter.random_numbers`."""

    def value(self, name: str, given_values: Mapping[str, Any]) -> Any:
        """One node's value.

        Parameters
        ----------
        given_values
            Node → its value; whatever is not known is computed.

        Raises
        ------
        NoReferenceError
        """
        return self._values([name], given_values)[name]

    def _values(self, names: list[str], given_values: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: self._widened(value) for name, value in given_values.items()}
        needed, behind = set(), [name for name in names if name not in values]
        while behind:
            name = behind.pop()
            if name in needed or name in values:
                continue
            needed.add(name)
            behind += [ref.name for ref in refs(_inputs(self._nodes[name]))]
        for name in sorted(needed, key=self._order.__getitem__):
            values[name] = self._computed(self._nodes[name], values)
        return values

    def _computed(self, node: LoweredNode, values: dict[str, Any]) -> Any:
        if isinstance(node.value, _NUMBERS):
            return node.value
        if node.op == "get_attr":
            return self._attribute(str(node.target))
        if node.op != "call_function":
            raise NoReferenceError(f"the value of {node.name} is not known there")
        args = [_filled_in(arg, values) for arg in node.args]
        kwargs = {name: _filled_in(kwarg, values) for name, kwarg in node.kwargs.items()}
        target: NamedObject = node.target
        special = self._special(target)
        if special is not None:
            return self._widened(special(*args, **kwargs))
        if self._wide:
            if target.name in ("view.dtype", "view_as_real.default", "view_as_complex.default"):
                raise NoReferenceError(f"{target.name} looks at a number's bits")
            args = [_widened_type(arg) for arg in args]
            kwargs = {name: _widened_type(kwarg) for name, kwarg in kwargs.items()}
        function = _function(target)
        try:
            return self._widened(function(*_copied_mutated(function, args), **kwargs))
        except NoReferenceError:
            raise
        except Exception as error:
            raise NoReferenceError(
                f"{target.module}.{target.name} cannot be computed on this machine: "
                f"{first_sentence(error)}"
            ) from error

    def _special(self, target: NamedObject) -> Callable[..., Any] | None:
        """Inductor's own operators: random numbers as the kernel has to generate them."""
        if target.module != "prims":
            return None
        functions: dict[str, Callable[..., Any]] = {
            "inductor_lookup_seed.default": _looked_up,
            "inductor_random.default": self._random,
            "inductor_randint.default": _random_integers,
        }
        return functions.get(target.name)

    def _random(self, size: list[int], seed: torch.Tensor, mode: str, **_: Any) -> torch.Tensor:
        count = math.prod(size)
        return random_numbers(mode, int(seed), count, lanes=self.lanes).view(size)

    def _attribute(self, name: str) -> Any:
        inner = self._graph.subgraphs.get(name)
        if inner is not None:
            return functools.partial(self._called, inner)
        constant = self._graph.constants.get(name)
        if not isinstance(constant, torch.Tensor):
            raise NoReferenceError(f"the constant {name} has no values here")
        return self._widened(constant)

    def _called(self, inner: LoweredGraph, *args: Any) -> Any:
        """A graph inside the graph, as an operator of a higher order calls it."""
        placeholders = [node.name for node in inner.nodes if node.op == "placeholder"]
        output = next(node for node in inner.nodes if node.op == "output")
        output_names = [ref.name for ref in refs(output.args)]
        inner_inputs = dict(zip(placeholders, args, strict=True))
        reference = Reference(inner, wide=self._wide)
        return _filled_in(output.args[0], reference._values(output_names, inner_inputs))

    def _widened(self, value: Any) -> Any:
        if not self._wide:
            return value
        if isinstance(value, (tuple, list)):
            return type(value)(self._widened(item) for item in value)
        if isinstance(value, torch.Tensor):
            if value.dtype.is_floating_point and value.dtype != torch.float64:
                return value.to(torch.float64)
            return value.to(_WIDE.get(value.dtype, value.dtype))
        return value


def _inputs(node: LoweredNode) -> Any:
    return () if isinstance(node.value, _NUMBERS) else (node.args, node.kwargs)


def _filled_in(value: Any, values: Mapping[str, Any]) -> Any:
    """An argument with the nodes' values in it."""
    if isinstance(value, Ref):
        return values[value.name]
    if isinstance(value, NamedObject):
        return _function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_filled_in(item, values) for item in value)
    if isinstance(value, dict):
        return {name: _filled_in(item, values) for name, item in value.items()}
    if isinstance(value, slice):
        return slice(
            *[_filled_in(bound, values) for bound in (value.start, value.stop, value.step)]
        )
    return value


def _widened_type(value: Any) -> Any:
    return _WIDE.get(value, value) if isinstance(value, torch.dtype) else value


def _function(target: NamedObject) -> Callable[..., Any]:
    result: Any
    if target.kind == "function":
        result = importlib.import_module(target.module)
        names = target.name.split(".")
    elif target.kind == "higher_order":
        result, names = torch.ops.higher_order, [target.name]
    else:
        result, names = torch.ops, [target.module, *target.name.rsplit(".", 1)]
    if target.name.startswith("triton_kernel_wrapper"):
        raise NoReferenceError("it is a Triton kernel of your own: no operator tells what it does")
    for name in names:
        result = getattr(result, name, None)
        if result is None:
            raise NoReferenceError(f"there is no {target.module}.{target.name} on this machine")
    return result  # type: ignore[no-any-return]


def _copied_mutated(function: Any, args: list[Any]) -> list[Any]:
    """The arguments; those that the operator writes to as copies."""
    schema = getattr(function, "_schema", None)
    if schema is None:
        return args
    written = [
        argument.alias_info is not None and argument.alias_info.is_write
        for argument in schema.arguments
    ]
    return [
        arg.clone() if is_written and isinstance(arg, torch.Tensor) else arg
        for arg, is_written in zip(args, [*written, *[False] * len(args)], strict=False)
    ]


def _looked_up(seeds: torch.Tensor, index: int) -> torch.Tensor:
    return seeds[index].clone()


def _random_integers(low: int, high: int, size: list[int], seed: torch.Tensor) -> torch.Tensor:
    return random_integers(low, high, int(seed), math.prod(size)).view(size)
