"""The kernel's checkup for the panel: started once, with progress reports."""

from __future__ import annotations

import threading

from ..checks.examination import Examination, kernel_info
from ..session.session import Session
from . import messages

_lock = threading.Lock()
_latest: Examination | None = None


def get(_: Session, request: messages.GetCheckup) -> messages.CheckupResult:
    """The findings so far. The checks run in threads of their own, so this never waits."""
    global _latest
    with _lock:
        if _latest is None or (request.restart and _latest.finished):
            _latest = Examination(
                front_end=request.front_end, kernel_info=kernel_info(), aside=True
            )
        checkup = _latest.checkup()
        return messages.CheckupResult(checkup=checkup, summary=checkup.summary())
