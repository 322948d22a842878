"""Requests about code for this machine that another process generates, and replies, as msgpack."""

from __future__ import annotations

import msgspec

from ..report import Compilation, VariantReport
from ..report.what_if import WhatIf


class KnownCall(msgspec.Struct, kw_only=True):
    """A call, and a variant of it that the kernel has not captured."""

    call: bytes
    """As `packed_call.pack` returned it."""
    variants: bytes
    """A variant that the kernel has captured, and the other one; pickled with cloudpickle: an
    option may be a function."""
    fingerprint: str
    """Of the kernel's capture: see `builds.capture_fingerprint`."""
    limit_s: float = 0.0
    """How long each step may take where the call runs."""


class LocalSourcesRequest(msgspec.Struct, kw_only=True):
    """Requests the code of a variant."""

    known: KnownCall
    name: str
    """The variant's name in the report."""


class LocalSourcesReply(msgspec.Struct, kw_only=True):
    """The code, or None if it has to be generated in the kernel."""

    report: VariantReport | None = None
    """Without the requested variant, which the kernel has."""
    why: str = ""
    """Why the kernel has to generate it."""


class LocalWhatIfRequest(msgspec.Struct, kw_only=True):
    """Asks which compilation of a variant another call would use."""

    known: KnownCall
    subject: str
    """What is called, as in the report."""
    compilations: list[Compilation]
    """The variant's; their guards alone."""
    arguments: bytes
    """Those of the other call, packed like a call."""


class LocalWhatIfReply(msgspec.Struct, kw_only=True):
    """The answer, or None if the other process cannot capture the call."""

    answer: WhatIf | None = None
