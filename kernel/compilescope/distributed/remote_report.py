"""What was inspected in other processes: a report, and nothing here that could be called."""

from __future__ import annotations

import msgspec

from ..report import Report


class Elsewhere(msgspec.Struct, frozen=True):
    """A subject of another process."""

    report: Report
    where: str
    """``rank 1 of 2``."""
