"""What a report is about: a call, a watch, a trace or a package."""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct


class Subject(Struct):
    """The inspected subject."""

    id: str
    name: str
    kind: Literal[
        "function", "lambda", "method", "module", "callable", "watch", "trace", "package"
    ] = "function"
    """watch: everything compiled while the kernel was watched. trace: everything in a file that
    torch wrote. package: a package compiled ahead of time."""
    where: SourceLine | None = None
    call: SourceLine | None = None
    """The line that calls it: the last line of the cell, or the line that calls `inspect`."""
    arguments: list[str] = []
    """One line per argument: ``x: float32[4, 8] cpu``."""
    device: str = "cpu"
    cell: str | None = None
    """The notebook cell's id, if the front end sent one."""
    written: str = ""
    """The variant with the settings of the user's own ``torch.compile``; empty if the subject was
    passed uncompiled."""
