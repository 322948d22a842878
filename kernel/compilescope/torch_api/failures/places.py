"""Where in the user's code an exception was raised, and its message."""

from __future__ import annotations

import os
import re
import traceback
import types
from pathlib import Path

import torch

from ...package_folder import INSIDE
from ...report import SourceLine
from ..trace.graphs import source_lines


def where_raised(error: BaseException) -> SourceLine | None:
    """The last line of the user's that the exception passed; None if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if not is_internal(frame.filename)]
    if not users:
        return None
    last = users[-1]
    return SourceLine(
        file=last.filename, line=last.lineno or 0, function=last.name, code=last.line or ""
    )


def users_part(error: BaseException) -> types.TracebackType | None:
    """The traceback from the first frame that is the user's.

    Without such a frame, it is the traceback from torch's first frame; None if all frames are
    compilescope's.
    """
    trace = error.__traceback__
    return _from_outside(trace, _INTERNAL) or _from_outside(trace, (INSIDE,))


def _from_outside(
    trace: types.TracebackType | None, folders: tuple[str, ...]
) -> types.TracebackType | None:
    """The traceback from the first frame whose file is in none of the folders."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(folders):
        trace = trace.tb_next
    return trace


_INTERNAL = (f"{Path(torch.__file__).parent}{os.sep}", INSIDE)
"""The folders of torch and compilescope: frames in them are not the user's."""


def is_internal(file: str) -> bool:
    """Whether a file is torch's or compilescope's."""
    return file.startswith(_INTERNAL)


def text_after(label: str, text: str) -> str:
    """The rest of the first line that begins with a label; empty if none does."""
    match = re.search(rf"^\s*{re.escape(label)}(.*)$", text, re.MULTILINE)
    return match.group(1) if match else ""


def last_traced(error: BaseException) -> SourceLine | None:
    """The user's last line that Dynamo traced."""
    stack = getattr(error, "real_stack", None) or []
    users = [frame for frame in stack if not is_internal(frame.filename)]
    frames = source_lines("".join(traceback.format_list(users)))
    return frames[-1] if frames else where_raised(error)
