"""Splits generated code into the Python wrapper, or the C++ wrapper and the Python around it.

Under ``cpp_wrapper`` torch still writes a Python file, which contains the C++ as one or two raw
strings (``cpp_wrapper_src``, and ``kernel_src`` if kernels are built separately).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..text.lines import line_count

_OPENING = re.compile(r'^(\w+)\s*=\s*\(?\s*\n?[rR]("""|\'\'\')', re.M)
_CPP_NAMES = ("cpp_wrapper_src", "kernel_src")


class CppSource(NamedTuple):
    """A piece of C++ cut out of the shell."""

    name: str
    """The Python variable that holds it."""
    shell_offset: int
    """The position of its marker in the shell, in characters."""
    marker: str
    text: str


class Split(NamedTuple):
    """Generated code, split into its parts."""

    python: str | None
    cpp: str | None
    shell: str | None
    cuts: tuple[CppSource, ...] = ()

    def join(self) -> str:
        """The original text, character for character."""
        if self.shell is None:
            return self.python or ""
        pieces: list[str] = []
        position = 0
        for cut in self.cuts:
            pieces += [self.shell[position : cut.shell_offset], cut.text]
            position = cut.shell_offset + len(cut.marker)
        return "".join(pieces) + self.shell[position:]


def split(text: str) -> Split:
    """Split generated code.

    Parameters
    ----------
    text
        The payload of ``inductor_output_code``.

    Returns
    -------
    Split
        Either ``python``, or ``cpp`` and ``shell``. The C++ has no leading blank line; if there are
        two pieces, the wrapper comes first.
    """
    cuts: list[CppSource] = []
    shell: list[str] = []
    position = length = 0
    for match in _OPENING.finditer(text):
        if match.group(1) not in _CPP_NAMES or match.start() < position:
            continue
        start = match.end()
        end = text.find(match.group(2), start)
        if end < 0:
            break
        name, body = match.group(1), text[start:end]
        if not body.strip():
            continue
        lines = line_count(body)
        marker = f"\n<{lines} lines of C++: the C++ wrapper>\n"
        if name == "kernel_src":
            marker = f"\n<{lines} lines of C++: the kernels>\n"
        before = text[position:start]
        shell.append(before)
        length += len(before)
        cuts.append(CppSource(name, length, marker, body))
        shell.append(marker)
        length += len(marker)
        position = end
    if not cuts or cuts[0].name != "cpp_wrapper_src":
        return Split(text, None, None)
    shell.append(text[position:])
    cpp = "\n".join(cut.text.strip("\n") + "\n" for cut in cuts)
    return Split(None, cpp, "".join(shell), tuple(cuts))


_AOT_ID = re.compile(r"^# AOT ID: \['\d+_(inference|forward|backward)", re.M)
_TANGENT = re.compile(r"\b(?:auto |, |^\s*)tangents_\d+\b(?:, | =|,)", re.M)
_PRIMAL = re.compile(r"\b(?:auto )?primals_\d+\b")


def direction_of(text: str) -> str | None:
    """The graph that generated code belongs to, or None if it does not say.

    The Python wrapper's first line names it; in the C++ wrapper only the inputs' names show it.
    """
    match = _AOT_ID.search(text[:2000])
    if match:
        return match.group(1)
    # The patterns take long in a text without the name.
    if "tangents_" in text and _TANGENT.search(text):
        return "backward"
    if "primals_" in text and _PRIMAL.search(text):
        return "forward"
    return None
