"""The examples in the docstrings of the public functions run, with the results they show."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import operator
import re
from pathlib import Path
from typing import Any

import compilescope as cs
import compilescope.report
import compilescope.report.tiers
import pytest
import torch

ROOT = Path(__file__).parents[3]
TRACES = Path(__file__).parents[2] / "data" / "traces"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def fn(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x) * 2


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples use."""
    x = torch.linspace(-2, 2, 32).reshape(4, 8)
    return {
        "cs": cs,
        "json": json,
        "torch": torch,
        "fn": fn,
        "x": x,
        "report": cs.inspect(fn, (x,)),
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


@pytest.mark.parametrize("name", ["compilescope", *cs.__all__, *METHODS])
def test_examples_run(name: str, names: dict[str, Any]) -> None:
    documented = cs if name == "compilescope" else operator.attrgetter(name)(cs)
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


def test_every_field_of_the_api_reference_is_described() -> None:
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = [name for name in re.findall(r"autoclass:: (\w+)", reference) if name != "Variant"]
    assert {"Report", "Tier"} <= set(names)
    places = (cs, compilescope.report, compilescope.report.tiers)
    undescribed = []
    for name in names:
        documented = next(getattr(place, name) for place in places if hasattr(place, name))
        (definition,) = ast.parse(inspect.getsource(documented)).body
        assert isinstance(definition, ast.ClassDef)
        for field, following in zip(definition.body, [*definition.body[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign) and not isinstance(following, ast.Expr):
                undescribed.append(f"{name}.{ast.unparse(field.target)}")
    assert not undescribed
