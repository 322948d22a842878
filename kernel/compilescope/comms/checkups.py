"""The kernel's checkup, as the panel asks for it: begun once, told as it goes on."""

from __future__ import annotations

import threading

from ..checks.examination import Examination, kernel_info
from ..session.session import Session
from . import messages

_lock = threading.Lock()
_latest: Examination | None = None


def get(_: Session, request: messages.GetCheckup) -> messages.CheckupResult:
    """What is found by now. The checks are made in threads of their own: nothing waits here."""
    global _latest
    with _lock:
        if _latest is None or (request.again and _latest.finished):
            _latest = Examination(
                front_end=request.front_end, kernel_info=kernel_info(), aside=True
            )
        return messages.CheckupResult(checkup=_latest.checkup())
