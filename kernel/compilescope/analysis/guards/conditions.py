"""Describes in plain words the conditions under which a compilation is reused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...report import STACK_VALUE, Compilation, Condition, Guard, GuardManager
from ..figures.wording import count

_TENSOR = re.compile(
    r"check_tensor\(.*, torch\.(\w+), device=\w+, requires_grad=(True|False), "
    r"size=\[([^\]]*)\](?:, stride=\[([^\]]*)\])?\)",
    re.S,
)
_VALUES = ("EQUALS_MATCH", "CONSTANT_MATCH", "FALSE_MATCH", "TRUE_MATCH")
_LENGTHS = ("LENGTH_CHECK", "DICT_LENGTH", "SEQUENCE_LENGTH")
_LENGTH = re.compile(r"len\(.*\) == (\d+)", re.S)
_STATES = (
    "GLOBAL_STATE",
    "GRAD_MODE",
    "DETERMINISTIC_ALGORITHMS",
    "TORCH_FUNCTION_STATE",
    "TORCH_FUNCTION_MODE_STACK",
    "DEFAULT_DEVICE",
    "FSDP_TRAINING_STATE",
)
_RELATIONS = ("LAMBDA_GUARD", "SYMBOLIC_SHAPE_GUARD")
_LOCAL = re.compile(r"\bL\['(?!___)")
_INSIDE = re.compile(
    r"_modules\[|_parameters\[|_buffers\[|\.__\w+__|dict\.keys\(|^G\['__(?:import|builtins)|^L\['___"
)
"""Parts of a module, and torch's own objects: users seldom change those."""
_OF_TORCH = re.compile(r"G\['\w+'\]\.(\w+)")
"""An attribute of a global, such as ``torch.float64``."""
_WEIGHT = re.compile(r"_(?:modules|parameters|buffers)\[")
ON_STACK = re.compile(r"L\['___stack\d+'\]")
_SCOPE = re.compile(r"[LG]\['(\w+)'\]")
_IMPORTED = re.compile(r"\b__import_(\w+)")
_ITERATOR = re.compile(r"___normalize_\w+_iter\(([^()]*)\)")
_SIZE = re.compile(r"\.(size|stride)\(\)\[(\d+)\]")


class _Group(NamedTuple):
    noun: str
    """Empty if the guards are not counted."""
    name: str
    requirement: str


_GROUPS = {
    "weights": _Group("weight", "", "the same type, shape, strides and device"),
    "tensors": _Group("other tensor", "", "the same type, shape, strides and device"),
    "state": _Group("", "torch's state", "gradient mode, autocast, default device and the like"),
    "markings": _Group(
        "marking guard", "", "the same sizes of tensors are marked as dynamic or static"
    ),
    "rest": _Group("other guard", "", "the same modules, functions, types and hooks"),
}


def add_conditions(compilation: Compilation) -> None:
    """Fill `Compilation.conditions` and `Guard.failed` from the guards."""
    mark_failed(compilation.guards, compilation.guard_tree)
    compilation.conditions = find_conditions(compilation.guards)


def mark_failed(guards: Sequence[Guard], tree: Sequence[GuardManager]) -> None:
    """Set `Guard.failed` from the counts of guards and of the nodes of their tree."""
    # torch counts a failure at its node and at all its ancestors.
    failures = [manager.fails or 0 for manager in tree]
    for manager in tree:
        if manager.parent is not None and 0 <= manager.parent < len(failures):
            failures[manager.parent] -= manager.fails or 0
    for guard in guards:
        if guard.fails is not None:
            guard.failed = guard.fails > 0
        elif guard.manager is not None and 0 <= guard.manager < len(failures):
            guard.failed = failures[guard.manager] > 0
        else:
            guard.failed = False


def find_conditions(guards: Sequence[Guard]) -> list[Condition]:
    """Return the conditions: the call's inputs first, then values, then groups.

    Every guard is in one of the conditions. Guards on what seldom changes are in groups: weights,
    other tensors, torch's state, marks of dynamic sizes, and the rest.
    """
    inputs: dict[tuple[str, str], Condition] = {}
    values: dict[tuple[str, str], Condition] = {}
    groups: dict[str, list[Guard]] = {name: [] for name in _GROUPS}
    for place, guard in enumerate(guards):
        on_stack = ON_STACK.fullmatch(guard.source)
        is_inside = _INSIDE.search(guard.source) and not on_stack
        requirement = "" if is_inside else _requirement(guard)
        if not requirement:
            groups[_group(guard)].append(guard)
            continue
        name = STACK_VALUE if on_stack else as_written(guard.source)
        name = "sizes" if _SIZE.search(guard.expression) else name
        conditions = inputs if guard.type == "TENSOR_MATCH" else values
        # A relation of two sizes is a guard on both.
        condition = conditions.setdefault(
            (name, requirement), Condition(name=name, requirement=requirement, guard=place)
        )
        condition.failed |= guard.failed
    grouped = [_grouped(name, members) for name, members in groups.items() if members]
    return [*inputs.values(), *values.values(), *grouped]


def _group(guard: Guard) -> str:
    if guard.type == "TENSOR_MATCH":
        return "weights" if _WEIGHT.search(guard.source) else "tensors"
    if guard.type == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return "markings"
    return "state" if guard.type in _STATES else "rest"


def _grouped(name: str, guards: Sequence[Guard]) -> Condition:
    group = _GROUPS[name]
    return Condition(
        name=count(len(guards), group.noun) if group.noun else group.name,
        requirement=group.requirement,
        failed=any(guard.failed for guard in guards),
    )


def _requirement(guard: Guard) -> str:
    """Return what a guard requires of its source; empty if that is no input and no value."""
    expression = guard.expression
    if guard.type == "TENSOR_MATCH":
        tensor = _TENSOR.fullmatch(expression)
        return _tensor(*tensor.groups()) if tensor is not None else ""
    if guard.type in _VALUES and expression.startswith(f"{guard.source} == "):
        value = expression.removeprefix(f"{guard.source} == ")
        of_torch = _OF_TORCH.fullmatch(guard.source)
        # A constant of torch, which never changes.
        return "" if of_torch is not None and value == f"torch.{of_torch[1]}" else value
    if guard.type in _LENGTHS:
        if expression == f"not {guard.source}":
            return "0 items"
        length = _LENGTH.fullmatch(expression)
        return count(int(length[1]), "item") if length is not None else ""
    is_relation = guard.type in _RELATIONS and _LOCAL.search(expression) is not None
    return as_written(expression) if is_relation else ""


def _tensor(dtype: str, requires_grad: str, sizes: str, strides: str | None) -> str:
    shape, steps = _numbers(sizes), _numbers(strides or "")
    parts = [f"{dtype}[{_listed(shape)}]"]
    if None in shape:
        parts.append("* is any size")
    if not _is_contiguous(shape, steps):
        parts.append(f"strides {_listed(steps)}")
    if requires_grad == "True":
        parts.append("requires_grad=True")
    return ", ".join(parts)


def _numbers(text: str) -> list[int | None]:
    """Read ``None, 16``: None is a dynamic size, and so is anything that is not a number."""
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    return [int(part) if part.isdecimal() else None for part in parts]


def _listed(numbers: Sequence[int | None]) -> str:
    return ", ".join("*" if number is None else str(number) for number in numbers)


def _is_contiguous(shape: Sequence[int | None], strides: Sequence[int | None]) -> bool:
    """Whether strides are those of a tensor without gaps, as far as they are known."""
    expected: int | None = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=False):
        if None not in (stride, expected) and size != 1 and stride != expected:
            return False
        expected = None if expected is None or size is None else expected * size
    return True


def as_written(text: str) -> str:
    """Return a source as the user writes it: ``L['x'].size()[0]`` is ``x.size(0)``.

    Dynamo's own names are removed: ``__import_a_dot_b`` of a module that a function imports, and
    ``___normalize_count_iter(it)`` of an iterator.
    """
    written = _ITERATOR.sub(r"\1", _SCOPE.sub(r"\1", text))
    written = _IMPORTED.sub(lambda match: match[1].replace("_dot_", "."), written)
    return _SIZE.sub(r".\1(\2)", written)
