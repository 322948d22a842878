"""Finds the functions that a subject may call and whose frames Dynamo may compile."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ..isolation.object_walk import walk

LIMIT = 10_000
"""How many functions are examined before the search stops. A model's library may name very many."""


def functions_of(
    subject: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> list[types.FunctionType]:
    """The Python functions that a call reaches: by closure, global name, module, object or class.

    torch's own are left out: their frames are skipped or inlined. Functions that a library's code
    reaches through its own objects may be missed.
    """
    functions: dict[int, types.FunctionType] = {}
    seen: set[int] = set()
    reached = walk(subject, args, kwargs).objects
    waiting: list[Any] = [
        reached_object
        for reached_object, _ in reached
        if type(reached_object) is types.FunctionType
    ]
    waiting.append(subject)
    while waiting and len(seen) < LIMIT:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType):
            if _is_torch(value):
                continue
            functions[id(value)] = value
        waiting.extend(_next(value))
    return list(functions.values())


def _next(value: Any) -> Iterator[Any]:
    if isinstance(value, types.FunctionType):
        yield from _named(value)
    elif isinstance(value, types.MethodType):
        yield value.__func__
        yield value.__self__
    elif isinstance(value, torch.nn.Module):
        for module in value.modules():
            yield from _methods(type(module))
    elif isinstance(value, type):
        yield from _methods(value)
    elif callable(value) and not isinstance(value, types.BuiltinFunctionType):
        yield from _methods(type(value))
        wrapped = vars(value).get("func") if hasattr(value, "__dict__") else None
        if wrapped is not None:
            yield wrapped


def _named(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        if callable(content):
            yield content
    wrapped = function.__dict__.get("__wrapped__")
    if callable(wrapped):
        yield wrapped
    for code in nested_codes(function.__code__):
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, (types.FunctionType, torch.nn.Module)):
                yield value


def nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object, and those of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested_codes(constant)


def _methods(owner: type) -> Iterator[types.FunctionType]:
    for base in owner.__mro__:
        for value in vars(base).values():
            if isinstance(value, (staticmethod, classmethod)):
                value = value.__func__
            if isinstance(value, types.FunctionType) and not _is_torch(value):
                yield value


def _is_torch(function: types.FunctionType) -> bool:
    module = function.__module__ or ""
    return module == "torch" or module.startswith("torch.")
