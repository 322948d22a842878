"""The memory of this process as Linux counts it."""

from __future__ import annotations

import re
from pathlib import Path

_STATUS = Path("/proc/self/status")


def status_bytes(name: str) -> float | None:
    """A figure of ``/proc/self/status`` in bytes; None where the system has none of this name.

    Parameters
    ----------
    name
        ``VmRSS``: the current resident size. ``VmHWM``: its peak.
    """
    if not _STATUS.exists():
        return None
    match = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text())
    return float(match[1]) * 1024 if match else None
