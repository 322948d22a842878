"""Finds the line that called a frame that Dynamo compiles, and the function of the frame.

``dynamo_start`` has a stack, but torch leaves the innermost frames out of it, and with them the
call itself (2.11 to 2.15). If torch would skip a callable's file, such as that of a library's
module, it wraps the callable in its own function and names only that. While torch sends the event,
the whole stack can be inspected.

Relies on the name ``fn`` that ``torch._dynamo.eval_frame`` uses for the wrapped callable (2.11 to
2.15).
"""

from __future__ import annotations

import itertools
import linecache
import logging
import os
import sys
import types
from pathlib import Path
from typing import Any

import torch

from ...package_folder import INSIDE
from . import compiled_callable as compiled
from .record_names import DYNAMO_START

_TORCH = f"{Path(torch.__file__).parent}{os.sep}"


def with_caller(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a ``dynamo_start`` event with its ``caller``; any other event's unchanged.

    If torch names its own wrapper function, adds ``compiled``: the wrapped function, named as torch
    would name it. Call this while torch sends the event. There is no caller if torch, a library
    that it uses or compilescope itself made the call.
    """
    start = metadata.get(DYNAMO_START)
    if not isinstance(start, dict):
        return metadata
    stack = start.get("stack") or [{}]
    if (place := _under_wrapper(sys._getframe(1), stack[-1])) is not None:
        start = {**start, "compiled": place}
        metadata = {**metadata, DYNAMO_START: start}
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
    return {**metadata, DYNAMO_START: {**start, "caller": caller}}


def _under_wrapper(frame: types.FrameType | None, named: dict[str, Any]) -> dict[str, Any] | None:
    """The callable inside torch's wrapper function, if that is the frame and it has code."""
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
    """The call's first and last line and its columns in them; known from Python 3.11 on."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    place = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    return list(place) if place else None


def _outside(frame: types.FrameType | None, compiled: dict[str, Any]) -> types.FrameType | None:
    """The innermost frame that is neither torch's nor the one being compiled."""
    compiled_function = (compiled.get("name"), compiled.get("line"))
    while frame is not None and not frame.f_code.co_filename.startswith(_TORCH):
        frame = frame.f_back  # the handler that received the event
    while frame is not None:
        code = frame.f_code
        is_inside = code.co_filename.startswith(INSIDE)
        if (
            # Between torch's event and its wrapper around our handler are frames of logging.
            not code.co_filename.startswith((_TORCH, logging.__file__))
            and (code.co_name, code.co_firstlineno) != compiled_function
        ):
            return None if is_inside else frame
        frame = frame.f_back
    return None
