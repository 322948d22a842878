"""The line that called a frame which Dynamo compiles, and whose frame it is.

``dynamo_start`` has a stack, but torch leaves the innermost frames out of it, and with them the
call itself (2.11 to 2.15). Around a callable whose file it would skip, as that of a library's
module, torch puts a function of its own, and names only that. While the event is sent the whole
stack is there to be looked at.

Stands on the name ``fn`` that ``torch._dynamo.eval_frame`` gives what it calls (2.11 to 2.15).
"""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from pathlib import Path
from typing import Any

import torch

from ...package_folder import PACKAGE
from . import compiled_callable as compiled

_TORCH = str(Path(torch.__file__).parent)
_OURS = str(PACKAGE)


def with_caller(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a ``dynamo_start`` with its ``caller``; any other's as it is.

    With ``compiled`` too where torch names a function of its own: what that calls, as torch would
    name it. To be called while torch sends the event. There is no caller where torch, a library
    behind it or compilescope itself made the call.
    """
    start = metadata.get("dynamo_start")
    if not isinstance(start, dict):
        return metadata
    stack = start.get("stack") or [{}]
    if (place := _under_wrapper(sys._getframe(1), stack[-1])) is not None:
        start = {**start, "compiled": place}
        metadata = {**metadata, "dynamo_start": start}
    frame = _outside(sys._getframe(1), stack[-1])
    if frame is None:
        return metadata
    file, line = frame.f_code.co_filename, frame.f_lineno
    caller = {
        "line": line,
        "name": frame.f_code.co_name,
        "filename": file,
        "loc": linecache.getline(file, line, frame.f_globals).strip(),
        "span": _span(frame),
    }
    return {**metadata, "dynamo_start": {**start, "caller": caller}}


def _under_wrapper(frame: types.FrameType | None, named: dict[str, Any]) -> dict[str, Any] | None:
    """What torch's own function calls, if that is the frame; None also for what has no code."""
    if named.get("name") != compiled.WRAPPER_NAME:
        return None
    while frame is not None:
        if frame.f_code.co_filename == compiled.CALLING_FILE:
            fn = frame.f_locals.get("fn")
            if isinstance(fn, types.FunctionType) and compiled.is_wrapper_code(fn.__code__):
                return compiled.place_of(compiled.original(fn))
        frame = frame.f_back
    return None


def _span(frame: types.FrameType) -> list[int | None] | None:
    """The call's first and last line, and where it begins and ends in them; known from 3.11 on."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    place = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    return list(place) if place else None


def _outside(frame: types.FrameType | None, compiled: dict[str, Any]) -> types.FrameType | None:
    """The innermost frame that is neither torch's nor the one that is being compiled."""
    compiled_function = (compiled.get("name"), compiled.get("line"))
    while frame is not None and not frame.f_code.co_filename.startswith(_TORCH):
        frame = frame.f_back  # the handler that was sent the event
    while frame is not None:
        code = frame.f_code
        ours = code.co_filename.startswith(_OURS)
        if (
            not code.co_filename.startswith(_TORCH)
            and (code.co_name, code.co_firstlineno) != compiled_function
        ):
            return None if ours else frame
        frame = frame.f_back
    return None
