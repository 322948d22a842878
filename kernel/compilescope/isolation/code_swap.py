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


_copies: dict[int, weakref.ref[types.CodeType]] = {}
"""Id → each copy that exists, of all subjects: several may have the same functions."""


class CodeCopies:
    """The functions of a subject, and copies of their code.

    Attributes
    ----------
    version
        How often functions were given other code (IPython's autoreload does that).
    """

    def __init__(self, functions: list[types.FunctionType]) -> None:
        self._functions = functions
        self._own = [function.__code__ for function in functions]
        self.version = 0

    def copy(self) -> CodeSet:
        """A fresh copy of every function's own code."""
        self.renew()
        copies = [code.replace() for code in self._own]
        for code in copies:
            note_copy(code)
        return copies

    def install(self, code_set: CodeSet) -> None:
        """Sets each function's code to that from the set."""
        for function, code in zip(self._functions, code_set, strict=True):
            function.__code__ = code

    def renew(self) -> None:
        """Adopts code that functions were given meanwhile as their own.

        Earlier sets copy the old code.
        """
        now = [function.__code__ for function in self._functions]
        own_codes = [
            before if _is_copy(code) else code for before, code in zip(self._own, now, strict=True)
        ]
        if any(code is not before for before, code in zip(self._own, own_codes, strict=True)):
            self._own = own_codes
            self.version += 1

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Restores the functions' own code after the block, whatever was installed in it."""
        self.renew()
        try:
            yield
        finally:
            self.install(self._own)


def note_copy(code: types.CodeType) -> None:
    """Records that code is not a function's own, even while the function has it."""
    key = id(code)
    # By identity: a copy equals the code that it copies.
    _copies[key] = weakref.ref(code, lambda _: _copies.pop(key, None))


def _is_copy(code: types.CodeType) -> bool:
    reference = _copies.get(id(code))
    return reference is not None and reference() is code
