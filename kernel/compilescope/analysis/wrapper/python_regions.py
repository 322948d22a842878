"""The regions of the Python wrapper (and of the kernels in the Python around a C++ wrapper)."""

from __future__ import annotations

import re

from ..text.brackets import depth
from ..text.wrapper_marks import Comments, Mark, read_comment
from .python_body import Body

_KERNEL = re.compile(r"(\w+) = async_compile\.(\w+)\(")
_FUNCTION = re.compile(r"(\s*)def (\w+)\((?:self, )?args")
_NOT_WRAPPERS = ("recursively_apply_fns", "benchmark_compiled_module")
_QUOTES = ("'''", '"""')
_LANGUAGES = {"cpp": "cpp", "cpp_pybinding": "cpp", "cuda": "cpp", "rocm": "cpp", "sycl": "cpp"}


def scan_python(text: str) -> list[Mark]:
    """Find the regions of a Python wrapper, line by line."""
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.marks: list[Mark] = []
        self.kernels: set[str] = set()
        self.calls: dict[str, list[tuple[int, str]]] = {}
        """Function → the wrapper functions it calls, with the line."""
        self.functions: dict[str, list[Mark]] = {}

    def run(self) -> list[Mark]:
        number = 0
        comments: Comments | None = None
        while number < len(self.lines):
            line = self.lines[number]
            if line.startswith("#"):
                comments = read_comment(comments, line[1:], number)
                number += 1
                continue
            kernel = _KERNEL.match(line)
            if kernel:
                number = self._kernel(kernel, comments, number)
                comments = None
                continue
            comments = None
            function = _FUNCTION.match(line)
            if function and function.group(2) not in _NOT_WRAPPERS:
                number = self._function(function.group(2), len(function.group(1)), number)
                continue
            number += 1
        self._order()
        return self.marks

    def _kernel(self, match: re.Match[str], comments: Comments | None, number: int) -> int:
        """Mark a kernel's definition; return the line after it."""
        name, kind = match.groups()
        opening = self.lines[number]
        quote = next((quote for quote in _QUOTES if opening.rstrip().endswith(quote)), None)
        end = number
        source = None
        if quote:
            while end + 1 < len(self.lines) and quote not in self.lines[end + 1]:
                end += 1
            end = min(end + 1, len(self.lines) - 1)
            source = (number + 2, end)
        else:
            level = depth(opening)
            while level > 0 and end + 1 < len(self.lines):
                end += 1
                level += depth(self.lines[end])
        self.kernels.add(name)
        self.marks.append(
            Mark(
                "kernel",
                (comments.start if comments else number) + 1,
                end + 1,
                label=name,
                kernel=name,
                call=number + 1,
                comments=comments,
                language=_LANGUAGES.get(kind, "triton" if "triton" in kind else "python"),
                source=source,
            )
        )
        return end + 1

    def _function(self, name: str, indent: int, number: int) -> int:
        """Mark a wrapper function and what it does; return the line after it."""
        body = number + 1
        end = body
        while end < len(self.lines):
            line = self.lines[end]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            end += 1
        last = end
        while last > body and not self.lines[last - 1].strip():
            last -= 1
        marks = self.functions.setdefault(name, [])
        body_marks = Body(self.lines, name, self.kernels, self.functions)
        marks += body_marks.run(body, last)
        self.calls[name] = body_marks.calls
        if marks or name == "call":
            self.marks.append(Mark("entry", number + 1, last, label=name, call=number + 1))
            self.marks += marks
        return end

    def _order(self) -> None:
        """Number the launches in the order in which they run: a partition's at its call."""
        places: dict[str, tuple[int, ...]] = {}
        pending = ["call"]
        while pending:
            caller = pending.pop()
            for line, callee in self.calls.get(caller, ()):
                if callee not in places and callee != "call":
                    places[callee] = (*places.get(caller, ()), line)
                    pending.append(callee)
        for name, marks in self.functions.items():
            for mark in marks:
                mark.order = (*places.get(name, ()), mark.start)
