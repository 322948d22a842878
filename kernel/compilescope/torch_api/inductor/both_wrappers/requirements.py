"""The torch features that the two wrappers need in addition to those of an inspection.

Relies on ``torch._inductor.compile_fx_ext``, ``torch._inductor.compile_fx_subproc``,
``torch.fx._graph_pickler``, and on ``torch._inductor.codecache`` (_precompile_header,
CppPythonBindingsCodeCache._load_library_inner).
"""

from __future__ import annotations

import importlib.util
from typing import Any

_MODULES = (
    "torch._inductor.compile_fx_ext",
    "torch._inductor.compile_fx_subproc",
    "torch.fx._graph_pickler",
)
HEADER_PRECOMPILER = "_precompile_header"
"""In ``codecache``: looks for the precompiled header of a C++ wrapper."""
LIBRARY_LOADER = "_load_library_inner"
"""In ``codecache.CppPythonBindingsCodeCache``: imports the library of a C++ wrapper."""


def missing() -> str:
    """What this torch lacks of what tiers need; empty if nothing.

    Loads none of it: where torch has the graph in its caches, it is not needed.
    """
    for name in _MODULES:
        if importlib.util.find_spec(name) is None:
            return name
    from torch._inductor import codecache

    loaders: Any = codecache.CppPythonBindingsCodeCache
    for owner, name in ((codecache, HEADER_PRECOMPILER), (loaders, LIBRARY_LOADER)):
        if name not in vars(owner):
            return f"torch._inductor.codecache: {name}"
    return ""
