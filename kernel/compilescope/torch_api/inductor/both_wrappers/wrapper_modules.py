"""The Python module of a C++ wrapper: compiled during the build, not when it is loaded.

Relies on ``codecache.get_path``, and on ``runtime.compile_tasks`` (where a wrapper's module is
compiled).
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import marshal
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from ...process.patching import patched


class Module(NamedTuple):
    """The Python module that holds a C++ wrapper, compiled."""

    source: str
    path: str
    code: bytes
    """The compiled code, as ``marshal`` writes it."""
    python: bytes
    """The version of Python that can read `code`."""


_module: ContextVar[Module | None] = ContextVar("compilescope_tiers_module", default=None)
"""The wrapper's module, while the graph is loaded."""


def compiled_module(compiled: Any) -> Module:
    """The module of a graph as torch will compile it.

    Most of it is one long text in C++. Python holds its lock while it compiles that: calls of the
    user's would wait for tens of milliseconds.
    """
    from torch._inductor.codecache import get_path

    source, path = compiled.source_code, get_path(compiled.cache_key, "py")[2]
    code = compile(source, path, "exec", dont_inherit=True)
    return Module(source, path, marshal.dumps(code), importlib.util.MAGIC_NUMBER)


@contextlib.contextmanager
def as_compiled_in_the_build(module: Module) -> Iterator[None]:
    """In the block torch takes this module where it would compile it."""
    from torch._inductor.runtime import compile_tasks

    vars(compile_tasks).setdefault("compile", builtins.compile)
    token = _module.set(module)
    try:
        with patched(compile_tasks, "compile", _compile):
            yield
    finally:
        _module.reset(token)


def _compile(original: Any, source: Any, path: Any, *args: Any, **kw: Any) -> Any:
    module = _module.get()
    is_same = (
        module is not None
        and (module.source, module.path) == (source, path)
        and module.python == importlib.util.MAGIC_NUMBER
    )
    if module is None or not is_same:
        return original(source, path, *args, **kw)
    return marshal.loads(module.code)
