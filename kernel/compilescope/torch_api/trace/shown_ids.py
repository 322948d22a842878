"""The ids by which torch's log lines name an inspection's compilations: those of the report.

Torch begins its log lines with the id of what is compiled, ``[0/1]``. An inspection counts its
frames far from the user's (`trace.FIRST_FRAME`), which nobody should have to read.

Stands on ``torch._guards.TraceId``, which torch's log formatter alone makes a text of; the same
from 2.11 to 2.15.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._guards import TraceId

from .numbering import Numbering

FIRST_FRAME = 1_000_000
"""The frame number from which on inspections count theirs. Far from the user's."""
_MOST = 1024
"""How many ids are remembered: of variants that are generated after others were captured, too."""
_UNKNOWN = "inspection"


_shown: dict[str, str] = {}
_numbering = Numbering()
_lock = threading.Lock()
_blocks = 0
"""How many blocks of `shown` are open."""
_before = TraceId.__str__


def begin() -> None:
    """What is compiled from now on is counted anew: it is of another variant."""
    global _numbering
    _numbering = Numbering()


def note(metadata: dict[str, Any]) -> None:
    """Counts the compilation of an event of an inspection, where it is the first of it."""
    compile_id = f"{metadata.get('frame_id')}/{metadata.get('frame_compile_id')}"
    if "None" in compile_id or compile_id in _numbering.ids:
        return
    _shown.pop(compile_id, None)
    _shown[compile_id] = _numbering.add(compile_id)
    while len(_shown) > _MOST:
        del _shown[next(iter(_shown))]


@contextmanager
def shown() -> Iterator[None]:
    """In the block torch's log lines name what an inspection compiles as its report does.

    Blocks of several threads may overlap: the user's calls are captured in one, code is generated
    in another. What the user's own code compiles meanwhile keeps its id.
    """
    global _blocks, _before
    with _lock:
        _blocks += 1
        if _blocks == 1:
            _before = TraceId.__str__
            TraceId.__str__ = _text  # type: ignore[method-assign]
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if _blocks == 0:
                TraceId.__str__ = _before  # type: ignore[method-assign]


def _text(trace: TraceId) -> str:
    frame = trace.compile_id.frame_id
    if frame is None or frame < FIRST_FRAME:
        return _before(trace)
    name = _shown.get(f"{frame}/{trace.compile_id.frame_compile_id}", _UNKNOWN)
    return f"{name}_{trace.attempt}" if trace.attempt and name != _UNKNOWN else name
