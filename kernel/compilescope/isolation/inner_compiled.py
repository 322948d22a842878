"""Calls a subject without the ``torch.compile`` of the functions that it calls."""

from __future__ import annotations

import threading
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..torch_api.dynamo.direct_code import direct_codes
from .code_swap import note_copy


class InnerCompiled:
    """What the user compiled of a subject: functions and modules that its call reaches.

    Parameters
    ----------
    functions
        The functions that a call reaches; those that ``torch.compile`` did not return are ignored.

    Attributes
    ----------
    failed
        What they raised when called directly, after `keep_compiled`.
    """

    def __init__(self, functions: Iterable[types.FunctionType]) -> None:
        self.failed = ""
        self._thread: int | None = None
        self._codes = direct_codes(functions, self._is_other)
        for code in self._codes.values():
            note_copy(code)

    def __bool__(self) -> bool:
        """Whether there is something that can be called directly."""
        return bool(self._codes) and not self.failed

    def keep_compiled(self, failed: str) -> None:
        """From now on they are called compiled, since calling them directly failed."""
        self.failed = failed

    @contextmanager
    def direct(self) -> Iterator[None]:
        """In the block, this thread calls the originals, and so do autograd's threads.

        Otherwise torch compiles these functions, and their time is that of compiled code with its
        guards. Other threads of the user's call them as always.
        """
        if not self:
            yield
            return
        outer, self._thread = self._thread, threading.get_ident()
        before = {function: function.__code__ for function in self._codes}
        try:
            for function, code in self._codes.items():
                function.__code__ = code
            yield
        finally:
            # First: if the rest is interrupted, the code that is left does the same as before.
            self._thread = outer
            for function, code in before.items():
                if function.__code__ is self._codes[function]:
                    function.__code__ = code

    def _is_other(self) -> bool:
        """Whether this is another thread of the user's; autograd's are unknown to Python."""
        ident = threading.get_ident()
        if ident == self._thread:
            return False
        # `threading.current_thread` would add a thread of autograd's to Python's.
        is_pythons = any(
            thread.ident == ident and not isinstance(thread, threading._DummyThread)
            for thread in threading.enumerate()
        )
        return is_pythons or self._thread is None
