"""A report that is updated whenever it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..report import Report

_GROWING = frozenset(("variants", "problems", "files", "tiers"))


class LiveReport(Report, kw_only=True, dict=True):
    """A report that its source updates before every read."""

    def follow(self, refresh: Callable[[], None] | None) -> None:
        """Calls ``refresh`` before every read from now on; None ends that."""
        vars(self)["_refresh"] = refresh

    def __getattribute__(self, name: str) -> Any:
        if name in _GROWING:
            refresh = object.__getattribute__(self, "__dict__").get("_refresh")
            if refresh is not None:
                refresh()
        return super().__getattribute__(name)

    def to_json(self) -> str:
        """As `Report.to_json`."""
        self._now()
        return super().to_json()

    def redacted(self) -> Report:
        """As `Report.redacted`."""
        self._now()
        return super().redacted()

    def _now(self) -> None:
        """Refreshes first, since the encoder bypasses Python's attribute access."""
        assert self.variants is not None
