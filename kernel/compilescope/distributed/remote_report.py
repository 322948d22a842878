"""A subject inspected in other processes: it has a report but cannot be called here."""

from __future__ import annotations

import msgspec

from ..report import Report


class RemoteSubject(msgspec.Struct, frozen=True):
    """A subject of another process."""

    report: Report
    where: str
    """``rank 1 of 2``."""
