"""What a code object reads: global names with the attributes after them, and imports."""

from __future__ import annotations

import dis
import itertools
import types

from ..subject.functions import nested_codes

_NAMES = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"})
_NAMES |= {"LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_IGNORED = frozenset({"EXTENDED_ARG", "CACHE"})

Chain = tuple[str, ...]
"""A name and the attributes that are read from it: ``("helpers", "inner", "act")``."""


def chains(code: types.CodeType) -> set[Chain]:
    """The names that it and the functions in it read, with the attributes after each.

    Names of enclosing functions are among them.
    """
    read: set[Chain] = set()
    for each in nested_codes(code):
        instructions = _instructions(each)
        for at, instruction in enumerate(instructions):
            if instruction.opname not in _NAMES:
                continue
            after = itertools.takewhile(
                lambda following: following.opname in _ATTRIBUTES,
                itertools.islice(instructions, at + 1, None),
            )
            read.add((str(instruction.argval), *(str(each.argval) for each in after)))
    return read


def imported_packages(code: types.CodeType, package: str) -> set[str]:
    """The outermost packages that it and the functions in it import.

    Parameters
    ----------
    package
        The package of the code, for its relative imports.
    """
    packages = set()
    for each in nested_codes(code):
        instructions = _instructions(each)
        for at, instruction in enumerate(instructions):
            if instruction.opname == "IMPORT_NAME":
                # Before it: the level, then the names.
                level = instructions[at - 2].argval
                name = package if level else str(instruction.argval)
                packages.add(name.partition(".")[0])
    return packages - {""}


def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return [each for each in dis.get_instructions(code) if each.opname not in _IGNORED]
