"""Tells whether two graphs fail to compile in the same way."""

from __future__ import annotations

import re

from ..report import Problem

_VARYING = re.compile(r"0x[0-9a-f]+|\d+")
"""Addresses, sizes and the numbers of buffers differ from graph to graph."""


def signature(problem: Problem) -> str:
    """What failed and why, without what varies from graph to graph."""
    return _VARYING.sub("#", f"{problem.what} {problem.why}".strip())


def failure_of(error: BaseException) -> str:
    """The signature of an exception of torch.compile's; empty if it is another."""
    from ..torch_api.failures.failures import of_torch

    problem = of_torch(error)
    return "" if problem is None else signature(problem)
