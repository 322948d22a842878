"""Sweeps: a subject under many variants and shapes."""

from __future__ import annotations

from ...report import Sweep
from ...report.variant import Variant
from .envelopes import Message


class StartSweep(Message):
    """Asks for a sweep of a subject, which runs outside the kernel's main thread."""

    subject: str
    variants: list[Variant]
    shapes: dict[str, str] = {}
    """Name → the arguments as written in a call; if empty, the subject's own."""
    timeout_s: float = 300.0
    """The time limit of a cell."""
    memory_gb: float | None = None
    workers: int = 1
    seconds: float = 2.0
    """Seconds of measuring per cell."""
    executor: str = ""
    """The executor's name, of `Choices.executors`; empty: the kernel's machine."""
    resume: bool = True
    """Whether to reuse finished cells."""


class CancelSweep(Message):
    """Asks a sweep to stop; its finished cells stay."""

    subject: str


class GetSweep(Message):
    """Asks for a subject's sweep."""

    subject: str


class SweepResult(Message):
    """The report's own struct; samples of timings are left out."""

    subject: str
    sweep: Sweep | None = None
