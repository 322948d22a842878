"""Puts the guards that code generation adds into a guard tree that was printed before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from ....capture.records import NO_COMPILE_ID, Record
from ....torch_api.guards.size_guard_lines import SizeGuards, TensorSizes, without_note
from ....torch_api.trace.artifact_names import SIZE_GUARDS

_GUARD = re.compile(r"([| ]*\+- \w+: )(.*)")


def read_size_guards(records: Iterable[Record]) -> dict[str, SizeGuards]:
    """Compile id → its guards on sizes, of the compilations whose code generation added some."""
    result = {}
    for record in records:
        if record.name == SIZE_GUARDS and record.payload:
            try:
                guards = msgspec.json.decode(record.payload, type=SizeGuards)
            except msgspec.MsgspecError:
                continue
            result[record.compile_id or NO_COMPILE_ID] = guards
    return result


def replace(text: str, guards: SizeGuards) -> str:
    """The text of ``dynamo_cpp_guards_str`` with the guards of the code in the place of the others.

    A tree without the others stays as it is: the user's filter left them out.
    """
    replaced = set(map(without_note, guards.before))
    lines: list[str] = []
    is_added = False
    tensors = {f"check_tensor({old.source}, ": (old, new) for old, new in guards.tensors}
    for line in text.split("\n"):
        match = _GUARD.fullmatch(line)
        if match is None or without_note(match.group(2)) not in replaced:
            lines.append(_static(line, tensors))
        elif not is_added:
            lines += [match.group(1) + guard for guard in guards.after]
            is_added = True
    return "\n".join(lines)


def _static(line: str, tensors: Mapping[str, tuple[TensorSizes, TensorSizes]]) -> str:
    """The line of a tensor's guard with the sizes that the code made static."""
    _, kind, rest = line.partition("TENSOR_MATCH: ")
    old, new = tensors.get(rest.partition(", ")[0] + ", ", (None, None)) if kind else (None, None)
    return line if old is None else line.replace(str(old), str(new), 1)
