"""Code that a way to deploy installs in the model's modules; removed while eager is called.

Relies on ``Module._compiled_call_impl``, in which ``module.compile()`` keeps the compiled call; the
same from 2.11 to 2.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

_NAMES = ("forward", "_compiled_call_impl")
"""What ``module.forward = …`` and ``module.compile()`` set; the first also on classes."""
_MISSING = object()


class ModuleCode:
    """The code of a model's modules and of their classes, as written and as it is deployed.

    Parameters
    ----------
    fn
        The call's function; only a module has such code.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        modules = list(fn.modules()) if isinstance(fn, nn.Module) else []
        classes = dict.fromkeys(kind for module in modules for kind in type(module).__mro__)
        self._holders: list[Any] = [
            *modules,
            *(kind for kind in classes if issubclass(kind, nn.Module) and kind is not nn.Module),
        ]
        self._before = self._compiled = self._code()

    def note_compiled(self) -> None:
        """Record the current code as deployed: restoring the model's snapshot removes it."""
        self._compiled = self._code()

    @property
    def differs(self) -> bool:
        """Whether deploying the model installed code in its modules."""
        return self._compiled != self._before

    def put(self, *, compiled: bool) -> None:
        """Install the way's code in the modules, or the original."""
        self._put(self._compiled if compiled else self._before)

    @contextmanager
    def original(self) -> Iterator[None]:
        """A block in which the modules have their original code."""
        self.put(compiled=False)
        try:
            yield
        finally:
            self.put(compiled=True)

    def _code(self) -> list[Any]:
        return [vars(holder).get(name, _MISSING) for holder in self._holders for name in _NAMES]

    def _put(self, values: list[Any]) -> None:
        places = [(holder, name) for holder in self._holders for name in _NAMES]
        for (holder, name), value in zip(places, values, strict=True):
            if vars(holder).get(name, _MISSING) is value:
                continue
            if value is _MISSING:
                delattr(holder, name)
            else:
                setattr(holder, name, value)
