"""How the interpretation of a kernel ends without a result."""

from __future__ import annotations


class CannotInterpretError(Exception):
    """The interpreter cannot run the kernel; the message is the end of a sentence that says why."""


class KernelFaultError(Exception):
    """The kernel is faulty: one of its assertions fails, or it accesses memory of no argument."""


class OutOfTimeError(Exception):
    """The kernel did not finish in time."""
