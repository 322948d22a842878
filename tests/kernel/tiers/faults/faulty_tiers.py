"""A function that is compiled in tiers, and what became of its second tier."""

from __future__ import annotations

from typing import Any

import compilescope as cs
import torch
from compilescope.report.problem import Problem
from compilescope.tiers import background
from compilescope.tiers.builder import builder

X = torch.linspace(-1, 1, 12)


def subject(x: torch.Tensor) -> torch.Tensor:
    """The same in every test, so that its C++ is compiled once."""
    return x.exp() + 1


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
