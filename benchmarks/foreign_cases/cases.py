"""The table of calls, and how modules of this package put theirs into it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

Made = tuple[Callable[..., Any], tuple[Any, ...]]
CASES: dict[str, Callable[[], Made]] = {}
"""Name → what makes the callable and its arguments."""
MISSING: list[str] = []
"""Libraries whose models are left out."""


def case(make: Callable[[], Made]) -> Callable[[], Made]:
    CASES[make.__name__] = make
    return make


def call(fn: Callable[..., Any], *sizes: tuple[int, ...], grad: bool = False) -> None:
    """A function of tensors of these sizes."""

    def make() -> Made:
        return fn, tuple(torch.randn(size, requires_grad=grad) for size in sizes)

    CASES[fn.__name__] = make


def calls(
    functions: Iterable[Callable[..., Any]], size: tuple[int, ...], *, grad: bool = False
) -> None:
    """Functions of one tensor of this size."""
    for function in functions:
        call(function, size, grad=grad)


def module(name: str, make: Callable[[], nn.Module], *sizes: tuple[int, ...]) -> None:
    """A module in inference, and the same in training."""

    def inference() -> Made:
        return make().eval().requires_grad_(False), tuple(torch.randn(size) for size in sizes)

    def training() -> Made:
        return make().train(), tuple(torch.randn(size) for size in sizes)

    CASES[name] = inference
    CASES[f"{name}_training"] = training


def is_installed(library: str) -> bool:
    """Whether a library is there; `MISSING` has it where it is not."""
    if importlib.util.find_spec(library) is None:
        MISSING.append(library)
        return False
    return True
