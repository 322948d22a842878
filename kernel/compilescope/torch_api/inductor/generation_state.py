"""What code depends on besides its graph: settings, and lowerings that are not torch's.

Relies on ``torch._inductor.lowering`` (lowerings), ``torch._inductor.decomposition``
(decompositions) and ``torch._C._get_sdp_priority_order``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch._inductor import decomposition, lowering

from ..process import portable_settings


def described() -> str:
    """All of it as a text, which is equal in two processes apart from addresses.

    Places are left out: no code depends on where files are.
    """
    parts = [
        f"{module}.{name} = {_text(value)}"
        for module, settings in portable_settings.settings().items()
        for name, value in sorted(settings.items())
        if not _is_place(value)
    ]
    for table in (lowering.lowerings, decomposition.decompositions):
        parts += sorted(
            f"{operator}: {function!r}"
            for operator, function in table.items()
            if not _module(function).startswith("torch.")
        )
    return "\n".join(parts)


def attention_order() -> str:
    """The order in which torch tries the implementations of attention."""
    private: Any = torch._C
    return str(list(private._get_sdp_priority_order()))


def _is_place(value: Any) -> bool:
    """Whether a value is a folder or file, some of them from the working folder at the import."""
    return isinstance(value, str) and Path(value).is_absolute()


def _module(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__module__", ""))


def _text(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        return str(sorted(map(_text, value)))
    if isinstance(value, Mapping):
        return str(sorted((_text(key), _text(each)) for key, each in value.items()))
    if isinstance(value, (list, tuple)):
        return str([_text(each) for each in value])
    return repr(value)
