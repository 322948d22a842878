"""The changes of a call to its subject's state, by path."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import torch

from .object_walk import UNSET, attributes_of, label, pretty
from .saved_python import Change, Saved, SavedDict, SavedFunction, SavedInstance
from .user_state import RANDOM as RANDOM
from .user_state import Snapshot

MAX_LISTED = 20
"""How many changes are listed one by one."""


def changes_of(snapshot: Snapshot) -> list[str]:
    """The changes of a call since the snapshot, or since it was last restored.

    Call it between the call and `Snapshot.restore`. It takes about as long as restoring: the data
    of each tensor are compared once.

    Returns
    -------
    list of str
        Paths (``net.bn.running_mean``, ``args[0]``, ``opt.state[net.fc.weight]``), and ``random
        numbers`` where the call drew some from a generator that belongs to no object. Empty where
        the call changes nothing.
    """
    return list(dict.fromkeys(path for path, _ in _changes(snapshot)))


def changes_compared_values(snapshot: Snapshot) -> bool:
    """Whether a call changed what a guard may compare: anything but the data of tensors."""
    return any(saved is not None and path != RANDOM for path, saved, _ in snapshot.changed())


def summarize_changes(changes: list[str]) -> list[str]:
    """The first changes, for a report, with a last line for the number of further ones."""
    more = len(changes) - MAX_LISTED
    return changes if more <= 1 else [*changes[:MAX_LISTED], f"and {more:,} more"]


def changed_tensors(snapshot: Snapshot) -> dict[str, torch.Tensor]:
    """The tensors that a call wrote to or assigned in place of others, by path.

    They are not copied. Includes tensors in new containers, such as the state that an optimizer
    creates at its first step.
    """
    changed: dict[str, torch.Tensor] = {}
    for path, value in _changes(snapshot):
        changed |= _tensors_in(value, path, {})
    return changed


def _changes(snapshot: Snapshot) -> Iterator[tuple[str, object]]:
    attributes = {
        id(saved.attributes if isinstance(saved, SavedInstance) else saved.function.__dict__)
        for _, saved in snapshot.objects
        if isinstance(saved, (SavedInstance, SavedFunction))
    }
    attributes |= {id(attributes_of(tensor)) for tensor in snapshot.tensors.values()}
    names = {id(tensor): path for path, tensor in snapshot.tensors.items()}
    for path, saved, change in snapshot.changed():
        yield _place(path, saved, change, attributes, names), change.value


def _place(
    path: str, saved: Saved | None, change: Change, attributes: set[int], names: Mapping[int, str]
) -> str:
    """The path of a change, as in the walk."""
    if not isinstance(saved, SavedDict) or (change.key is UNSET):
        return path + change.suffix
    if id(saved.mapping) in attributes:
        return f"{path}.{change.key}"
    keys = list(map(id, saved.base.keys(saved.mapping)))
    number = keys.index(id(change.key)) if id(change.key) in keys else len(keys)
    return pretty(f"{path}[{label(change.key, names, number)}]")


def _tensors_in(value: object, path: str, seen: dict[int, object]) -> dict[str, torch.Tensor]:
    """The tensors in a value and its nested containers; runs none of their code."""
    cls = type(value)
    if issubclass(cls, torch.Tensor):
        return {path: cast("torch.Tensor", value)}
    parts: list[tuple[str, object]] = []
    if id(value) not in seen and cls in (dict, collections.OrderedDict, collections.defaultdict):
        parts = [
            (f"{path}[{label(key, {}, number)}]", item)
            for number, (key, item) in enumerate(dict.items(cast("dict[object, object]", value)))
        ]
    elif id(value) not in seen and cls in (list, tuple, collections.deque):
        items = cast("Iterable[object]", value)
        parts = [(f"{path}[{number}]", item) for number, item in enumerate(items)]
    seen[id(value)] = value
    return {
        place: tensor
        for where, part in parts
        for place, tensor in _tensors_in(part, where, seen).items()
    }
