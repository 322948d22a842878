"""Sweeps: a subject under many variants and shapes."""

from __future__ import annotations

from ...report import Sweep
from ...report.variant import Variant
from .envelopes import Message


class StartSweep(Message):
    """Asks for a sweep of a subject; it runs beside the kernel's main thread."""

    subject: str
    variants: list[Variant]
    shapes: dict[str, str] = {}
    """Name → the arguments as written in a call; the subject's own where there are none."""
    timeout_s: float = 300.0
    """For a cell."""
    memory_gb: float | None = None
    workers: int = 1
    seconds: float = 2.0
    """Of measuring, a cell."""
    resume: bool = True
    """Take over finished cells."""


class CancelSweep(Message):
    """Asks a sweep to end; its finished cells stay."""

    subject: str


class GetSweep(Message):
    """Asks for a subject's sweep."""

    subject: str


class SweepResult(Message):
    """The report's own struct; samples of timings are left out."""

    subject: str
    sweep: Sweep | None = None
