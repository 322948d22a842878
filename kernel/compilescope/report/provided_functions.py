"""Tables of functions that higher layers provide to reports and that are imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_PROVIDERS = ("compilescope.views", "compilescope.panel")
"""The packages that put functions into the tables when they are imported."""


class ProvidedFunctions(dict[str, Callable[..., Any]]):
    """Name → function, imported on first use: the import is slow, and some reports need none."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        for provider in _PROVIDERS:
            importlib.import_module(provider)
        if name in self:
            return self[name]
        raise KeyError(name)


renderers: dict[str, Callable[[Any], str]] = ProvidedFunctions()
"""The functions that display a report: "text", "html" (in a cell) and "page" (a whole file). The
views, a layer above, register themselves here."""

concluding: dict[str, Callable[[Any], Any]] = ProvidedFunctions()
"""The functions that compute an "overview", and the "contents" of a file. The analysis, a layer
above, registers them here."""

completing: dict[str, Callable[[Any], None]] = ProvidedFunctions()
"""The functions that fill in fields that a file of an earlier version lacks: the "conditions" of a
compilation and the "causes" of its recompile, the "breaks" of a variant and the
"break_costs" of a report, the "outcomes" of a trace,
the words for its "cold" settings, for its "launches", for the "checks" of its kernels and what it
is "bound" by, the "times" of its phases, the "tiles" of its kernels, for a "rank", the "verdicts"
of a sweep. The analysis registers them here."""

panels: dict[str, Callable[[Any], Any]] = ProvidedFunctions()
"""The function that creates a report's panel, also from a layer above."""
