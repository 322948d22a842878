"""The regions of the C++ wrapper."""

from __future__ import annotations

import re

from .scan import Comments, Mark, read_comment
from .text import depth

_KERNEL = re.compile(r'(?:extern "C"|TORCH_EXPORT|static inline)\s.*?\b(\w+)\s*\(')
_HOST = re.compile(
    r"static (?:CUfunction|hipFunction_t|std::unique_ptr<sycl::kernel>|\w+) (\w+) = nullptr;"
)
_CALLER = re.compile(r"static inline \S+ call_(\w+)\(")
_ENTRY = re.compile(r"(?:\w+ )+(?:\w+::)*(inductor_entry_impl|run_impl|_const_run_impl)\(")
_ALLOC = re.compile(r"aoti_torch_(?:empty_strided\w*|_?alloc_from_pool|_?reinterpret_tensor)\(")
_OUTPUT_HANDLE = re.compile(r"&(\w+?)(?:_handle)?\)")
_REUSE = re.compile(r"(?:auto|RAIIAtenTensorHandle) (\w+) = .*// reuse\s*$")
_VIEW = re.compile(
    r"(?:auto|RAIIAtenTensorHandle|AtenTensorHandle) (\w+) = .*reinterpret_tensor_wrapper\("
)
_FREE = re.compile(r"(\w+)\.reset\(\);")
_RAII = re.compile(r"RAIIAtenTensorHandle (\w+)\(\1_handle\);")
_SHIM = re.compile(r"\b(aoti_torch_(?:cpu|cuda|xpu|mps|hip|mtia|hpu|privateuse1)_\w+)\(")
_DISPATCH = re.compile(
    r'aoti_torch_call_dispatcher\("([^"]+)"|findSchemaOrThrow\("([^"]+)"|'
    r"(PyObject_CallObject)\(|(aoti_torch_proxy_executor_call_function)\("
)
_GUARDS = ("assert_size_stride(", "assert_alignment(", "AOTI_TORCH_CHECK(", "check_input")
_CALL = re.compile(r"(\w+)\(")
_SCOPE = re.compile(r"// subgraph: (\w+)|\}( else|$)")
_DECLARATION = re.compile(
    r"(?:static constexpr|const |AtenTensorHandle \w+_handle;|RAIIAtenTensorHandle \w+;|"
    r"\w+ var_|\w+Stream_t |AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_get_current_\w+_stream)"
)


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
        self.scope = ""

    def run(self) -> list[Mark]:
        number = 0
        include: int | None = None
        begun: tuple[int, str] | None = None
        entry: tuple[int, int] | None = None
        while number < len(self.lines):
            line = self.lines[number]
            if line.startswith("#include"):
                include = number if include is None else include
                number += 1
                continue
            if _ENTRY.match(line):
                entry = (number, self._entry_end(number))
                number = entry[1] + 1
                include = begun = None
                continue
            host = _HOST.match(line)
            if host:
                begun = (number, host.group(1))
                self.kernels.add(host.group(1))
                after = self._raw_string_end(number)
                if after > number:
                    self.embedded[host.group(1)] = (number + 3, after)
                number = after + 1
                continue
            kernel = _KERNEL.match(line)
            if kernel:
                number = self._definition(kernel, number, include, begun) + 1
                begun = None
            else:
                number += 1
            if line.strip():
                include = None
        if entry:
            self._body(*entry)
        return self.marks

    def _raw_string_end(self, number: int) -> int:
        """The last line of a Triton source that follows in a raw string, else ``number``."""
        if number + 1 < len(self.lines) and self.lines[number + 1].endswith('R"TRITON('):
            end = number + 2
            while end < len(self.lines) and not self.lines[end].startswith(')TRITON"'):
                end += 1
            return min(end, len(self.lines) - 1)
        return number

    def _definition(
        self,
        match: re.Match[str],
        number: int,
        include: int | None,
        begun: tuple[int, str] | None,
    ) -> int:
        """Mark the function that begins here if it is a kernel's; return its last line."""
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
        if caller and begun is None:
            begun = (number, name)
        first = begun[0] if begun and begun[1] == name else number if include is None else include
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
        while number < len(self.lines) - 1 and not self.lines[number].startswith("} //"):
            number += 1
        return number

    def _body(self, start: int, end: int) -> None:
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
            if (
                whole.startswith(("static constexpr", "AtenTensorHandle "))
                and "=" not in whole[:18]
            ):
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

    def _statement_end(self, number: int, end: int, first: str) -> int:
        """The line after the statement: a block of its own counts as one, a branch does not."""
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
        begin = comments.start if comments else start
        return Mark(
            "launch",
            begin + 1,
            end,
            label=name,
            kernel=name,
            call=first,
            handle=comments.handle[1] if comments and comments.handle else None,
            comments=comments,
            scope=self.scope,
            order=(begin,),
        )

    def _launched(self, text: str, comments: Comments | None) -> str | None:
        """The name of the kernel that a statement launches."""
        call = _CALL.match(text)
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


def _language(caller: bool, embedded: bool) -> str:
    if not caller:
        return "cpp"
    return "triton" if embedded else "launcher"
