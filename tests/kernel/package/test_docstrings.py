"""The examples in the docstrings of the public functions run, with the results they show."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import json
import operator
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Sweep, SweepCell
from compilescope.sweep.result import SweepResult

ROOT = Path(__file__).parents[3]
TRACES = Path(__file__).parents[2] / "data" / "traces"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def fn(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).sum(1)  # as `subjects.plain`: it is compiled once


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples use."""
    x = torch.linspace(-2, 2, 32).reshape(4, 8)
    report = cs.inspect(fn, (x,))
    cell = SweepCell(key="1", name="python", variant=cs.Variant())
    return {
        "cs": cs,
        "json": json,
        "torch": torch,
        "fn": fn,
        "x": x,
        "report": report,
        "result": SweepResult(cs.Report(subject=report.subject, sweep=Sweep(cells=[cell]))),
        "folder": tmp_path_factory.mktemp("reports"),
        "trace": TRACES / "cpu-torch2.13-fullgraph.log.gz",
    }


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    """An example finds nothing that another one has compiled."""
    torch.compiler.reset()


METHODS = [
    f"Report.{name}"
    for name, member in vars(cs.Report).items()
    if inspect.isfunction(member) and not name.startswith("_")
]

RESULT = ["SweepResult.report", "SweepResult.cell"]
PLACES = SimpleNamespace(
    **{name: getattr(cs, name) for name in cs.__all__}, SweepResult=SweepResult
)


@pytest.mark.parametrize("name", ["compilescope", *cs.__all__, *METHODS, *RESULT])
def test_examples_run(name: str, names: dict[str, Any]) -> None:
    documented = cs if name == "compilescope" else operator.attrgetter(name)(PLACES)
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    failures: list[str] = []
    for test in finder.find(documented, name, module=False, globs=names):
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


@pytest.mark.parametrize(
    "name", [*(name for name in cs.__all__ if not name.startswith("__")), *METHODS]
)
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (operator.attrgetter(name)(cs).__doc__ or "")


def documented_classes() -> list[type]:
    """The classes of the API reference."""
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    module, classes = "", []
    for what, name in re.findall(r"(currentmodule|autoclass|autoexception):: ([\w.]+)", reference):
        if what == "currentmodule":
            module = name
        else:
            classes.append(getattr(importlib.import_module(module), name))
    return classes


def returned_classes(function: Any) -> list[type]:
    """The classes of ours that the return annotation of a function names."""
    module = sys.modules[function.__module__]
    names = {**imported_names(module), **vars(module)}
    annotation = str(inspect.signature(function).return_annotation)
    values = [names[name] for name in re.findall(r"\w+", annotation) if name in names]
    return [
        value
        for value in values
        if isinstance(value, type) and value.__module__.startswith("compilescope")
    ]


def imported_names(module: ModuleType) -> dict[str, Any]:
    """What a module imports from this package, also for type checkers alone."""
    package = module.__name__ if hasattr(module, "__path__") else module.__package__
    names = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.level:
            relative = "." * node.level + (node.module or "")
            origin = importlib.import_module(importlib.util.resolve_name(relative, package))
            names |= {name.name: getattr(origin, name.name, None) for name in node.names}
    return names


def test_every_class_that_a_public_function_returns_is_in_the_api_reference() -> None:
    reached: list[type] = []
    waiting = [getattr(cs, name) for name in cs.__all__ if not name.startswith("__")]
    while waiting:
        public = waiting.pop()
        if not isinstance(public, type):
            waiting += returned_classes(inspect.unwrap(public))
        elif public not in reached:
            reached.append(public)
            for name, member in vars(public).items():
                function = member.fget if isinstance(member, property) else member
                is_read = not name.startswith("_") or name in ("__getitem__", "__iter__")
                if is_read and inspect.isfunction(function):
                    waiting += returned_classes(function)
    names = {documented.__name__ for documented in reached}
    assert {"Reproducer", "SweepCell", "Recommendation", "WhatIf", "Checkup"} <= names
    assert not names - {documented.__name__ for documented in documented_classes()}


def test_every_field_of_the_api_reference_is_described() -> None:
    undescribed = []
    for documented in documented_classes():
        name = documented.__name__
        if name == "Variant":
            continue
        (definition,) = ast.parse(inspect.getsource(documented)).body
        assert isinstance(definition, ast.ClassDef)
        for field, following in zip(definition.body, [*definition.body[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign) and not isinstance(following, ast.Expr):
                undescribed.append(f"{name}.{ast.unparse(field.target)}")
    assert not undescribed
