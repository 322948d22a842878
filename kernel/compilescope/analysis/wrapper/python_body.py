"""Reads a function of the Python wrapper, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..text.brackets import depth
from ..text.wrapper_marks import Comments, Mark, launch_mark, read_comment
from .size_checks import size_checks

_CALL = re.compile(r"(?:([\w, ()]+?) = )?([A-Za-z_][\w.]*)(\[[^\]]*\])?\(")
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
"""A line between a launch's comments and the launch."""
_GUARDS = ("assert_size_stride", "assert_tensor_metadata(", "assert_alignment(", "assert ")
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


class Body:
    """Reads one function.

    Parameters
    ----------
    lines
        The whole file's.
    function
        The function's name.
    kernels, functions
        The names of the kernels and of the wrapper's other functions above it.
    """

    def __init__(
        self,
        lines: Sequence[str],
        function: str,
        kernels: Collection[str],
        functions: Collection[str],
    ) -> None:
        self.lines = lines
        self.function = function
        whole = function == "call" or function.startswith("partition_")
        self.scope = "" if whole else function
        self.kernels = kernels
        self.functions = functions
        self.calls: list[tuple[int, str]] = []
        """The wrapper's functions that this one calls, with the line."""

    def run(self, number: int, end: int) -> list[Mark]:
        """Find the regions in lines [number, end)."""
        marks: list[Mark] = []
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
            if stripped.startswith(_GUARDS):
                marks += self._guards(stripped, start + 1, number)
                continue
            mark = self._statement(stripped, start, number, comments)
            if mark:
                marks.append(mark)
            if mark.kind == "launch" if mark else not _PREPARES.match(stripped):
                comments = None
        return marks

    def _guards(self, text: str, start: int, end: int) -> list[Mark]:
        """Mark each tensor that a statement checks: the C++ wrapper has a statement for each."""
        whole = " ".join([text, *(line.strip() for line in self.lines[start:end])])
        names = [size_check.tensor for size_check in size_checks(whole)] or [_argument(text)]
        return [Mark("guard", start, end, label=name) for name in names]

    def _statement(self, text: str, start: int, end: int, comments: Comments | None) -> Mark | None:
        """Mark the statement of lines [start, end), counted from 0."""
        first = start + 1
        if text.startswith("return"):
            return Mark("return", first, end, label=self.function)
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
            self.calls.append((first, callee))
            return None
        is_kernel = head in self.kernels and attribute in ("", "run")
        has_handle = comments is not None and comments.handle is not None
        if target in _NOT_LAUNCHES or not (
            is_kernel or has_handle or target.startswith(_LIBRARIES)
        ):
            return None
        name = head if is_kernel else target
        if comments and comments.handle and not is_kernel:
            name = comments.handle[0]
        return launch_mark(name, start, end, comments, self.scope)


def _argument(text: str) -> str:
    inside = text[text.find("(") + 1 :]
    return re.split(r"[,)\s]", inside, maxsplit=1)[0]
