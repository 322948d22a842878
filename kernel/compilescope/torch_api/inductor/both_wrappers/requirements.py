"""The torch features that the two wrappers need in addition to those of an inspection.

Relies on ``torch._inductor.compile_fx_ext``, ``torch._inductor.compile_fx_subproc``,
``torch.fx._graph_pickler``, and on ``codecache`` (CppCodeCache.load_async,
CppWrapperCodeCache._load_library).
"""

from __future__ import annotations

import importlib.util

_MODULES = (
    "torch._inductor.compile_fx_ext",
    "torch._inductor.compile_fx_subproc",
    "torch.fx._graph_pickler",
)
LIBRARY_LOADER = "load_async"
"""In ``codecache.CppCodeCache``: has a library built where it is not, and gives how to load it."""


def missing() -> str:
    """What this torch lacks of what tiers need; empty if nothing.

    Loads none of it: where torch has the graph in its caches, it is not needed.
    """
    for name in _MODULES:
        if importlib.util.find_spec(name) is None:
            return name
    from torch._inductor import codecache

    if LIBRARY_LOADER not in vars(codecache.CppCodeCache):
        return f"torch._inductor.codecache: CppCodeCache.{LIBRARY_LOADER}"
    if not hasattr(codecache.CppWrapperCodeCache, "_load_library"):
        return "torch._inductor.codecache: CppWrapperCodeCache._load_library"
    return ""
