"""Pickles objects of torch and Triton that refuse to be pickled.

Relies on ``triton.runtime.jit.JITFunction`` (fn, version, do_not_specialize,
do_not_specialize_on_alignment, debug, noinline, launch_metadata: the same from 3.6 to 3.9) and on
``torch.nn.utils.parametrize``, whose modules have classes that forbid it.
"""

from __future__ import annotations

import copyreg
import pkgutil
import sys
from typing import Any

import torch
from torch.nn.utils import parametrize

_SETTINGS = (
    "version",
    "do_not_specialize",
    "do_not_specialize_on_alignment",
    "debug",
    "noinline",
    "launch_metadata",
)


def reduced(value: object) -> tuple[Any, ...] | None:
    """The reduced form of such an object for pickle; None for any other."""
    if isinstance(value, torch.Generator):
        # A new generator: nothing reads the numbers drawn from it.
        return torch.Generator, ()
    if isinstance(value, torch.nn.Module) and parametrize.is_parametrized(value):
        return copyreg.__newobj__, (type(value),), value.__dict__  # type: ignore[attr-defined]
    return _kernel(value)


def _kernel(value: Any) -> tuple[Any, ...] | None:
    jit = sys.modules.get("triton.runtime.jit")
    if jit is None or type(value) is not jit.JITFunction:
        return None
    module, name = value.fn.__module__, value.fn.__qualname__
    if module != "__main__" and getattr(sys.modules.get(module), name, None) is value:
        return pkgutil.resolve_name, (f"{module}:{name}",)
    settings = {setting: getattr(value, setting) for setting in _SETTINGS}
    return _jitted, (value.fn, settings)


def _jitted(function: Any, settings: dict[str, Any]) -> Any:
    import triton

    return triton.jit(**settings)(function)
