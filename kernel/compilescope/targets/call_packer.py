"""The call of a subject, packed for the processes that generate its code."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..torch_api.process.float32_precision import rounds_float32
from . import packed_call
from .whole_call import SentCall, WholeCall


class CallPacker:
    """Packs one call for other processes, with torch's settings and modes of when it was created.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    modes
        torch's modes that the call needs.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        modes: Sequence[Any],
    ) -> None:
        self._call = (fn, args, kwargs)
        self._modes = modes
        # Inductor's settings are context variables: another thread must take them from here.
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._packed: bytes | None = None
        self._refusal: Problem | None = None
        self.rounds_float32 = rounds_float32()
        """Whether float32 products may be rounded to TF32."""

    def packed(self) -> bytes:
        """The call without its tensors' values, packed once, at the first use.

        Raises
        ------
        CompilescopeError
            The call cannot be sent to another process.
        """
        with self._lock:
            if self._packed is None:
                self._packed = self._context.copy().run(self._pack)
            return self._packed

    def packed_now(self) -> bytes:
        """As `packed`, but packed now: with the objects as they are at this moment.

        Raises
        ------
        CompilescopeError
            The call cannot be sent to another process.
        """
        return self._context.copy().run(self._pack)

    def packed_with_values(self) -> SentCall:
        """The call with its values, for a process that runs it.

        Call it on the thread that calls the subject: nothing may change its objects meanwhile. A
        refusal is remembered, so that cells do not wait for it again.

        Raises
        ------
        CompilescopeError
            The call cannot be sent to another process.
        MemoryError
            Too little memory is free now.
        """
        if (refusal := self._refusal) is not None:
            raise CompilescopeError(refusal.what, refusal.why, refusal.remedy)
        whole = WholeCall()
        try:
            call = self._context.copy().run(packed_call.pack, *self._call, self._modes, whole)
        except BaseException as error:
            whole.values.close()
            if isinstance(error, CompilescopeError):
                self._refusal = error.problem
            raise
        return SentCall(call, whole.values)

    def forget_refusal(self) -> None:
        """Lets `packed_with_values` try again, because the subject's code was changed."""
        self._refusal = None

    def packed_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """The arguments of another call, packed like this one.

        Raises
        ------
        CompilescopeError
            They cannot be sent to another process.
        """
        return self._context.copy().run(packed_call.pack, None, args, kwargs, self._modes)

    def _pack(self) -> bytes:
        return packed_call.pack(*self._call, self._modes)
