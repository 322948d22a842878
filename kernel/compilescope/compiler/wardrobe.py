"""Functions that wear a copy of their code while they are inspected.

Dynamo keeps what it compiled on code objects, and counts them towards the recompile limit. A
function that wears a copy has an empty cache; when its own code comes back, so does the user's
cache.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager

Outfit = list[types.CodeType]


class Wardrobe:
    """The functions of a subject and the code that each of them wears."""

    def __init__(self, functions: list[types.FunctionType]) -> None:
        self._functions = functions
        self._own = [function.__code__ for function in functions]

    def outfit(self) -> Outfit:
        """A fresh copy of every function's own code: one for each variant."""
        return [code.replace() for code in self._own]

    def wear(self, outfit: Outfit) -> None:
        """Puts an outfit on."""
        for function, code in zip(self._functions, outfit, strict=True):
            function.__code__ = code

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Whatever is worn in the block, the functions' own code comes back after it."""
        try:
            yield
        finally:
            self.wear(self._own)
