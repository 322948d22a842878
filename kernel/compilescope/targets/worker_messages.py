"""Messages between a kernel and a target's process; each begins with its length."""

from __future__ import annotations

import struct
from typing import IO, Literal

import msgspec

from ..report.devices import Device
from ..report.problem import Problem

Role = Literal["compiler", "local", "local_run", "local_gpu", "interpreter"]
"""compiler: it emulates a target. local: it generates code for this machine's CPU, of calls that it
only traces. local_run: as local, of calls that run in forks of it. local_gpu: it generates code for
this machine's GPU, which is hidden from it. interpreter: it runs Triton's kernels on the CPU."""

_LENGTH = struct.Struct(">Q")


class Enter(msgspec.Struct, tag=True, kw_only=True):
    """The first message: what the process is to become."""

    role: Role
    device: Device | None = None
    """The target of a compiler, or this machine's GPU."""
    backend_hash: str = ""
    """Of this machine's GPU: the hash that the kernel writes into its Triton code."""


class Request(msgspec.Struct, tag=True, kw_only=True):
    """A request; the module ``answer_<kind>`` answers it."""

    kind: str
    payload: bytes
    folder: str
    """The kernel's current working directory."""
    folders: list[str] = []
    """Where it finds modules."""


class Step(msgspec.Struct, tag=True, kw_only=True):
    """What the process does now."""

    step: str


class Answer(msgspec.Struct, tag=True, kw_only=True):
    """What came of a request."""

    payload: bytes


class Failed(msgspec.Struct, tag=True, kw_only=True):
    """Why a request failed. The process can still be used, unless it failed to start."""

    problem: Problem


class Outdated(msgspec.Struct, tag=True, kw_only=True):
    """A module that the process has loaded has changed since: it must restart."""


Message = Enter | Request | Step | Answer | Failed | Outdated


def write(stream: IO[bytes], message: Message) -> None:
    """Sends a message.

    Raises
    ------
    OSError
        Nobody is at the other end.
    """
    data = msgspec.msgpack.encode(message)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read(stream: IO[bytes]) -> Message | None:
    """The next message; None when the other end is gone, perhaps in the middle of one."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    data = stream.read(size)
    return _decoder.decode(data) if len(data) == size else None


_decoder = msgspec.msgpack.Decoder(Message)
