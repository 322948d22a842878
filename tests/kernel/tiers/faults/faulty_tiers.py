"""A function that is compiled in tiers, and what became of its second tier."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import compilescope as cs
import torch
from compilescope.processes import runner
from compilescope.report.problem import Problem
from compilescope.tiers import background
from compilescope.tiers.builder import builder

X = torch.linspace(-1, 1, 12)


def subject(x: torch.Tensor) -> torch.Tensor:
    """The same in every test, so that its C++ is compiled once."""
    return x.exp() + 1


def trained() -> torch.nn.Module:
    """A model with a forward and a backward: the same in every test too.

    Its products need no C++ of their own, and sums for the gradient of a bias would.
    """
    torch.manual_seed(0)
    products = [torch.nn.Linear(8, 8, bias=False) for _ in range(2)]
    return torch.nn.Sequential(*products, torch.nn.ReLU())


def problem_of(compiled: Any, *args: Any) -> Problem:
    """Why the second tier failed, after a call with these; the first still serves."""
    if args:
        compiled(*args)
    builder().wait()
    background.wait()
    (graph,) = cs.tiers(compiled)
    assert graph.serving == "python"
    problem = graph.tiers[1].problem
    assert problem is not None, graph
    assert graph.tiers[1].state == "failed"
    return problem


def swapped(compiled: Any) -> bool:
    """Whether the second tier serves after a call that is compared."""
    builder().wait()
    assert torch.equal(compiled(X), subject(X))
    background.wait()
    return cs.tiers(compiled)[0].serving == "cpp"


_ROOT = Path(__file__).parents[4]
_IMPORTING_ANEW = """
import sys
for name in [*sys.modules]:
    if name.partition(".")[0] == "compilescope":
        del sys.modules[name]
"""
_ENDING = """
import ctypes
ctypes.pythonapi.Py_Exit(0)
"""


def output_of(program: str, *folders: Path, variables: dict[str, str]) -> tuple[str, str]:
    """What a program wrote and its errors; these folders are on its path, and compilescope's.

    It runs in a process that is forked (`forks`), as importing Inductor takes seconds. There it
    imports compilescope itself, and its interpreter ends as that of any program does.
    """
    paths = [str(folder) for folder in (*folders, _ROOT / "kernel", _ROOT)]
    process = runner.subprocess.Popen(
        # A line by which it is known to be forked.
        [sys.executable, "-c", f"# from compilescope \n{_IMPORTING_ANEW}{program}{_ENDING}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr, ThreadPoolExecutor(1) as thread:
        # At the same time: a full pipe would stop the program.
        errors = thread.submit(process.stderr.read)
        output = process.stdout.read().decode()
    assert process.wait() == 0, errors.result().decode()
    return output, errors.result().decode()
