"""How many compilations of a function Dynamo caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list


def compiled_entries(function: Callable[..., Any]) -> int:
    """How many compilations Dynamo caches for a function's code."""
    return len(_debug_get_cache_entry_list(function.__code__))
