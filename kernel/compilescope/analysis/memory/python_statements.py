"""Follows the effects of a Python wrapper's statements on memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...report import Region
from ..text.brackets import closing, depth, split_list
from ..wrapper.size_checks import items_of, size_checks
from .storage_lifetimes import Storage, StorageTracker

_ALLOC = re.compile(r"(\w+) = (?:torch\.)?empty_strided(\w*)\(")
_POOL = re.compile(r"(\w+) = alloc_from_pool\(")
_REUSE = re.compile(r"(\w+) = (?:reinterpret_tensor\()?(\w+)\b(.*?);.*# reuse")
_VIEW = re.compile(r"(\w+) = (?:reinterpret_tensor|torch\.as_strided)\((\w+),")
_DELETE = re.compile(r"del ([\w, ]+)")
_LIST = re.compile(r"(\w+) = \[([\w, \[\]]*)\]$")
_ITEM = re.compile(r"(\w+) = (\w+)\[(\d+)\]$")
_ALIAS = re.compile(r"(\w+|\w+\[\d+\]) = (\w+)(?:; del (\w+))?$")
_UNPACK = re.compile(r"\(?([\w, ]+?),?\)? = args$")
_RETURN = re.compile(r"return \(?(.*?)\)?$")
_CALLED = re.compile(
    r"(?:\(?([\w, \[\]]+?),?\)? = )?(?:self\.)?(partitions\[(\d+)\]|\w+)\((\w+)\)$"
)
_RESULT = re.compile(r"(\w+) = ([\w.]+)\(")
_COPY = re.compile(r"(\w+)\.copy_\((\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_VIEWED = re.compile(r"reinterpret_tensor\((\w+),")
_TYPE = re.compile(r"torch\.(\w+)$")
_ROUNDS = 2
"""How many iterations of a loop are followed: from the second on it also holds the last one's
results."""
_POOL_ARGUMENTS = 5


def read_python(text: str, regions: Sequence[Region], ledger: StorageTracker) -> None:
    """Follow the wrapper's call, through partitions and branches.

    Both branches of a condition count, one after the other; a loop counts as two iterations.
    """
    lines = text.split("\n")
    functions = {region.label: region for region in regions if region.kind == "entry"}
    launches = [region for region in regions if region.kind == "launch"]
    if "call" in functions:
        reader = _Reader(lines, functions, launches, ledger)
        for value in reader.function("call"):
            for storage in value[:1]:
                storage.returned = True


class _Reader:
    def __init__(
        self,
        lines: Sequence[str],
        functions: dict[str, Region],
        launches: Sequence[Region],
        ledger: StorageTracker,
    ) -> None:
        self.lines = lines
        self.functions = functions
        self.launches = {region.end: region for region in launches}
        self.ledger = ledger
        self.running: list[str] = []

    def function(self, name: str) -> list[list[Storage]]:
        """Follow a function of the wrapper; returns its results."""
        region = self.functions[name]
        self.running.append(name)
        returned: list[list[Storage]] = []
        for statement, line, end in self._rounds(region.start, region.end):
            if statement.startswith("return"):
                match = _RETURN.match(statement)
                values = split_list(match.group(1)) if match else []
                returned = [self._storages(value) for value in values]
            elif unpack := _UNPACK.match(statement):
                self._unpack(split_list(unpack.group(1)), line)
            else:
                self._statement(statement, line, end)
        self.running.pop()
        return returned

    def _rounds(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """The statements from ``start`` to ``end`` in execution order, with loops unrolled."""
        skipped = 0
        for statement, line, last in statements(self.lines, start, end):
            if line <= skipped:
                continue
            if not statement.startswith("while "):
                yield statement, line, last
                continue
            skipped = self._block_end(line, end)
            for _ in range(_ROUNDS):
                yield from self._rounds(last, skipped)

    def _block_end(self, line: int, end: int) -> int:
        """The last line of the block that starts at a line; both from 1."""
        indent = _indent(self.lines[line - 1])
        result = line
        while result < end and (
            not self.lines[result].strip() or _indent(self.lines[result]) > indent
        ):
            result += 1
        return result

    def _unpack(self, names: list[str], line: int) -> None:
        ledger = self.ledger
        if len(self.running) == 1:
            for name in names:
                ledger.add_input(name, line)
            return
        for name, storage in zip(names, ledger.scope.get("args", ()), strict=False):
            ledger.hold(name, [storage])
        ledger.drop("args")

    def _statement(self, text: str, line: int, end: int) -> None:
        ledger = self.ledger
        if checks := size_checks(text):
            for check in checks:
                sizes = [check.shape, check.strides]
                ledger.described(check.tensor, sizes, line, is_input=check.is_input)
        elif deleted := _DELETE.match(text):
            for name in deleted.group(1).split(","):
                ledger.drop(name.strip())
        elif reuse := _REUSE.match(text):
            parts = split_list(reuse.group(3).strip(", "))
            new_layout = (items_of(parts[0]), items_of(parts[1])) if len(parts) > 1 else None
            ledger.rename(reuse.group(1), reuse.group(2), line, new_layout)
        elif region := self.launches.get(end):
            self._launch(text, line, region)
        elif alloc := _ALLOC.match(text):
            ledger.allocate(_allocated(alloc, text, line))
        elif pool := _POOL.match(text):
            self._from_pool(pool, text, line)
        elif view := _VIEW.match(text):
            ledger.hold(view.group(1), ledger.scope.get(view.group(2), ()))
        elif (item := _ITEM.match(text)) and (slot := text.partition(" = ")[2]) in ledger.scope:
            ledger.hold(item.group(1), ledger.scope[slot])
        elif item:
            ledger.item(item.group(1), item.group(2), item.group(3), line)
        elif list_match := _LIST.match(text):
            held = [
                storage
                for name in split_list(list_match.group(2))
                for storage in self._storages(name)
            ]
            ledger.hold(list_match.group(1), held)
        elif copy := _COPY.match(text):
            ledger.step(f"{copy.group(1)}.copy_", "", text)
        elif (called := _CALLED.match(text)) and self._called(called):
            pass
        elif alias := _ALIAS.match(text):
            ledger.hold(alias.group(1), ledger.scope.get(alias.group(2), ()))
            if alias.group(3):
                ledger.drop(alias.group(3))

    def _launch(self, text: str, line: int, region: Region) -> None:
        self.ledger.step(region.kernel or region.label, region.key, text)
        result = _RESULT.match(text)
        if result:
            self.ledger.result(result.group(1), line, region, result.group(2), text)

    def _called(self, match: re.Match[str]) -> bool:
        """Follow a call of another function of the wrapper, if it is one."""
        results, name, number, argument = match.groups()
        callee = f"partition_{number}" if number is not None else name
        if callee not in self.functions or callee in self.running:
            return False
        self.ledger.enter(argument)
        returned = self.function(callee)
        names = split_list(results or "")
        if len(names) == 1 and not match.group(0).startswith("(") and "," not in (results or ""):
            self.ledger.leave({names[0]: [item for value in returned for item in value]})
        else:
            self.ledger.leave(dict(zip(names, returned, strict=False)))
        return True

    def _from_pool(self, match: re.Match[str], text: str, line: int) -> None:
        parts = _arguments(text, match.end() - 1)
        pool = self.ledger.scope.get(parts[0], [])
        if not pool or len(parts) < _POOL_ARGUMENTS:
            return
        dtype = _TYPE.search(parts[2])
        self.ledger.part(
            Storage(
                match.group(1),
                0,
                line,
                shape=items_of(parts[3]),
                strides=items_of(parts[4]),
                dtype=dtype.group(1) if dtype else "",
                device=pool[0].device,
                inside=pool[0],
            )
        )

    def _storages(self, value: str) -> list[Storage]:
        """The storages of a value: of a name, an item of a list, or a view of one."""
        if value in self.ledger.scope:
            return list(self.ledger.scope[value])
        match = _VIEWED.match(value) or _NAME.match(value)
        name = match.group(match.lastindex or 0) if match else ""
        return list(self.ledger.scope.get(name, ()))


def statements(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The statements of a function: text, first and last line.

    Parameters
    ----------
    start, end
        The function's first and last line, from 1.
    """
    number = start  # the line after the one that begins the function, from 0
    while number < min(end, len(lines)):
        first = lines[number].strip()
        begin = number
        parts = [first]
        level = 0 if first.startswith("#") else depth(first)
        while level > 0 and number + 1 < end:
            number += 1
            parts.append(lines[number].strip())
            level += depth(parts[-1])
        number += 1
        if first and not first.startswith("#"):
            yield " ".join(parts), begin + 1, number


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _allocated(match: re.Match[str], text: str, line: int) -> Storage:
    parts = _arguments(text, match.end() - 1)
    dtype = next(
        (type_match.group(1) for part in parts[2:] if (type_match := _TYPE.search(part))), ""
    )
    device = next((part for part in parts[2:] if part.startswith("device=")), "")
    return Storage(
        match.group(1),
        0,
        line,
        shape=items_of(parts[0]) if parts else None,
        strides=items_of(parts[1]) if len(parts) > 1 else [],
        dtype=dtype,
        device=device.partition("=")[2].strip("'\"") or match.group(2).strip("_").split("_")[0],
    )


def _arguments(text: str, start: int) -> list[str]:
    return split_list(text[start + 1 : closing(text, start) - 1])
