"""Follows the effects of a C++ wrapper's statements on memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...report import Region
from ..text.brackets import closing, depth, split_list
from ..text.cpp_numbers import without_suffixes
from ..wrapper.size_checks import items_of
from .storage_lifetimes import LOOP_ITERATIONS, Storage, StorageTracker

_INPUT = re.compile(r"auto (\w+) = std::move\(inputs\[\d+\]\);")
_ARRAY = re.compile(r"(?:static constexpr|const) int64_t \*?(\w+)(?:\[\])?\s*=\s*(\{.*\}|nullptr);")
_ALLOC = re.compile(r"aoti_torch_empty_strided\w*\(")
_POOL = re.compile(r"aoti_torch__?alloc_from_pool\(")
_OUTPUT = re.compile(r"&(\w+?)(?:_handle)?\)*$")
_RESULTS = re.compile(r"&(\w+?)_handle\b")
_MOVE = re.compile(
    r"(?:auto |RAIIAtenTensorHandle |AtenTensorHandle )?(\w+)"
    r"(?: = (?:std::move|RAIIAtenTensorHandle)\((\w+?)(?:_handle)?\);| = (\w+)\.release\(\);)"
)
_VIEW = re.compile(r"(?:auto|RAIIAtenTensorHandle) (\w+) = .*reinterpret_tensor_wrapper\((\w+),")
_ASSIGN = re.compile(r"aoti_torch_assign_tensors_out\((\w+), &(\w+?)(?:_handle)?\)")
_RESET = re.compile(r"(\w+)\.reset\(\);")
_CHECK = re.compile(r"assert_size_stride\((\w+), ")
_RETURN = re.compile(r"output_handles\[\d+\] = (\w+)\.release\(\);")
_COPY = re.compile(r"aoti_torch_copy_\((\w+), (\w+)")
_CAST = re.compile(r"static_cast<int64_t>")
_DIVISION = re.compile(r"c10::div_floor_integer\(")
_ALLOC_ARGUMENTS = 6
_POOL_ARGUMENTS = 7
_EMPTY = "()"


def read_cpp(text: str, regions: Sequence[Region], tracker: StorageTracker) -> None:
    """Follow the wrapper's entry function.

    The branches of a condition are followed one after the other, each from the same state; a loop
    counts as two iterations.
    Scratch memory that launch functions may allocate for Triton kernels does not count.
    """
    lines = text.split("\n")
    entry = next((region for region in regions if region.kind == "entry"), None)
    if entry is None:
        return
    launches = {number: r for r in regions if r.kind == "launch" for number in _lines(r)}
    reader = _Reader(launches, tracker)
    reader.run(list(_statements(lines, entry.start, entry.end)))


def _lines(region: Region) -> range:
    return range(region.start, region.end + 1)


class _Reader:
    def __init__(self, launches: dict[int, Region], tracker: StorageTracker) -> None:
        self.launches = launches
        self.tracker = tracker
        self.arrays: dict[str, str] = {}
        self.last: Region | None = None

    def run(self, statements: Sequence[tuple[str, int]]) -> None:
        """Follow statements in execution order, with loops unrolled."""
        number = 0
        while number < len(statements):
            text, line = statements[number]
            number += 1
            other = _otherwise(statements, number) if text.startswith("if (") else 0
            if other:
                end = _block_end(statements, other)
                self.tracker.begin_branches()
                self.run(statements[number : other - 1])
                self.last = None
                self.tracker.next_branch()
                self.run(statements[other:end])
                self.tracker.end_branches()
                number = end + 1
                continue
            if not text.startswith("while ("):
                self.statement(text, line)
                continue
            end = _block_end(statements, number)
            block = statements[number:end]
            for _ in range(LOOP_ITERATIONS):
                self._block(block)
            # The condition is evaluated once more.
            ends = (i for i, (name, _) in enumerate(block) if name.endswith(" break;"))
            self._block(block[: next(ends, 0)])
            number = end + 1

    def _block(self, statements: Sequence[tuple[str, int]]) -> None:
        """Follow a block; names declared in it end with it."""
        before = set(self.tracker.scope)
        self.run(statements)
        self.last = None
        for name in set(self.tracker.scope) - before:
            self.tracker.drop(name)

    def statement(self, text: str, line: int) -> None:
        tracker = self.tracker
        if input_match := _INPUT.match(text):
            tracker.add_input(input_match.group(1), line)
        elif array := _ARRAY.match(text):
            self.arrays[array.group(1)] = _graph_size(array.group(2)).replace("nullptr", _EMPTY)
        elif check := _CHECK.match(text):
            parts = _arguments(text)
            sizes = [items_of(_graph_size(part)) for part in parts[1:3]]
            tracker.described(check.group(1), sizes, line, is_input=parts[-1] == '"input"')
        elif returned := _RETURN.match(text):
            for storage in tracker.scope.get(returned.group(1), ())[:1]:
                storage.returned = True
        elif text.startswith("// reuse", text.rfind("// ")):
            self._reuse(text, line)
        elif allocation := _POOL.search(text):
            self._from_pool(text, allocation.start(), line)
        elif allocation := _ALLOC.search(text):
            self._allocate(text, allocation.start(), line)
        elif assign := _ASSIGN.search(text):
            tracker.hold(assign.group(2), tracker.scope.get(assign.group(1), ()))
        elif move := _MOVE.match(text):
            old = move.group(2) or move.group(3)
            if old != move.group(1):
                tracker.called(move.group(1), old)
        elif (view := _VIEW.match(text)) and line not in self.launches:
            tracker.hold(view.group(1), tracker.scope.get(view.group(2), ()))
        elif (region := self.launches.get(line)) and _runs(text):
            self._launch(text, line, region)
        elif copy := _COPY.search(text):
            tracker.step(f"{copy.group(1)}.copy_", "", text)
        else:
            for name in _RESET.findall(text):
                tracker.drop(name)

    def _launch(self, text: str, line: int, region: Region) -> None:
        tracker = self.tracker
        if region is not self.last:
            self.last = region
            tracker.step(region.kernel or region.label, region.key, text)
        else:
            tracker.texts[-1] += "\n" + text
        for place, name in enumerate(_RESULTS.findall(text)):
            tracker.result(name, line, region, place=str(place))

    def _reuse(self, text: str, line: int) -> None:
        view, move = _VIEW.match(text), _MOVE.match(text)
        if view:
            parts = _arguments(text, text.find("reinterpret_tensor_wrapper("))
            named = [self.arrays.get(part) for part in parts[2:4]]
            arrays = [items_of(part) for part in named if part]
            sizes = (arrays[0], arrays[1]) if len(arrays) > 1 else None
            self.tracker.rename(view.group(1), view.group(2), line, sizes)
        elif move and move.group(2):
            self.tracker.rename(move.group(1), move.group(2), line)

    def _allocate(self, text: str, start: int, line: int) -> None:
        parts = _arguments(text, start)
        output = _OUTPUT.search(parts[-1]) if parts else None
        if output is None or len(parts) < _ALLOC_ARGUMENTS:
            return
        self.tracker.allocate(
            Storage(
                output.group(1),
                0,
                line,
                shape=items_of(self.arrays.get(parts[1], _EMPTY)),
                strides=items_of(self.arrays.get(parts[2], _EMPTY)),
                dtype=parts[3].removeprefix("cached_torch_dtype_"),
                device=parts[4].removeprefix("cached_torch_device_type_"),
            )
        )

    def _from_pool(self, text: str, start: int, line: int) -> None:
        parts = _arguments(text, start)
        output = _OUTPUT.search(parts[-1]) if parts else None
        pool = self.tracker.scope.get(parts[0]) if parts else None
        if output is None or not pool or len(parts) < _POOL_ARGUMENTS:
            return
        self.tracker.part(
            Storage(
                output.group(1),
                0,
                line,
                shape=items_of(self.arrays.get(parts[4], _EMPTY)),
                strides=items_of(self.arrays.get(parts[5], _EMPTY)),
                dtype=parts[2].removeprefix("cached_torch_dtype_"),
                device=pool[0].device,
                inside=pool[0],
            )
        )


def _statements(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[str, int]]:
    """The statements between two lines, from 1: text and last line."""
    number = start
    while number < min(end, len(lines)):
        text = lines[number].strip()
        level = 0 if text.startswith("//") else depth(text, "()")
        parts = [text]
        while level > 0 and number + 1 < end:
            number += 1
            parts.append(lines[number].strip())
            level += depth(parts[-1], "()")
        number += 1
        if text and not text.startswith("//"):
            yield " ".join(parts), number


def _otherwise(statements: Sequence[tuple[str, int]], number: int) -> int:
    """The position after the ``else`` of the condition before a position; 0 if there is none."""
    level = 1
    while number < len(statements) and level > 0:
        text = statements[number][0]
        number += 1
        if level == 1 and text.startswith("} else {"):
            return number
        level += depth(text, "{}")
    return 0


def _block_end(statements: Sequence[tuple[str, int]], number: int) -> int:
    """The position of the bracket that ends a block."""
    level = 1
    while number < len(statements):
        level += depth(statements[number][0], "{}")
        if level <= 0:
            break
        number += 1
    return number


def _runs(text: str) -> bool:
    """Whether a statement of a launch is the call itself, not its preparation."""
    return "(" in text and not text.startswith(("RAIIAtenTensorHandle ", "AtenTensorHandle "))


def _arguments(text: str, start: int = 0) -> list[str]:
    begin = text.find("(", start)
    return split_list(text[begin + 1 : closing(text, begin) - 1]) if begin >= 0 else []


def _graph_size(text: str) -> str:
    """A size as the graph writes it: no suffixes, no casts."""
    return _DIVISION.sub("FloorDiv(", _CAST.sub("", without_suffixes(text)))
