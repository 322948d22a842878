"""Context managers that are entered once: for a second block another one has to be made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Yielded = TypeVar("_Yielded")


class SingleBlock(ContextDecorator, AbstractContextManager[_Yielded], Generic[_Yielded]):
    """A context of one block; as a decorator, of each call.

    Parameters
    ----------
    name
        The function that makes it, in messages.
    make
        Makes the context that it enters.
    """

    def __init__(self, name: str, make: Callable[[], AbstractContextManager[_Yielded]]) -> None:
        self._name = name
        self._make = make
        self._context: AbstractContextManager[_Yielded] | None = None

    def _recreate_cm(self) -> SingleBlock[_Yielded]:
        """As `ContextDecorator` calls it for each call."""
        return SingleBlock(self._name, self._make)

    def __enter__(self) -> _Yielded:
        if self._context is not None:
            from ..report.errors import CompilescopeError

            raise CompilescopeError(
                f"This {self._name} was entered before.",
                "It belongs to one block.",
                f"Make one for each block: with compilescope.{self._name}(...).",
            )
        self._context = self._make()
        return self._context.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        assert self._context is not None, "it was entered"
        return self._context.__exit__(kind, error, traceback)


def single_block(
    function: Callable[_Parameters, Iterator[_Yielded]],
) -> Callable[_Parameters, SingleBlock[_Yielded]]:
    """As ``contextlib.contextmanager``; entering a second time is an error in words."""
    make = contextmanager(function)

    @functools.wraps(function)
    def single(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> SingleBlock[_Yielded]:
        return SingleBlock(function.__name__, lambda: make(*args, **kwargs))

    return single
