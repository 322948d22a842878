"""Requests to a target's process and to an interpreter to check kernels, as msgpack.

A request of kind ``graphs`` is a `GraphsRequest`, its answer a `GraphsReply`; of kind ``check`` a
`CheckRequest`, its answer a `CheckReply`.
"""

from __future__ import annotations

import msgspec

from ..report.target import KernelCheck


class GraphsRequest(msgspec.Struct, kw_only=True):
    """Asks for the graphs of a variant, with their Python wrappers."""

    variant: bytes
    """As in `sources_request.SourcesRequest`."""
    call: bytes
    """As `packed_call.pack` made it."""


class GraphsReply(msgspec.Struct, kw_only=True):
    """The graphs: a list of `torch_api.targets.described_graphs.LoweredGraph`, by pickle."""

    graphs: bytes
    why: str = ""
    """Why some are missing, where some are."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is checked."""

    elements: int = 1 << 24
    """Of all inputs and buffers of a graph."""
    launches: int = 2
    """Of one kernel."""
    blocks: int = 1 << 14
    """Of one launch."""
    launch_s: float = 15.0
    total_s: float = 120.0
    """For all kernels; a kernel that still runs then is stopped."""


class CheckRequest(msgspec.Struct, kw_only=True):
    """Asks whether the kernels of graphs compute what they should."""

    graphs: bytes
    """As in `GraphsReply`."""
    call: bytes = b""
    """As `packed_call.pack` made it: only its own operators are taken from it."""
    limits: Limits = Limits()


class CheckReply(msgspec.Struct, kw_only=True):
    """The verdicts."""

    checks: dict[str, KernelCheck]
    """Body of a kernel (`targets.check.bodies.body`) → the verdict on it."""
