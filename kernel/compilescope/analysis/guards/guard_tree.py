"""Parses Dynamo's printed guard tree: managers, and guards with the line they come from.

A live trace and a ``TORCH_TRACE`` file contain the same text: ``dynamo_cpp_guards_str``.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...report import Guard, GuardManager
from .meaning import is_python_access, language_of, why_of
from .origin import Files, split

_BRANCH = re.compile(r"[| ]*\+- ")
_KIND = re.compile(r"\w+")
_PAIR = re.compile(r"pair at index=(\d+)")
_ROLE = {"KeyManager": "key", "ValueManager": "value"}
_NAMED = re.compile(r"(?:[LG]\[(?:'[^']*'|\"[^\"]*\")\](?:\.\w+(?:\(\))?|\[[^\[\]]*\])*)")
_SOURCE = re.compile(r"Manager: source=(.*?)(?:, accessed_by=|, type=|$).*", re.M)
"""A manager's line from its kind on."""
_ENDS = ("Guard latency", "TREE_GUARD")


class GuardTree(NamedTuple):
    """The contents of a printed tree."""

    guards: list[Guard]
    """In the order in which Dynamo checks them; ``manager`` is an index into `managers`."""
    managers: list[GuardManager]
    """Parents before children."""


def parse_guards(text: str, files: Iterable[str] = ()) -> GuardTree:
    """Read the tree that ``dynamo_cpp_guards_str`` prints.

    A guard with several expressions is printed on several lines, and counts as several guards here.
    Other text gives an empty tree: damaged input never raises.

    Parameters
    ----------
    text
        The tree, one guard or guard manager per line.
    files
        Known full file names. The tree has short names (``model.py``), so an origin gets its full
        name if exactly one known file ends in it, and otherwise stays short.
    """
    return _parse(text, Files(files))


def select_managers(text: str, choose: Callable[[list[str]], Iterable[bool]]) -> str:
    """Return the lines of some managers of a printed tree, and of their guards, unparsed.

    torch prints a manager's guards right after it, and the root's before and after all others. So
    the first lines are always returned, and those from the last manager on.

    Parameters
    ----------
    text
        The tree, as for `parse_guards`.
    choose
        Gets the sources of the managers, and returns for each whether it is one of them.
    """
    managers = list(_SOURCE.finditer(text))
    if not managers:
        return text
    chosen = list(choose([manager[1] for manager in managers]))
    chosen[-1] = True
    begins = [manager.start() for manager in managers]

    def line(at: int) -> int:
        return text.rfind("\n", 0, at) + 1

    parts = [text[: line(begins[0])]]
    for index in itertools.compress(range(len(begins)), chosen):
        end = line(begins[index + 1]) if index + 1 < len(begins) else len(text)
        parts.append(text[line(begins[index]) : end])
    return "".join(parts)


class GuardMemory:
    """Reads each text once: variants of one capture have the same guards."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[GuardTree, dict[str, str]]] = {}
        """Text → its tree, and the full names of its files by the short ones."""

    def parse(self, text: str, files: Iterable[str] = ()) -> GuardTree:
        """Return what `parse_guards` does; each call has guards and managers of its own."""
        resolve = Files(files)
        tree, names = self._read.get(text, (None, {}))
        if tree is None or any(resolve(short) != full for short, full in names.items()):
            tree = _parse(text, resolve)
            self._read[text] = tree, resolve.full_names
        return GuardTree(list(map(copy.copy, tree.guards)), list(map(copy.copy, tree.managers)))


def _parse(text: str, resolve: Files) -> GuardTree:
    tree = GuardTree([], [])
    above: list[tuple[int, int | None, str]] = []  # level, the manager's index, its role
    slow: set[int] = set()  # managers whose value a Python function fetches
    relations: dict[str, list[str]] = {}  # kind of guard → expressions so far
    for line in _logical_lines(text):
        level = line.index("+-")
        while above and above[-1][0] >= level:
            above.pop()
        _, parent, role = above[-1] if above else (0, None, "")
        rest = line[level + 3 :]
        match = _KIND.match(rest)
        if match is None:
            continue
        kind, rest = match.group(), rest[match.end() :].removeprefix(":").lstrip(" ")
        if kind == "KeyValueManager":
            pair = _PAIR.match(rest)
            above.append((level, parent, pair.group(1) if pair else ""))
            continue
        if kind in _ROLE:
            role = f"{_ROLE[kind]} {role}".strip()
            match = _KIND.match(rest)
            kind = match.group() if match else kind
            rest = rest[match.end() :].removeprefix(":").lstrip(" ") if match else ""
        else:
            role = ""
        if kind.endswith("Manager"):
            above.append((level, len(tree.managers), ""))
            manager = _manager(kind, rest, parent, role)
            if parent in slow or is_python_access(manager.accessor):
                slow.add(len(tree.managers))
            tree.managers.append(manager)
            continue
        if parent is None and tree.managers:
            parent = 0  # an epilogue guard: the root's, printed beside it
        source = tree.managers[parent].source if parent is not None else ""
        guard = _guard(kind, rest, source, resolve, slow=parent in slow)
        guard.manager = parent
        # torch prints a relation of several values only at the first of them.
        if guard.expression:
            relations.setdefault(kind, []).append(guard.expression)
        elif guard.source:
            named = (relation for relation in relations.get(kind, ()) if guard.source in relation)
            guard.expression = next(named, "")
        tree.guards.append(guard)
    return tree


def _manager(kind: str, rest: str, parent: int | None, role: str) -> GuardManager:
    """``source=L['x'], accessed_by=…, type=<class '…'>, tag_safe=(False, False)``."""
    manager = GuardManager(kind=kind, parent=parent, accessor=role)
    head, name, shortcut = rest.rpartition(", tag_safe=(")
    if name:
        manager.shortcut = shortcut.rstrip(") \n").endswith(", True")
    else:
        head = rest
    head, name, value_type = head.rpartition(", type=")
    if name:
        manager.value_type = type_name(value_type)
    else:
        head = head or value_type
    source, name, accessor = head.partition(", accessed_by=")
    manager.source = source.removeprefix("source=")
    if name and not (role and accessor == "None"):
        manager.accessor = accessor
    return manager


def type_name(text: str) -> str:
    """A type's name without ``<class '…'>``; other text stays as it is."""
    return text[8:-2] if text.startswith("<class '") and text.endswith("'>") else text


def _guard(kind: str, rest: str, source: str, resolve: Files, *, slow: bool) -> Guard:
    expression, origin, note = split(rest, resolve)
    if source in ("", "L", "G"):
        named = _NAMED.search(expression)
        source = named.group() if named else ""
    return Guard(
        expression=expression,
        type=kind,
        source=source,
        origin=origin,
        language=language_of(kind, python_access=slow),
        why=why_of(kind, expression, note, python_access=slow),
    )


def _logical_lines(text: str) -> Iterator[str]:
    """The tree's lines; a guard on a string with line breaks covers several."""
    lines: list[str] = []
    for line in text.split("\n"):
        if _BRANCH.match(line):
            if lines:
                yield "\n".join(lines)
            lines = [line]
        elif lines and line.strip() and not line.startswith(_ENDS):
            lines.append(line)
    if lines:
        yield "\n".join(lines)
