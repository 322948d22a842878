"""Requests to a target's process for code, and the answers, as msgpack.

A request of kind ``sources`` is a `SourcesRequest`, its answer a `SourcesReply`; other kinds have
their own modules of structs.
"""

from __future__ import annotations

import msgspec

from ..report import Compilation, Effective
from ..report.compilation.cuda_graphs import CudaGraphs
from ..report.problem import Problem


class SourcesRequest(msgspec.Struct, kw_only=True):
    """Asks for the code of a variant."""

    name: str
    """The variant's, in the report."""
    variant: bytes
    """By cloudpickle: one of Inductor's options may be a function. `pickle.loads` reads it."""
    call: bytes
    """As `packed_call.pack` made it."""


class SourcesReply(msgspec.Struct, kw_only=True):
    """The code of a variant, and what went wrong."""

    compilations: list[Compilation]
    problems: list[Problem] = []
    effective: list[Effective] = []
    config: dict[str, str] = {}
    cuda_graphs: CudaGraphs | None = None
