"""Declares a compilation's artifacts; outlines, requests and saved files are derived from it.

A field of `artifacts.Compilation` that is annotated with a `Part` is left out of outlines,
fetched by the panel when a view needs it, and dropped when a watch runs out of memory.
"""

from __future__ import annotations

import typing
from typing import Any, Literal

import msgspec

Direction = Literal["inference", "forward", "backward"]
"""What a graph computes: a call without gradients, or one half of training."""

WrapperLanguage = Literal["python", "cpp"]
"""The language of a generated wrapper."""

WRAPPERS: dict[str, tuple[str, str]] = {
    "python": ("Python wrapper", "python"),
    "cpp": ("C++ wrapper", "cpp"),
    "shell": ("Python around the C++ wrapper", "python"),
    "aot": ("AOTInductor C++", "cpp"),
}
"""Field of `Code` that holds a generated wrapper → its title and its language."""


class Part(msgspec.Struct, frozen=True):
    """Marks a list of a compilation as a part, or as a field of one."""

    name: str
    """Fields with the same name are fetched together."""
    absent: str = ""
    """Why the list is empty if torch logged nothing; empty if an empty list needs no reason."""


def fields_of(struct: type[Any]) -> dict[str, Part]:
    """The fields of a struct that are annotated with a `Part`, in their order."""
    hints = typing.get_type_hints(struct, include_extras=True)
    return {
        field: mark
        for field, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Part)
    }
