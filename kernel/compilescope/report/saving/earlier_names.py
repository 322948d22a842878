"""Fields that files of earlier versions have under another name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

EARLIER_NAMES = {
    "DeployWay": {"gives_up": "restrictions"},
    "DistinctBreak": {"ended_us": "wasted_us"},
    "Recompile": {"given_up": "eager_fallback"},
    "Timing": {"keeping": "initial_state"},
    "VariantReport": {"departure": "first_wrong_kernel"},
}
"""Struct → earlier name of a field → its name."""
PATHS = {
    "variants": "VariantReport",
    "variants.breaks": "DistinctBreak",
    "variants.compilations.recompile": "Recompile",
    "variants.package.entries.timing": "Timing",
    "variants.timing": "Timing",
    "variants.ways": "DeployWay",
    "sweep.cells.timing": "Timing",
    "cell.timing": "Timing",
}
"""Where reports, plans of sweeps and stored cells have these structs."""
_ABSENT = "variants.absent"
"""Where reports have names of fields as keys."""
_KEYS = [f'"{name}":'.encode() for names in EARLIER_NAMES.values() for name in names]


def with_present_names(text: bytes) -> bytes:
    """The JSON of a report, a plan or a stored cell with the present names of all fields.

    Only fields are renamed; the user's own names are keys too, such as those of shapes.

    Raises
    ------
    msgspec.DecodeError
        The text is not JSON.

    Examples
    --------
    >>> with_present_names(b'{"cell":{"timing":{"keeping":"copied"}}}')
    b'{"cell":{"timing":{"initial_state":"copied"}}}'
    >>> with_present_names(b'{"sweep":{"winners":{"keeping":"a"}}}')
    b'{"sweep":{"winners":{"keeping":"a"}}}'
    """
    if not any(key in text for key in _KEYS):
        return text
    content = msgspec.json.decode(text)
    for path, struct in (*PATHS.items(), (_ABSENT, "VariantReport")):
        for value in _objects(content, path.split(".")):
            for earlier, name in EARLIER_NAMES[struct].items():
                if earlier in value:
                    value.setdefault(name, value.pop(earlier))
    return msgspec.json.encode(content)


def _objects(content: Any, path: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The objects at a path; where it leads through a list, those of every item."""
    for value in content if isinstance(content, list) else [content]:
        if isinstance(value, dict):
            if path:
                yield from _objects(value.get(path[0]), path[1:])
            else:
                yield value
