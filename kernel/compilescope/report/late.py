"""Tables of functions that higher layers provide to reports and that are imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: list[Callable[[], Any]] = []


def load_with(loader: Callable[[], Any]) -> None:
    """Set the loader that fills the tables when a function is missing.

    Parameters
    ----------
    loader
        Registers functions in the `LateTable`s by importing the package that defines them.
    """
    _loaders.append(loader)


class LateTable(dict[str, Callable[..., Any]]):
    """Name → function, imported on first use: the import is slow, and some reports need none."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        while _loaders:
            _loaders.pop()()
        if name in self:
            return self[name]
        raise KeyError(name)
