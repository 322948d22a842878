"""Decides whether two graphs fail under torch.compile in the same way."""

from __future__ import annotations

import re

from ..report import Problem

DIFFERS = "The results differ from those of torch's operators."
"""The failure of a graph that compiles and gives wrong results."""

_VARYING = re.compile(r"0x[0-9a-f]+|\d+")
"""Addresses, sizes and the numbers of buffers differ from graph to graph."""


def signature(problem: Problem) -> str:
    """What failed and why, without what varies from graph to graph."""
    return _VARYING.sub("#", f"{problem.what} {problem.why}".strip())


def failure_of(error: BaseException) -> str:
    """The signature of an exception under torch.compile, in a call that eager can make."""
    from ..torch_api.failures.failures import under_compile

    return signature(under_compile(error))
