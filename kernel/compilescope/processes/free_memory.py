"""The memory that this process may still take: of the machine, and of its control groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

_GROUPS = Path("/proc/self/cgroup")
_ROOT = Path("/sys/fs/cgroup")
_NO_LIMIT = 1 << 60
"""Version 1 writes a number near this for no limit."""


def free_memory(groups: Path = _GROUPS, root: Path = _ROOT) -> float:
    """The memory in bytes. Caches of files count as free.

    Parameters
    ----------
    groups
        The file in which the system says which control groups the process is in.
    root
        Where control groups are mounted.
    """
    return min([float(psutil.virtual_memory().available), *_left_in_groups(groups, root)])


def _left_in_groups(groups: Path, root: Path) -> Iterator[float]:
    for line in _text(groups).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if number == "0" and not controllers:
            yield from _left(root, place, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            yield from _left(root / "memory", place, *names)


def _left(root: Path, place: str, limit: str, used: str, caches: str) -> Iterator[float]:
    """What is left in a group and in those around it.

    In a container, the group's own folder may be the root.
    """
    group = root / place.strip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(root):
            return
        most, now = _number(folder / limit), _number(folder / used)
        if most is not None and now is not None and most < _NO_LIMIT:
            yield max(0.0, most - now + _cached(folder / "memory.stat", caches))


def _cached(file: Path, name: str) -> float:
    for line in _text(file).splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return float(value)
    return 0.0


def _number(file: Path) -> float | None:
    text = _text(file).strip()
    return float(text) if text.isdigit() else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
