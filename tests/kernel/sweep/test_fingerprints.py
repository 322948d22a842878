"""Keys of cells: what a call reads outside its own code, and what cannot be identified."""

from __future__ import annotations

import importlib
import re
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from compilescope.sweep import cell_ids, code_files

HELPERS = "SCALE = 1\nother = 1\ndef act(x):\n    return x.sin()\n"


class Helpers:
    """A module of the user's, in a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "compilescope_helpers.py"
        self.write(HELPERS)
        self.module = importlib.import_module(self._file.stem)

    def write(self, text: str) -> None:
        self._file.write_text(text)

    def edit(self, text: str) -> None:
        """Edits and reloads it."""
        self.write(text)
        exec(compile(text, str(self._file), "exec"), vars(self.module))


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Helpers]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    helpers = Helpers(tmp_path)
    yield helpers
    del sys.modules[helpers.module.__name__]


def reads(helpers: types.ModuleType, expression: str) -> Callable[..., Any]:
    space: dict[str, Any] = {"__name__": "__main__", "helpers": helpers, "np": np}
    exec(f"def pick(module):\n    return module.act\ndef f(x):\n    return {expression}", space)
    function: Callable[..., Any] = space["f"]
    return function


@pytest.mark.parametrize(
    ("expression", "edited"),
    [
        ("helpers.act(x)", HELPERS.replace("sin", "cos")),
        ("x * helpers.SCALE", HELPERS.replace("SCALE = 1", "SCALE = 2")),
        ("pick(helpers)(x)", HELPERS.replace("sin", "cos")),
        ("getattr(helpers, 'act')(x)", HELPERS.replace("sin", "cos")),
    ],
    ids=["function", "constant", "passed on", "by text"],
)
def test_an_edited_module_of_the_users_counts(
    helpers: Helpers, expression: str, edited: str
) -> None:
    first = cell_ids.identity(reads(helpers.module, expression))
    assert cell_ids.identity(reads(helpers.module, expression)) == first
    helpers.edit(edited)
    assert cell_ids.identity(reads(helpers.module, expression)) != first


def test_what_a_call_does_not_read_of_a_module_does_not_count(helpers: Helpers) -> None:
    first = cell_ids.identity(reads(helpers.module, "helpers.act(x)"))
    helpers.edit(HELPERS.replace("other = 1", "other = 2"))
    assert cell_ids.identity(reads(helpers.module, "helpers.act(x)")) == first


def test_a_module_in_an_enclosing_function_counts(helpers: Helpers) -> None:
    def make() -> Callable[..., Any]:
        inner = helpers.module
        return lambda x: inner.act(x)

    first = cell_ids.identity(make())
    assert cell_ids.identity(make()) == first
    helpers.edit(HELPERS.replace("sin", "cos"))
    assert cell_ids.identity(make()) != first


def test_a_module_that_is_imported_at_the_call_counts_by_its_file(helpers: Helpers) -> None:
    def make(x: torch.Tensor) -> Any:
        import compilescope_helpers  # type: ignore[import-not-found]

        return compilescope_helpers.act(x)

    first = cell_ids.identity(make)
    assert cell_ids.identity(make) == first
    helpers.write(HELPERS.replace("sin", "cos"))
    assert cell_ids.identity(make) != first


@pytest.mark.parametrize(
    ("name", "installed"),
    [("math", True), ("os", True), ("torch.nn", True), ("torch.ops", True), (__name__, False)],
)
def test_installed_modules_are_told_from_the_users(name: str, installed: bool) -> None:
    assert code_files.is_library_module(name) is installed


def test_a_user_s_module_may_be_named_as_one_of_python_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("this")
    monkeypatch.setitem(sys.modules, "this", module)
    module.__file__ = str(tmp_path / "this.py")
    assert not code_files.is_library(module)


def test_the_function_inside_a_library_decorator_counts(helpers: Helpers) -> None:
    text = "import torch\n@torch.no_grad()\ndef act(x):\n    return x.sin()\n"
    helpers.edit(text)
    first = cell_ids.identity(helpers.module.act)
    helpers.edit(text)
    assert cell_ids.identity(helpers.module.act) == first
    helpers.edit(text.replace("sin", "cos"))
    assert cell_ids.identity(helpers.module.act) != first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.sin, torch.matrix_exp),
        (torch.ops.aten.sin.default, torch.ops.aten.cos.default),
        (torch.ones(2).add, torch.ones(3).add),
        (np.sin, np.cos),
        (np.ones(3), np.zeros(3)),
        (re.compile("a"), re.compile("b")),
        (deque([1]), deque([2])),
        (range(2), range(3)),
        ({*"ab", len}, {*"ab", abs}),
        (list(range(2000)), [*range(1999), 0]),
    ],
    ids=[
        "function",
        "operator",
        "method",
        "ufunc",
        "array",
        "pattern",
        "deque",
        "range",
        "set",
        "list",
    ],
)
def test_values_of_c_types_count(one: object, other: object) -> None:
    assert cell_ids.identity(one) == cell_ids.identity(one)
    assert cell_ids.identity(one) != cell_ids.identity(other)


def test_values_of_global_arrays_count_and_those_of_arguments_do_not() -> None:
    array = np.ones(3)
    space: dict[str, Any] = {"__name__": "__main__", "array": array}
    exec("def f(x):\n    return x * array[0]", space)
    first = cell_ids.identity(space["f"]), cell_ids.identity_of_arguments(((array,), {}))
    array[0] = 2
    assert cell_ids.identity(space["f"]) != first[0]
    assert cell_ids.identity_of_arguments(((array,), {})) == first[1]
    assert cell_ids.identity_of_arguments(((np.ones(4),), {})) != first[1]


def test_a_custom_operator_counts_by_its_function() -> None:
    @torch.library.custom_op("compilescope_fingerprints::scale", mutates_args=())
    def scale(x: torch.Tensor) -> torch.Tensor:
        return x * factor["by"]

    factor = {"by": 1}

    def calls(x: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = torch.ops.compilescope_fingerprints.scale(x)
        return scaled

    first = cell_ids.identity(calls)
    assert cell_ids.identity(calls) == first
    factor["by"] = 2
    assert cell_ids.identity(calls) != first


def test_a_backward_that_ran_does_not_change_an_autograd_function() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 2

    first = cell_ids.identity(Twice)
    Twice.apply(torch.ones(2, requires_grad=True)).sum().backward()  # type: ignore[no-untyped-call]
    assert cell_ids.identity(Twice) == first


def _evaluates(x: torch.Tensor) -> Any:
    return eval("x + 1")


def _adds(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@pytest.mark.parametrize(
    "value",
    [(number for number in range(2)), threading.local(), _evaluates],
    ids=["generator", "thread's", "eval"],
)
def test_what_cannot_be_identified_is_never_the_same(value: object) -> None:
    assert cell_ids.identity([value]) != cell_ids.identity([value])


@pytest.mark.parametrize(
    "value",
    [
        threading.Lock(),
        torch.compile(_adds),
        torch.compiler.disable(_adds),  # type: ignore[no-untyped-call]
        torch.fx.symbolic_trace(torch.nn.ReLU()),
        torch.Generator(),
    ],
    ids=["lock", "compiled", "not compiled", "graph", "random numbers"],
)
def test_what_often_is_in_a_call_can_be_identified(value: object) -> None:
    assert cell_ids.identity(value) == cell_ids.identity(value)
