"""Follows the effects of a Python wrapper's statements on memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...report import Region
from ..text.brackets import depth
from ..wrapper.python_syntax import dotted, items, parse, root_of, source_of
from ..wrapper.size_checks import items_of, size_checks
from .storage_lifetimes import LOOP_ITERATIONS, Storage, StorageTracker

_POOL_ARGUMENTS = 5


def read_python(text: str, regions: Sequence[Region], tracker: StorageTracker) -> None:
    """Follow the wrapper's call, through partitions and branches.

    The branches of a condition are followed one after the other, each from the same state; a loop
    counts as two iterations.
    """
    lines = text.split("\n")
    functions = {region.label: region for region in regions if region.kind == "entry"}
    launches = [region for region in regions if region.kind == "launch"]
    if "call" in functions:
        reader = _Reader(lines, functions, launches, tracker)
        for value in reader.function("call"):
            for storage in value[:1]:
                storage.returned = True


class _Reader:
    def __init__(
        self,
        lines: Sequence[str],
        functions: dict[str, Region],
        launches: Sequence[Region],
        tracker: StorageTracker,
    ) -> None:
        self.lines = lines
        self.functions = functions
        self.launches = {region.end: region for region in launches}
        self.tracker = tracker
        self.running: list[str] = []

    def function(self, name: str) -> list[list[Storage]]:
        """Follow a function of the wrapper; returns its results."""
        region = self.functions[name]
        self.running.append(name)
        returned: list[list[Storage]] = []
        for statement, line, end in self._rounds(region.start, region.end):
            match parse(statement):
                case [ast.Return(value=value)]:
                    values = [] if value is None else items(value)
                    returned = [self._storages(statement, result) for result in values]
                case [ast.Assign(targets=[target], value=ast.Name("args"))]:
                    self._unpack([root_of(name) for name in items(target)], line)
                case _:
                    self._statement(statement, line, end)
        self.running.pop()
        return returned

    def _rounds(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """The statements from ``start`` to ``end`` in execution order, with loops unrolled."""
        skipped = 0
        for statement, line, last in statements(self.lines, start, end):
            if line <= skipped:
                continue
            if statement.startswith("while "):
                skipped = self._block_end(line, end)
                for _ in range(LOOP_ITERATIONS):
                    yield from self._rounds(last, skipped)
            elif other := self._otherwise(statement, line, end):
                skipped = self._block_end(other, end)
                self.tracker.begin_branches()
                yield from self._rounds(last, other - 1)
                self.tracker.next_branch()
                yield from self._rounds(other, skipped)
                self.tracker.end_branches()
            else:
                yield statement, line, last

    def _otherwise(self, statement: str, line: int, end: int) -> int:
        """The line of the ``else`` of a condition, from 1; 0 if there is none."""
        if not statement.startswith("if "):
            return 0
        other = self._block_end(line, end) + 1
        return other if other <= end and self.lines[other - 1].strip() == "else:" else 0

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
        tracker = self.tracker
        if len(self.running) == 1:
            for name in names:
                tracker.add_input(name, line)
            return
        for name, storage in zip(names, tracker.scope.get("args", ()), strict=False):
            tracker.hold(name, [storage])
        tracker.drop("args")

    def _statement(self, text: str, line: int, end: int) -> None:
        tracker = self.tracker
        if checks := size_checks(text):
            for check in checks:
                sizes = [check.shape, check.strides]
                tracker.described(check.tensor, sizes, line, is_input=check.is_input)
            return
        nodes = parse(text)
        region = self.launches.get(end)
        match nodes:
            case [ast.Delete(targets=targets)]:
                for target in targets:
                    tracker.drop(root_of(target))
            case [ast.Assign(targets=[ast.Name(name)], value=value), *_] if "# reuse" in text:
                self._reuse(name, value, text, line)
            case [node] if region is not None:
                self._launch(node, text, line, region)
            case [ast.Expr(value=ast.Call(func=ast.Attribute(ast.Name(name), "copy_")))]:
                tracker.step(f"{name}.copy_", "", text)
            case [ast.Expr(value=ast.Call() as call)]:
                self._called([], call)
            case [ast.Assign(targets=[target], value=value)]:
                self._assign(target, value, text, line)
            case [ast.Assign(targets=[target], value=value), ast.Delete(targets=[old])]:
                self._assign(target, value, text, line)
                tracker.drop(root_of(old))

    def _reuse(self, name: str, value: ast.expr, text: str, line: int) -> None:
        arguments = value.args if isinstance(value, ast.Call) else [value]
        layout = [items_of(source_of(text, argument)) for argument in arguments[1:3]]
        new_layout = (layout[0], layout[1]) if len(layout) > 1 else None
        self.tracker.rename(name, root_of(arguments[0]), line, new_layout)

    def _assign(self, target: ast.expr, value: ast.expr, text: str, line: int) -> None:
        tracker, scope = self.tracker, self.tracker.scope
        name = source_of(text, target)
        match value:
            case ast.Call() if self._called(items(target), value, isinstance(target, ast.Tuple)):
                pass
            case ast.Call(func=func, args=args) if isinstance(target, ast.Name):
                function = dotted(func)
                if function.removeprefix("torch.").startswith("empty_strided"):
                    tracker.allocate(_allocated(name, value, text, line))
                elif function == "alloc_from_pool":
                    self._from_pool(name, value, text, line)
                elif function in ("reinterpret_tensor", "torch.as_strided"):
                    tracker.hold(name, scope.get(root_of(args[0]), ()))
            case ast.Subscript(ast.Name(holder), ast.Constant(int(index))):
                slot = source_of(text, value)
                if slot in scope:
                    tracker.hold(name, scope[slot])
                else:
                    tracker.item(name, holder, str(index), line)
            case ast.List(elts=elements):
                storages = [
                    storage for element in elements for storage in self._storages(text, element)
                ]
                tracker.hold(name, storages)
            case ast.Name(other):
                tracker.hold(name, scope.get(other, ()))

    def _launch(self, node: ast.stmt, text: str, line: int, region: Region) -> None:
        self.tracker.step(region.kernel or region.label, region.key, text)
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call(func=func)):
                self.tracker.result(name, line, region, dotted(func), text)

    def _called(self, targets: list[ast.expr], call: ast.Call, is_tuple: bool = False) -> bool:
        """Follow a call of another function of the wrapper, if it is one."""
        match call:
            case ast.Call(
                func=ast.Subscript(value, ast.Constant(int(number))), args=[ast.Name(argument)]
            ) if dotted(value).removeprefix("self.") == "partitions":
                callee = f"partition_{number}"
            case ast.Call(func=ast.Name(callee), args=[ast.Name(argument)]):
                pass
            case _:
                return False
        if callee not in self.functions or callee in self.running:
            return False
        self.tracker.enter(argument)
        returned = self.function(callee)
        names = [ast.unparse(target) for target in targets]
        if len(names) == 1 and not is_tuple:
            self.tracker.leave(
                {names[0]: [storage for storages in returned for storage in storages]}
            )
        else:
            self.tracker.leave(dict(zip(names, returned, strict=False)))
        return True

    def _from_pool(self, name: str, call: ast.Call, text: str, line: int) -> None:
        pool = self.tracker.scope.get(root_of(call.args[0]), []) if call.args else []
        if not pool or len(call.args) < _POOL_ARGUMENTS:
            return
        shape, strides = (items_of(source_of(text, part)) for part in call.args[3:5])
        self.tracker.part(
            Storage(
                name,
                0,
                line,
                shape=shape,
                strides=strides,
                dtype=_dtype(call.args[2:3]),
                device=pool[0].device,
                inside=pool[0],
            )
        )

    def _storages(self, text: str, value: ast.expr) -> list[Storage]:
        """The storages of a value: of a name, an item of a list, or a view of one."""
        scope = self.tracker.scope
        whole = source_of(text, value)
        if whole in scope:
            return list(scope[whole])
        match value:
            case ast.Call(func=ast.Name("reinterpret_tensor"), args=[first, *_]):
                return list(scope.get(root_of(first), ()))
        return list(scope.get(root_of(value), ()))


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


def _allocated(name: str, call: ast.Call, text: str, line: int) -> Storage:
    layout = [items_of(source_of(text, part)) for part in call.args[:2]]
    device = next((word.value for word in call.keywords if word.arg == "device"), None)
    suffix = dotted(call.func).partition("empty_strided")[2]
    return Storage(
        name,
        0,
        line,
        shape=layout[0] if layout else None,
        strides=layout[1] if len(layout) > 1 else [],
        dtype=_dtype([*call.args[2:], *(word.value for word in call.keywords)]),
        device=source_of(text, device).strip("'\"")
        if device is not None
        else suffix.strip("_").split("_")[0],
    )


def _dtype(arguments: Sequence[ast.expr]) -> str:
    """The data type among a call's arguments: ``float32`` for ``torch.float32``."""
    names = map(dotted, arguments)
    return next((name.removeprefix("torch.") for name in names if name.startswith("torch.")), "")
