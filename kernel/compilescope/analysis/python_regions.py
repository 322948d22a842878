"""The regions of the Python wrapper (and of the kernels in the Python around a C++ wrapper)."""

from __future__ import annotations

import re

from .scan import Comments, Mark, read_comment
from .text import depth

_KERNEL = re.compile(r"(\w+) = async_compile\.(\w+)\(")
_FUNCTION = re.compile(r"(\s*)def (\w+)\((?:self, )?args")
_CALL = re.compile(r"(?:([\w, ()]+?) = )?([A-Za-z_][\w.]*)(\[[^\]]*\])?\(")
_NOT_WRAPPERS = ("recursively_apply_fns", "benchmark_compiled_module")
_QUOTES = ("'''", '"""')
_NOT_LAUNCHES = frozenset(
    (
        "args.clear",
        "get_raw_stream",
        "run_intermediate_hooks",
        "start_graph",
        "end_graph",
        "torch.cuda.set_device",
        "torch.xpu.set_device",
        "torch.cuda._DeviceGuard",
        "torch._C._cuda_getCurrentRawStream",
    )
)
_PREPARES = re.compile(r"with |\w+ = get_raw_stream\(|torch\.\w+\.set_device\(")
"""Stands between a launch's comments and the launch."""
_GUARDS = ("assert_size_stride(", "assert_alignment(", "assert ")
_ALLOC = re.compile(
    r"(\w+) = (?:empty_strided\w*|torch\.empty\w*|alloc_from_pool|reinterpret_tensor|"
    r"\w+ *; *del|torch\.as_strided)"
)
_REUSE = re.compile(r"(\w+) = .*; del \w+(?:\s+# reuse)?\s*$")
_FREE = re.compile(r"del (\w+)")
_LIBRARIES = (
    "extern_kernels.",
    "torch.ops.",
    "aten.",
    "prims.",
    "inductor_ops.",
    "_quantized.",
    "torch._C._",
)
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
        self._statements(name, body, last, marks)
        if marks or name == "call":
            self.marks.append(Mark("entry", number + 1, last, label=name, call=number + 1))
            self.marks += marks
        return end

    def _statements(self, function: str, number: int, end: int, marks: list[Mark]) -> None:
        comments: Comments | None = None
        while number < end:
            stripped = self.lines[number].strip()
            start = number
            if stripped.startswith("#"):
                comments = read_comment(comments, stripped[1:], number)
                number += 1
                continue
            level = depth(stripped)
            while level > 0 and number + 1 < end:
                number += 1
                level += depth(self.lines[number])
            number += 1
            if not stripped:
                continue
            mark = self._statement(function, stripped, start, number, comments)
            if mark:
                marks.append(mark)
            if mark.kind == "launch" if mark else not _PREPARES.match(stripped):
                comments = None

    def _statement(
        self, function: str, text: str, start: int, end: int, comments: Comments | None
    ) -> Mark | None:
        """Mark the statement of lines [start, end), counted from 0."""
        first = start + 1
        if text.startswith("return"):
            return Mark("return", first, end, label=function)
        if text.startswith(_GUARDS):
            return Mark("guard", first, end, label=_argument(text))
        free = _FREE.match(text)
        if free:
            return Mark("free", first, end, label=free.group(1))
        alloc = _REUSE.match(text) or _ALLOC.match(text)
        if alloc:
            return Mark("alloc", first, end, label=alloc.group(1))
        call = _CALL.match(text)
        if call is None:
            return None
        target = call.group(2)
        head, _, attribute = target.partition(".")
        if target in self.functions or target.startswith(("self.partitions", "partition_")):
            index = call.group(3)
            callee = f"partition_{index[1:-1]}" if index else target
            self.calls.setdefault(function, []).append((first, callee))
            return None
        is_kernel = head in self.kernels and attribute in ("", "run")
        known = comments is not None and comments.handle is not None
        if target in _NOT_LAUNCHES or not (is_kernel or known or target.startswith(_LIBRARIES)):
            return None
        name = head if is_kernel else target
        if comments and comments.handle and not is_kernel:
            name = comments.handle[0]
        return Mark(
            "launch",
            (comments.start if comments else start) + 1,
            end,
            label=name,
            kernel=name,
            call=first,
            handle=comments.handle[1] if comments and comments.handle else None,
            comments=comments,
            scope="" if function == "call" or function.startswith("partition_") else function,
        )

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


def _argument(text: str) -> str:
    inside = text[text.find("(") + 1 :]
    return re.split(r"[,)\s]", inside, maxsplit=1)[0]
