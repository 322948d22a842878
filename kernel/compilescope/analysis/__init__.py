"""What the records say: from torch's structured trace to the report, one file an artifact."""

from __future__ import annotations

from .assemble import assemble

__all__ = ["assemble"]
