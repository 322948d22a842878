"""Names of functions that Dynamo generates to run the rest of a function after a graph break."""

from __future__ import annotations

import re

_PREFIX = "torch_dynamo_resume_in_"
_GENERATED = re.compile(rf"{_PREFIX}(.+)_at_(\d+)$")
_IN_TEXT = re.compile(rf"\b{_PREFIX}[\w<>]+_at_\d+\b")
_READABLE = re.compile(r"(.+) from line (\d+)$")


def is_generated(name: str) -> bool:
    """Whether a function of this name is one that Dynamo generated."""
    return name.startswith(_PREFIX)


def readable_name(name: str) -> str:
    """``f from line 12`` for ``torch_dynamo_resume_in_f_at_12``; other names stay as they are."""
    match = _GENERATED.match(name)
    if match is None:
        return name
    line = match[2]
    while match is not None:
        name = match[1]
        match = _GENERATED.match(name)
    return f"{name} from line {line}"


def readable_text(text: str) -> str:
    """A message of torch's with readable names."""
    return _IN_TEXT.sub(lambda name: readable_name(name[0]), text)


def plain_function(name: str) -> str:
    """The user's function: ``f`` for ``f from line 12``."""
    match = _READABLE.match(name)
    return match[1] if match else name


def resumed_at(name: str) -> int | None:
    """The line that a function is resumed at, in a readable name; None for a whole function."""
    match = _READABLE.match(name)
    return int(match[2]) if match else None
