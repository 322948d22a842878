"""The regions of the C++ wrapper."""

from __future__ import annotations

import re

from ..text.wrapper_marks import Mark
from .cpp_body import scan_body

_NOINLINE = r"static __attribute__\(\(noinline\)\)"
_KERNEL = re.compile(rf'(?:extern "C"|TORCH_EXPORT|static inline|{_NOINLINE})\s.*?\b(\w+)\s*\(')
_HOST = re.compile(
    r"static (?:CUfunction|hipFunction_t|std::unique_ptr<sycl::kernel>|\w+) (\w+) = nullptr;"
)
_EXPORTED = re.compile(r'extern "C"(?: \S+)?\s*$|TORCH_EXPORT\s*$')
"""The beginning of the definition of a template's kernel; its name is on the next line."""
_PREFIX = re.compile(r"#include [<\"].*cpp_prefix\.h")
"""The beginning of each kernel's code; a template's functions follow it."""
_CALLER = re.compile(rf"(?:static inline|{_NOINLINE}) \S+ call_(\w+)\(")
_ENTRY = re.compile(r"(?:\w+ )+(?:\w+::)*(inductor_entry_impl|run_impl|_const_run_impl)\(")


def scan_cpp(text: str) -> list[Mark]:
    """Find the regions of a C++ wrapper, line by line."""
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.marks: list[Mark] = []
        self.kernels: set[str] = set()
        self.embedded: dict[str, tuple[int, int]] = {}
        """Kernel → the lines of its Triton source, which newer versions carry in the C++."""

    def run(self) -> list[Mark]:
        number = 0
        include: int | None = None
        opened: tuple[int, str] | None = None
        entry: tuple[int, int] | None = None
        prefix: int | None = None
        while number < len(self.lines):
            line = self.lines[number]
            if line.startswith("#include"):
                include = number if include is None else include
                if _PREFIX.match(line):
                    prefix = number
                number += 1
                continue
            if _ENTRY.match(line):
                end = self._entry_end(number)
                # AOTInductor's function that folds constants may have nothing to do.
                if not self.lines[end].startswith(") {}"):
                    entry = (number, end)
                number = end + 1
                include = opened = None
                continue
            host = _HOST.match(line)
            if host:
                opened = (number, host.group(1))
                self.kernels.add(host.group(1))
                after = self._raw_string_end(number)
                if after > number:
                    self.embedded[host.group(1)] = self._triton_source_lines(number + 2, after)
                number = after + 1
                continue
            kernel = _KERNEL.match(line)
            if _EXPORTED.match(line) and number + 1 < len(self.lines):
                kernel = _KERNEL.match(f"{line.rstrip()} {self.lines[number + 1]}")
                include = prefix
            if kernel:
                number = self._definition(kernel, number, include, opened) + 1
                opened = None
            else:
                number += 1
            if line.strip():
                include = None
        if entry:
            self.marks += scan_body(self.lines, *entry, kernels=self.kernels)
        return self.marks

    def _raw_string_end(self, number: int) -> int:
        """The last line of a Triton source that follows in a raw string, otherwise ``number``."""
        if number + 1 < len(self.lines) and self.lines[number + 1].endswith('R"TRITON('):
            end = number + 2
            while end < len(self.lines) and not self.lines[end].startswith(')TRITON"'):
                end += 1
            return min(end, len(self.lines) - 1)
        return number

    def _triton_source_lines(self, start: int, end: int) -> tuple[int, int]:
        """The first and last line, from 1, of a Triton source between two lines.

        It may be inside the call that compiles it, as in a Python wrapper.
        """
        if self.lines[start].startswith("async_compile."):
            start += 1
            while end > start and not self.lines[end].startswith("'''"):
                end -= 1
        return start + 1, end

    def _definition(
        self,
        match: re.Match[str],
        number: int,
        include: int | None,
        opened: tuple[int, str] | None,
    ) -> int:
        """Mark the function that begins here if it belongs to a kernel; return its last line."""
        line = self.lines[number]
        caller = _CALLER.match(line)
        declared = number
        while declared < len(self.lines) - 1 and not self.lines[declared].rstrip().endswith(
            (";", "{")
        ):
            declared += 1
            if self.lines[declared].startswith("{"):
                break
        if self.lines[declared].rstrip().endswith(";"):
            if line.startswith('extern "C"'):
                self.kernels.add(match.group(1))
            return declared
        end = declared
        while end < len(self.lines) - 1 and not self.lines[end].startswith("}"):
            end += 1
        name = caller.group(1) if caller else match.group(1)
        if not caller and not line.startswith(('extern "C"', "TORCH_EXPORT")):
            return end
        if caller and opened is None:
            opened = (number, name)
        first = (
            opened[0] if opened and opened[1] == name else number if include is None else include
        )
        self.kernels.add(name)
        source = self.embedded.get(name, (first + 1, end + 1))
        self.marks.append(
            Mark(
                "kernel",
                first + 1,
                end + 1,
                label=name,
                kernel=name,
                call=number + 1,
                language=_language(bool(caller), name in self.embedded),
                source=source,
            )
        )
        return end

    def _entry_end(self, number: int) -> int:
        while number < len(self.lines) - 1 and not self.lines[number].startswith(("} //", ") {}")):
            number += 1
        return number


def _language(caller: bool, embedded: bool) -> str:
    if not caller:
        return "cpp"
    return "triton" if embedded else "launcher"
