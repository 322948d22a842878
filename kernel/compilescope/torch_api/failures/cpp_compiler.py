"""Failures of the C++ compiler, as problems.

No compiler was found, the machine stopped it, it crashed, or it refused the generated code.

Relies on ``torch._inductor.exc`` (``CppCompileError``: output, cmd).
"""

from __future__ import annotations

import errno
import itertools
import os
import re

from ...report.problem import Problem, SourceLine, first_line_of, message_of
from .cpp import generated_line
from .cpp_messages import DOCTOR
from .disk import disk_full, file_too_large, fullest_folder

_SIGNAL = re.compile(r"(\w[\w ]*?) signal terminated program (\S+)")
"""How gcc says that a part of it ended with a signal."""
_NO_MEMORY = re.compile(
    r"\bKilled\b|out of memory allocating|virtual memory exhausted|"
    + re.escape(os.strerror(errno.ENOMEM))
)
_DISK_FULL = re.compile(re.escape(os.strerror(errno.ENOSPC)))
_TOO_LARGE = re.compile(r"File size limit exceeded|" + re.escape(os.strerror(errno.EFBIG)))


def no_compiler(error: BaseException) -> Problem:
    """The problem for an ``InvalidCxxCompiler``."""
    return Problem(
        severity="error",
        what="No working C++ compiler was found.",
        why=first_line_of(error),
        remedy="Install g++ or clang++ (Debian: apt-get install g++), or set the CXX variable.",
        detail=message_of(error),
    )


def compile_error(error: BaseException) -> Problem:
    """The problem for a ``CppCompileError``, from what the compiler printed."""
    output = str(getattr(error, "output", "") or error)
    if _DISK_FULL.search(output):
        why = _line_with(_DISK_FULL, output)
        return disk_full(_unwritten(error, why), why, detail=message_of(error))
    if (ended := _ended(output, message_of(error))) is not None:
        return ended
    line = re.search(
        r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$", output, re.M
    )
    if line is None:
        return Problem(
            severity="error",
            what="The C++ compiler failed.",
            why=_error_line(output),
            remedy=f"Read what it said, below. {DOCTOR}",
            detail=message_of(error),
        )
    where = SourceLine(
        file=line["file"],
        line=int(line["line"]),
        code=generated_line(line["file"], line["line"]),
    )
    return Problem(
        severity="error",
        what=f"The generated C++ does not compile: {line['text']}",
        why="Either the C++ compiler is broken or too old, or torch generated wrong code.",
        remedy="Compare with the other wrapper; if it builds, report the generated line to "
        "PyTorch.",
        where=where,
        detail=message_of(error),
        facts={**line.groupdict(), "cause": line["text"], "text": where.code},
    )


def _ended(output: str, detail: str) -> Problem | None:
    """The problem if the machine stopped the compiler or it crashed; otherwise None."""
    if _TOO_LARGE.search(output):
        return file_too_large(_line_with(_TOO_LARGE, output), detail=detail)
    if _NO_MEMORY.search(output):
        return Problem(
            severity="error",
            what="The C++ compiler was ended: the memory was probably used up.",
            why=f"{_line_with(_NO_MEMORY, output)} Linux kills a process when memory runs out.",
            remedy="Free memory, or set TORCHINDUCTOR_COMPILE_THREADS=1: a C++ compiler needs up "
            "to 1 GB.",
            detail=detail,
        )
    signal = _SIGNAL.search(output)
    if signal is None:
        return None
    return Problem(
        severity="error",
        what=f"The C++ compiler crashed: {signal[1]} in {signal[2]}.",
        why="A compiler must not crash, whatever it is given: it or the machine is at fault.",
        remedy="Build it again; if it crashes again, set the CXX variable to another compiler.",
        detail=detail,
    )


def _line_with(pattern: re.Pattern[str], output: str) -> str:
    """The first line that matches a pattern, as a sentence."""
    line = next(line.strip() for line in output.splitlines() if pattern.search(line))
    return f"{line.rstrip('.')}."


def _error_line(output: str) -> str:
    """The last line that mentions an error; the last line if none does."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return next(iter([*errors[-1:], *lines[-1:]]), "It said nothing.")


def _unwritten(error: BaseException, line: str) -> str:
    """The file that the compiler could not write, from the line that says so.

    The linker's line names no file: it is the output file of the command.
    """
    named = re.search(r"(?:writing to|file|of) (/[^:\s]+):", line)
    if named:
        return named.group(1)
    command = " ".join(getattr(error, "cmd", None) or []).split()
    outputs = [file for option, file in itertools.pairwise(command) if option == "-o"]
    return outputs[-1] if outputs else fullest_folder()
