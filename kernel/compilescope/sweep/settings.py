"""How the cells of a sweep are measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..processes.runner import Limits
from ..report.errors import CompilescopeError


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
        """Raises an error unless every number is positive."""
        for name in ("timeout_s", "memory_gb", "seconds", "items"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise CompilescopeError(
                    f"{name} is {value:g}.", remedy="It takes a positive number."
                )
