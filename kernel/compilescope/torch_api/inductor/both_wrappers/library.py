"""The shared library of a C++ wrapper: recorded by the process that builds it, loaded by others.

Relies on ``codecache`` (CppCodeCache.load_async, CppWrapperCodeCache._load_library) and
``cpu_vec_isa`` (valid_vec_isa_list, x86_isa_checker).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...process import caches
from ...process.patching import patched
from ..background.short_steps import pause_if_due
from .requirements import LIBRARY_LOADER


class WouldBuildError(Exception):
    """The library would have to be built first; the text says why."""


class Library(NamedTuple):
    """A library in torch's cache folder."""

    path: str
    """From that folder: its place may differ between processes."""
    key: str
    """torch's, of its code and the compiler's command line."""
    vector_instructions: tuple[str, ...]
    """Those of the processor that it was built on and for."""

    def load(self, folder: Path) -> Any:
        """The library's Python module.

        Opened without the GIL: the import, which keeps it, then only looks it up.

        Parameters
        ----------
        folder
            torch's cache folder when the graph was compiled; it may be another now.

        Raises
        ------
        WouldBuildError
            It is no longer there, or another processor built it.
        ImportError, OSError
            It cannot be loaded.
        """
        from torch._inductor.codecache import CppWrapperCodeCache

        path = folder / self.path
        if not path.exists():
            raise WouldBuildError(f"{path} is gone")
        if missing := sorted(set(self.vector_instructions) - set(_vector_instructions())):
            raise WouldBuildError(f"this processor has no {', '.join(missing)}")
        pause_if_due()
        if sys.platform != "win32":
            open_library = ctypes.CDLL(None).dlopen
            open_library.restype, open_library.argtypes = (
                ctypes.c_void_p,
                [ctypes.c_char_p, ctypes.c_int],
            )
            # If that fails, the import says why.
            open_library(os.fsencode(path), sys.getdlopenflags())
            pause_if_due()
        return CppWrapperCodeCache._load_library(str(path), self.key)


@contextlib.contextmanager
def noting(note: Callable[[Library], None]) -> Iterator[None]:
    """In the block ``note`` is given each library that torch has built and loaded."""
    from torch._inductor.codecache import CppCodeCache

    def load_async(original: Any, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        load = original(*args, **kwargs)

        def load_noted() -> Any:
            module = load()
            path = os.path.relpath(module.__file__, caches.folder())
            note(Library(path, module.key, tuple(_vector_instructions())))
            return module

        return load_noted

    with patched(CppCodeCache, LIBRARY_LOADER, load_async):
        yield


def _vector_instructions() -> list[str]:
    """The sets of vector instructions that torch uses on this processor.

    On x86 what the processor says of itself is enough. Elsewhere torch tries them once in each
    process that compiles C++.
    """
    from torch._inductor import cpu_vec_isa

    if platform.machine() in ("x86_64", "AMD64"):
        return cpu_vec_isa.x86_isa_checker()
    return [str(instructions) for instructions in cpu_vec_isa.valid_vec_isa_list()]
