"""Finds out whether torch raises the error of a failed compilation although errors are suppressed.

``suppress_errors`` has no effect on what is compiled with ``fullgraph=True``, or under
``torch._dynamo.error_on_graph_break(True)``. No event says which it is; while torch sends one, its
stack can be inspected.

Relies on ``torch._dynamo.convert_frame``: errors are suppressed in ``ConvertFrame.__call__``, which
``CatchErrorsWrapper.__call__`` calls without ``fullgraph``, and not where the ``_box`` of its
``_inner_convert`` says ``error_on_graph_break``; as read in 2.13.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from torch._dynamo import config, convert_frame

from .artifact_names import RAISES
from .compile_calls import skip
from .record_names import COMPILATION_METRICS


def with_raising(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata of ``compilation_metrics`` with `RAISES`, if that is so; else unchanged.

    Call this while torch sends the event.
    """
    settings: Any = config
    if COMPILATION_METRICS not in metadata or not settings.suppress_errors:
        return metadata
    return {**metadata, RAISES: True} if _raises(sys._getframe(1)) else metadata


def _raises(frame: types.FrameType | None) -> bool:
    suppressing = convert_frame.ConvertFrame.__call__.__code__
    outermost = convert_frame.CatchErrorsWrapper.__call__.__code__
    while frame is not None:
        if frame.f_code is suppressing:
            box = getattr(getattr(frame.f_locals.get("self"), "_inner_convert", None), "_box", None)
            return bool(getattr(box, "error_on_graph_break", False))
        if frame.f_code is outermost:
            return True
        frame = frame.f_back
    return False


skip(with_raising, _raises)
