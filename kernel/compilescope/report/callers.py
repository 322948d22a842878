"""The source line that a stack frame is at."""

from __future__ import annotations

import linecache
import types

from .problem import SourceLine


def line_of(frame: types.FrameType) -> SourceLine:
    """The line that a frame is at."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return SourceLine(
        file=file,
        line=line,
        function=frame.f_code.co_name,
        code=linecache.getline(file, line).strip(),
    )
