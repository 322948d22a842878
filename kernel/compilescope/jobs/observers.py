"""The observers of a session, which are notified of changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from contextlib import suppress

from .jobs import Job

_log = logging.getLogger(__name__)

Observer = Callable[[str, str, Job | None, Collection[str] | None], None]
"""Called with the kind of change ("subjects", "offer", "report", "job", "watch",
"measured", "sweep" or "choices"), the subject, the job, and for a report the variants whose texts
may have changed; None: all."""


class Observers:
    """Notifies all observers; one that raises is removed, the others are unaffected."""

    def __init__(self) -> None:
        self._observers: list[Observer] = []

    def add(self, observer: Observer) -> Callable[[], None]:
        """Adds an observer; returns a function that removes it."""
        self._observers.append(observer)
        return lambda: self._remove(observer)

    def notify(
        self,
        kind: str,
        subject: str,
        job: Job | None = None,
        variants: Collection[str] | None = None,
    ) -> None:
        """Notifies the observers of a change."""
        for observer in list(self._observers):
            try:
                observer(kind, subject, job, variants)
            except Exception:  # noqa: BLE001, PERF203 - who looks on must not stop the work
                self._remove(observer)
                _log.warning("An observer failed and is removed.", exc_info=True)

    def _remove(self, observer: Observer) -> None:
        # Another thread may have done so.
        with suppress(ValueError):
            self._observers.remove(observer)
