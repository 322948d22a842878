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
from ...report.problem import message_of
from ..trace.graphs import source_lines


def where_raised(error: BaseException) -> SourceLine | None:
    """The last line of the user's that the exception passed; None if there is none."""
    frames = list(traceback.walk_tb(error.__traceback__))
    # With its own limit, not that of `sys.tracebacklimit`.
    summaries = traceback.StackSummary.extract(iter(frames), limit=len(frames))
    users = [
        summary
        for summary, (frame, _) in zip(summaries, frames, strict=True)
        if not _is_generated(frame) and not is_internal(summary.filename)
    ]
    if not users:
        return None
    last = users[-1]
    return SourceLine(
        file=last.filename, line=last.lineno or 0, function=last.name, code=last.line or ""
    )


def _is_generated(frame: types.FrameType) -> bool:
    """Whether torch generated the code: it is in no module, unlike that of ``python -c``."""
    return frame.f_code.co_filename == "<string>" and "__name__" not in frame.f_globals


def line_of_node(error: BaseException) -> SourceLine | None:
    """The user's line of the node that a backend was working on; None if neither says it.

    torch's message has it for an interpreted graph; otherwise a frame has the node.
    """
    said = source_lines(message_of(error).partition(_TRACE_OF_NODE)[2])
    if said:
        return _users_last(said)
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        if not frame.f_code.co_filename.startswith(_INTERNAL[0]):
            continue
        for node in map(frame.f_locals.get, _NODES):
            if isinstance(node, torch.fx.Node) and node.meta.get("stack_trace"):
                return _users_last(source_lines(node.meta["stack_trace"]))
    return None


_TRACE_OF_NODE = "Original traceback:"
_NODES = ("n", "node")
"""The names that torch gives a node which it works on."""


def _users_last(lines: list[SourceLine]) -> SourceLine | None:
    return next((line for line in reversed(lines) if not is_internal(line.file)), None)


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
    """The traceback from the first frame whose file is in none of the folders, nor a notebook's."""
    while trace is not None and (
        trace.tb_frame.f_code.co_filename.startswith(folders) or _is_hosts(trace.tb_frame)
    ):
        trace = trace.tb_next
    return trace


_HOSTS = ("IPython", "ipykernel", "marimo")
"""Packages that run cells."""


def _is_hosts(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _HOSTS


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
