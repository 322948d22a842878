"""Calls that somebody's tests compile: of each test the first that it makes under torch.compile.

The tests are unittest's, in files ``test_*.py`` of a folder, such as ``test/dynamo`` of PyTorch's
repository. A test runs until that call, and no further: what it asserts is not looked at, and the
settings that it gives ``torch.compile`` are left out.
"""

from __future__ import annotations

import ast
import functools
import importlib
import random
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._dynamo.testing

from .cases import Made


class CompiledCall(BaseException):
    """Ends a test where it calls what it compiled. No ``except Exception`` catches it."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> None:
        super().__init__()
        self.call: Made = (functools.partial(fn, **kwargs) if kwargs else fn), args


def names_in(folder: Path) -> Iterator[str]:
    """The tests of a folder that compile something, as ``FILE::CLASS::TEST``; nothing is run."""
    for file in sorted(folder.rglob("test_*.py")):
        text = file.read_text("utf-8")
        for suite in ast.parse(text).body:
            if not isinstance(suite, ast.ClassDef):
                continue
            for test in suite.body:
                if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                    source = ast.get_source_segment(text, test) or ""
                    if "compile(" in source or "optimize" in source:
                        yield f"{file}::{suite.name}::{test.name}"


def first_call(name: str) -> Made:
    """What a test of `names_in` compiles, and the arguments of its first call.

    Raises
    ------
    LookupError
        The test ended before it called anything compiled.
    """
    file, suite, test = name.split("::")
    kind = getattr(_imported(Path(file)), suite)
    random.seed(0)
    with ExitStack() as patches:
        for module, function, replacement in _COMPILING:
            patches.enter_context(mock.patch.object(module, function, replacement))
        try:
            kind.setUpClass()
            case = kind(test)
            case.setUp()
            getattr(case, test)()
        except CompiledCall as compiled:
            return compiled.call
    raise LookupError("The test calls nothing under torch.compile.")


class _Compiled:
    """In the place of what ``torch.compile`` returns: all is the function's own but the call."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise CompiledCall(self._fn, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fn, name)


def _compile(model: Callable[..., Any] | None = None, **_: Any) -> Any:
    return _Compiled if model is None else _Compiled(model)


def _optimize(*_: Any, **__: Any) -> Any:
    return _Compiled


_COMPILING: list[tuple[Any, str, Callable[..., Any]]] = [
    (torch, "compile", _compile),
    (torch._dynamo, "optimize", _optimize),
    (torch._dynamo, "optimize_assert", _optimize),
    (torch._dynamo.testing, "optimize_assert", _optimize),
]
"""Modules, their functions that a test compiles with, and what takes the place of each."""


def _imported(file: Path) -> types.ModuleType:
    """The file as a module; it may import those beside it, from a package by their short names."""
    folder = file.parent
    is_package = (folder / "__init__.py").exists()
    place = str(folder.parent if is_package else folder)
    if place not in sys.path:
        sys.path.insert(0, place)
    return importlib.import_module(f"{folder.name}.{file.stem}" if is_package else file.stem)
