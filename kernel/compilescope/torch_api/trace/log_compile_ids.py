"""Makes torch's log lines name an inspection's compilations by the report's ids.

Torch begins its log lines with a compile id, ``[0/1]``. An inspection uses frame numbers far from
the user's (`trace.FIRST_FRAME`), which would confuse a reader.

Relies on ``torch._guards.TraceId``, which only torch's log formatter converts to text, and
``CompileContext.current_compile_id``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._guards import CompileContext, TraceId

from .numbering import Numbering

FIRST_FRAME = 1_000_000
"""The first frame number of inspections, far from the user's."""
_MAX_IDS = 1024
"""How many ids are kept, including those of variants generated after others were captured."""
_UNKNOWN = "inspection"


_shown: dict[str, str] = {}
_numbering = Numbering()
_lock = threading.Lock()
_blocks = 0
"""How many `shown` blocks are open."""
_before = TraceId.__str__


def is_inspection() -> bool:
    """Whether what torch compiles on this thread now belongs to an inspection."""
    compile_id = CompileContext.current_compile_id()
    frame = compile_id.frame_id if compile_id is not None else None
    return frame is not None and frame >= FIRST_FRAME


def restart_numbering() -> None:
    """Restarts the numbering for another variant."""
    global _numbering
    _numbering = Numbering()


def number_event(metadata: dict[str, Any]) -> None:
    """Numbers the compilation of an inspection's event, if it is the first event of it."""
    compile_id = f"{metadata.get('frame_id')}/{metadata.get('frame_compile_id')}"
    if "None" in compile_id or compile_id in _numbering.ids:
        return
    _shown.pop(compile_id, None)
    _shown[compile_id] = _numbering.add(compile_id)
    while len(_shown) > _MAX_IDS:
        del _shown[next(iter(_shown))]


@contextmanager
def shown() -> Iterator[None]:
    """Makes torch's log lines use the report's ids for an inspection's compilations in the block.

    Blocks of several threads may overlap: one captures the user's calls, another generates code.
    Compilations of the user's own code keep their ids.
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
