"""What the tests of what-if ask about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

X = torch.randn(4, 8)


class Counting:
    """A compiled callable that counts its compilations; each has a function of its own."""

    def __init__(self, fn: Callable[..., Any], **options: Any) -> None:
        self.count = 0
        self.plain = fn
        self.compiled = torch.compile(fn, backend=self._backend, **options)

    def _backend(self, graph: torch.fx.GraphModule, inputs: Any) -> Any:
        self.count += 1
        return graph.forward

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        """Makes a call, and says whether it compiled."""
        before = self.count
        self.compiled(*args, **kwargs)
        return self.count > before


def times(x: Any, k: Any) -> Any:
    return x * k
