"""Functions that the layers above give to reports, loaded when the first of them is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: list[Callable[[], Any]] = []


def load_with(loader: Callable[[], Any]) -> None:
    """Have a loader fill the tables once something is missing in one.

    Parameters
    ----------
    loader
        Puts functions into `LateTable`s: an import of the package that has them.
    """
    _loaders.append(loader)


class LateTable(dict[str, Callable[..., Any]]):
    """Name → function. A trace's summary needs none of them, and they take long to import."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        while _loaders:
            _loaders.pop()()
        if name in self:
            return self[name]
        raise KeyError(name)
