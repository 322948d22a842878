"""The examples in the docstrings of the public functions run, with the results they show."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch

TRACES = Path(__file__).parents[2] / "data" / "traces"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def fn(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x) * 2


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples use."""
    x = torch.randn(4, 8)
    return {
        "cs": cs,
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


@pytest.mark.parametrize("name", ["compilescope", *cs.__all__])
def test_examples_run(name: str, names: dict[str, Any]) -> None:
    documented = cs if name == "compilescope" else getattr(cs, name)
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    failures: list[str] = []
    for test in finder.find(documented, name, module=False, globs=names):
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("name", [name for name in cs.__all__ if not name.startswith("__")])
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(cs, name).__doc__ or "")
