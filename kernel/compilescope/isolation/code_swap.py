"""Makes functions run a copy of their code during an inspection.

Dynamo stores its compilations on code objects, and counts them towards the recompile limit. A
function that runs a copy has an empty cache; restoring its own code restores the user's cache.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

CodeSet = list[types.CodeType]


class CodeCopies:
    """The functions of a subject, and copies of their code."""

    def __init__(self, functions: list[types.FunctionType]) -> None:
        self._functions = functions
        self._own = [function.__code__ for function in functions]
        self._copies: dict[int, weakref.ref[types.CodeType]] = {}

    def copy(self) -> CodeSet:
        """A fresh copy of every function's own code."""
        copies = [code.replace() for code in self._own]
        self._copies |= {id(code): weakref.ref(code) for code in copies}
        return copies

    def install(self, code_set: CodeSet) -> None:
        """Gives each function its code from the set."""
        for function, code in zip(self._functions, code_set, strict=True):
            function.__code__ = code

    def renew(self) -> bool:
        """Whether functions were given other code (IPython's autoreload does that).

        From then on that is their own code; earlier sets copy the old code.
        """
        now = [function.__code__ for function in self._functions]
        own_codes = [
            before if self._is_copy(code) else code
            for before, code in zip(self._own, now, strict=True)
        ]
        changed = any(code is not before for before, code in zip(self._own, own_codes, strict=True))
        self._own = own_codes
        return changed

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Restores the functions' own code after the block, whatever was installed in it."""
        try:
            yield
        finally:
            self.install(self._own)

    def _is_copy(self, code: types.CodeType) -> bool:
        reference = self._copies.get(id(code))
        return reference is not None and reference() is code
