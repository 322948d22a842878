"""The measurement settings of a sweep's cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..processes.runner import Limits
from ..report.argument_checks import check_flag, check_number, check_text


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What holds for every cell of a sweep; the fields are parameters of `compilescope.sweep`."""

    timeout_s: float | None
    memory_gb: float | None
    seconds: float
    items: float = 1.0
    unit: str = "calls"
    folder: Path | None = None
    resume: bool = True

    @property
    def limits(self) -> Limits:
        """The limits of a cell's processes."""
        memory_bytes = None if self.memory_gb is None else self.memory_gb * 1e9
        return Limits(timeout_s=self.timeout_s, memory_bytes=memory_bytes)

    def check(self) -> None:
        """Raises `CompilescopeError` for a number that is not positive, or another wrong value."""
        for name in ("timeout_s", "memory_gb", "seconds", "items"):
            is_limit = name in ("timeout_s", "memory_gb")
            check_number(name, getattr(self, name), "a positive number", optional=is_limit)
        check_text("unit", self.unit, "the name of what a call processes: images")
        check_flag("resume", self.resume)
