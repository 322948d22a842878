"""Explains failures inside generated code from the exception that reached Python.

A C++ wrapper throws ``aoti_torch_… API call failed at ….cpp, line N`` and nothing more. torch keeps
the reason for the thread until the next failure there, and
``torch_exception_get_what_without_backtrace`` of its library returns it. In a version without that
function torch only printed the reason, so it is not known here.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import traceback
from pathlib import Path
from typing import Any

import torch

from ...report.problem import Problem, SourceLine, message_of
from . import cpp_messages

_TORCH = Path(torch.__file__).parent
_WRAPPED = str(_TORCH / "_inductor" / "output_code.py")
"""The function that calls a generated wrapper."""
_FAILED_CALL = " API call failed at "
_PYTHON_LINE = re.compile(r"^\s+(\S.*)\((\d+)\): (\S+)$", re.M)


def explain(error: BaseException) -> Problem | None:
    """The problem of a failure inside generated code or while building it; None for any other."""
    frames = traceback.extract_tb(error.__traceback__)
    torchs = [frame for frame in frames if frame.filename.startswith(f"{_TORCH}{os.sep}")]
    if not torchs or _is_users_library(torchs[-1]):
        return None
    text = message_of(error)
    cause = last_message() if _FAILED_CALL in text else ""
    problem = cpp_messages.explain(text, cause)
    called = _called(frames)
    if problem is None and called and type(error) is RuntimeError and not text:
        problem = cpp_messages.problem_without_message()
    if problem is None:
        return None
    line = generated_line(problem.facts.get("file", ""), problem.facts.get("line", ""))
    problem.facts |= {k: v for k, v in (("text", line), ("wrapper", called)) if v}
    problem.where = _python_line(cause)
    return problem


def _is_users_library(frame: traceback.FrameSummary) -> bool:
    """Whether torch loads a library for the user's ``torch.ops.load_library``."""
    return (frame.filename, frame.name) == (str(_TORCH / "_ops.py"), "load_library")


def generated_line(file: str, line: str) -> str:
    """A line of a generated file; empty if the file no longer exists."""
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
    except (OSError, IndexError, ValueError):
        return ""


def last_message() -> str:
    """Torch's message about the last failed call from generated code on this thread, if kept."""
    for file in (_TORCH / "lib").glob("libtorch_cpu.*"):
        library = ctypes.CDLL(str(file))  # already loaded: this returns the same library
        say: Any = getattr(library, "torch_exception_get_what_without_backtrace", None)
        if say is not None:
            say.restype = ctypes.c_char_p
            return str((say() or b"").decode("utf-8", errors="replace"))
    return ""


def _called(frames: traceback.StackSummary) -> str:
    """The file of the wrapper that was running; empty if there was none."""
    for outer, inner in itertools.pairwise(frames):
        if outer.filename == _WRAPPED and not inner.filename.startswith(str(_TORCH)):
            return inner.filename
    return ""


def _python_line(cause: str) -> SourceLine | None:
    """Where an operator written in Python raised, from the exception that torch keeps."""
    match = _PYTHON_LINE.search(cause)
    if match is None or match[1].startswith(str(_TORCH)):
        return None
    return SourceLine(file=match[1], line=int(match[2]), function=match[3])
