"""The global state that guards compare, such as autocast and the default dtype, in words."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ...report import Failure

CHANGED = "GLOBAL_STATE changed: "
"""How torch's reason begins; the names of what changed follow, separated by spaces."""
_AUTOCAST = re.compile(r"autocast\((\w+)\)_(enabled|dtype)$")
_AUTOCAST_DEVICES = ("cpu", "cuda")
"""The first devices in torch's lists of autocast's states."""
_WORDS = {
    "grad_mode": "grad mode",
    "default_dtype": "default dtype",
    "autocast_cache_enabled": "autocast cache",
}
_SCALAR_TYPES = {"5": "float16", "6": "float32", "7": "float64", "15": "bfloat16"}
"""torch's numbers of the floating-point types."""
_SWITCH = {"True": "on", "False": "off"}


class Change(NamedTuple):
    """A part of the global state that changed; the values are empty if unknown."""

    subject: str
    was: str
    now: str

    @property
    def text(self) -> str:
        """``default dtype: float32 → float64``."""
        if not (self.was or self.now):
            return f"{self.subject} changed"
        return f"{self.subject}: {self.was or '?'} \u2192 {self.now or '?'}"


def state_values(names: str, state: str) -> str:
    """The values of what changed in a guard on the global state, separated by commas.

    Parameters
    ----------
    names
        As in torch's reason: ``grad_mode autocast(cpu)_dtype``.
    state
        The state as JSON.
    """
    try:
        values = json.loads(state)
    except ValueError:
        return ""
    if not isinstance(values, dict):
        return ""
    known = [_value(name, values) for name in names.split()]
    return ", ".join(known) if all(known) else ""


def changes_of(failure: Failure) -> list[Change]:
    """What changed, from a failed guard on the global state."""
    names = failure.guard.removeprefix(CHANGED).split()
    was, now = (_split(text, len(names)) for text in (failure.old, failure.new))
    return [
        Change(_subject(name), _in_words(name, old), _in_words(name, new))
        for name, old, new in zip(names, was, now, strict=True)
    ]


def _split(values: str, number: int) -> list[str]:
    listed = values.split(", ")
    return listed if len(listed) == number else [""] * number


def _value(name: str, state: dict[str, Any]) -> str:
    autocast = state.get("autocast_state")
    if "autocast" not in name or not isinstance(autocast, dict):
        return str(state.get(name, ""))
    if name == "autocast_cache_enabled":
        return str(autocast.get("cached_enabled", ""))
    match = _AUTOCAST.match(name)
    if match is None or match[1] not in _AUTOCAST_DEVICES:
        return ""
    of_devices = autocast.get(match[2])
    place = _AUTOCAST_DEVICES.index(match[1])
    if not isinstance(of_devices, list) or place >= len(of_devices):
        return ""
    return str(of_devices[place])


def _subject(name: str) -> str:
    if match := _AUTOCAST.match(name):
        return f"autocast{' dtype' if match[2] == 'dtype' else ''} ({match[1]})"
    return _WORDS.get(name, name)


def _in_words(name: str, value: str) -> str:
    if name.endswith("dtype"):
        return _SCALAR_TYPES.get(value, value)
    return _SWITCH.get(value, value) if name.startswith("autocast") else value
