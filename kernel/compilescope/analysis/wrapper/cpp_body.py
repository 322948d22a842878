"""Reads the entry function of the C++ wrapper, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..text.brackets import depth
from ..text.wrapper_marks import Comments, Mark, launch_mark, read_comment

_ALLOC = re.compile(r"aoti_torch_(?:empty_strided\w*|_?alloc_from_pool|_?reinterpret_tensor)\(")
_OUTPUT_HANDLE = re.compile(r"&(\w+?)(?:_handle)?\)")
_REUSE = re.compile(r"(?:auto|RAIIAtenTensorHandle) (\w+) = .*// reuse\s*$")
_VIEW = re.compile(
    r"(?:auto|RAIIAtenTensorHandle|AtenTensorHandle) (\w+) = .*reinterpret_tensor_wrapper\("
)
_FREE = re.compile(r"(\w+)\.reset\(\);")
_RAII = re.compile(r"RAIIAtenTensorHandle (\w+)\(\1_handle\);")
# A list that torch fills for a profiler contains a shim's name: ``aoti_…_inputs_({``.
_SHIM = re.compile(r"\b(aoti_torch_(?:cpu|cuda|xpu|mps|hip|mtia|hpu|privateuse1)_\w+)\((?!\{)")
_DISPATCH = re.compile(
    r'aoti_torch_call_dispatcher\("([^"]+)"|findSchemaOrThrow\("([^"]+)"|'
    r"(PyObject_CallObject)\(|(aoti_torch_proxy_executor_call_function)\("
)
_GUARDS = ("assert_size_stride(", "assert_alignment(", "AOTI_TORCH_CHECK(", "check_input")
_CALL = re.compile(r"(\w+)\(")
_SCOPE = re.compile(r"// subgraph: (\w+)|\}( else|$)")
_BEGINS = re.compile(r"static constexpr |AtenTensorHandle \w+;")
"""The first line of a statement that allocates a tensor."""
_DECLARATION = re.compile(
    r"(?:static constexpr|const |AtenTensorHandle \w+_handle;|RAIIAtenTensorHandle \w+;|"
    r"\w+ var_|\w+Stream_t |AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_get_current_\w+_stream)"
)


def scan_body(lines: Sequence[str], start: int, end: int, *, kernels: set[str]) -> list[Mark]:
    """Find the regions of the entry function.

    Parameters
    ----------
    lines
        The whole file's.
    start, end
        The function's first and last line, from 0.
    kernels
        The names of the kernels that the file defines or declares.
    """
    return _Body(lines, kernels).run(start, end)


class _Body:
    def __init__(self, lines: Sequence[str], kernels: set[str]) -> None:
        self.lines = lines
        self.kernels = kernels
        self.marks: list[Mark] = []
        self.scope = ""

    def run(self, start: int, end: int) -> list[Mark]:
        opening = start
        while opening < end and not self.lines[opening].rstrip().endswith("{"):
            opening += 1
        self.marks.append(Mark("entry", start + 1, end + 1, label="call", call=start + 1))
        number = opening + 1
        comments: Comments | None = None
        handles: int | None = None
        while number < end:
            stripped = self.lines[number].strip()
            scope = _SCOPE.match(stripped)
            if scope:
                self.scope = scope.group(1) or ""
            if stripped.startswith("//"):
                comments = read_comment(comments, stripped[2:], number)
                number += 1
                continue
            begin = number
            number = self._statement_end(number, end, stripped)
            whole = (
                stripped
                if number == begin + 1
                else "\n".join(line.strip() for line in self.lines[begin:number])
            )
            if not whole:
                continue
            if _BEGINS.match(whole):
                handles = begin if handles is None else handles
                continue
            mark = self._statement(whole, begin, number, comments, handles)
            if mark is None:
                if not _DECLARATION.match(whole):
                    handles = None
                continue
            handles = None
            if mark.kind == "alloc" and number < end and _RAII.match(self.lines[number].strip()):
                number += 1
                mark.end = number
            if mark.kind == "launch":
                comments = None
                while number < end and _RAII.match(self.lines[number].strip()):
                    number += 1
                    mark.end = number
            self.marks.append(mark)
        return self.marks

    def _statement_end(self, number: int, end: int, first: str) -> int:
        """The line after the statement. A bare block counts as one statement, a branch does not."""
        brackets = "{}" if first == "{" else "()"
        level = depth(first, brackets)
        while level > 0 and number + 1 < end:
            number += 1
            level += depth(self.lines[number], brackets)
        return number + 1

    def _statement(
        self, text: str, start: int, end: int, comments: Comments | None, handles: int | None
    ) -> Mark | None:
        first = start + 1
        output = re.match(r"output_handles\[(\d+)\]", text)
        if output:
            last = self.marks[-1]
            if last.kind == "return" and last.end == start:
                last.end = end
                return None
            return Mark("return", first, end, label="call")
        if text.startswith(_GUARDS):
            inside = text[text.find("(") + 1 :]
            return Mark("guard", first, end, label=re.split(r"[,)\s]", inside, maxsplit=1)[0])
        free = _FREE.match(text)
        if free:
            return Mark("free", first, end, label=free.group(1))
        reuse = _REUSE.match(text) or _VIEW.match(text)
        if reuse:
            return Mark("alloc", first, end, label=reuse.group(1))
        if _ALLOC.search(text) and not _SHIM.search(text):
            target = _OUTPUT_HANDLE.search(text)
            begin = first if handles is None else handles + 1
            return Mark("alloc", begin, end, label=target.group(1) if target else "")
        name = self._launched(text, comments)
        if name is None:
            return None
        return launch_mark(name, start, end, comments, self.scope)

    def _launched(self, text: str, comments: Comments | None) -> str | None:
        """The name of the kernel that a statement launches."""
        # With profiler ranges, a launch is inside its own block.
        for line in text.split("\n") if text.startswith("{") else (text,):
            call = _CALL.match(line)
            if call:
                name = call.group(1).removeprefix("call_")
                if name in self.kernels:
                    return name
        shim = _SHIM.search(text)
        if shim:
            return shim.group(1)
        dispatch = _DISPATCH.search(text)
        if dispatch:
            if comments and comments.handle:
                return comments.handle[0]
            return next(group for group in dispatch.groups() if group)
        return None
