"""Requests to a target's process for its kernels' assembly, and the answers."""

from __future__ import annotations

import msgspec


class RequestedKernel(msgspec.Struct):
    """A kernel to compile."""

    name: str
    source: str
    """As Inductor wrote it."""


class AssemblyRequest(msgspec.Struct):
    """Asks for the assembly of kernels."""

    kernels: list[RequestedKernel]


class Assembled(msgspec.Struct):
    """A kernel compiled under one configuration."""

    config: dict[str, str] = {}
    texts: dict[str, str] = {}
    """Form → text, as it is shown."""
    lines: dict[str, list[int]] = {}
    """Form → for each line of the text, that of the kernel's source; 0 where none is known."""
    resources: dict[str, float] = {}
    absent: dict[str, str] = {}
    why: str = ""
    """Why it was not compiled."""


class AssembledKernel(msgspec.Struct):
    """A kernel compiled under its configurations."""

    configs: list[Assembled] = []
    """In the order in which torch would try them."""
    why: str = ""
    """Why there are none."""


class AssemblyReply(msgspec.Struct):
    """The answer to `AssemblyRequest`: its kernels, in its order."""

    kernels: list[AssembledKernel]
