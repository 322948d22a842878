"""Functions that stand in for the wrappers of a graph, which take their inputs as a list."""

from __future__ import annotations

from typing import Any


def doubled(inputs: list[Any]) -> Any:
    (x,) = inputs
    inputs.clear()
    return (x * 2,)


class InterruptedOnce:
    """`doubled`, whose first call an interrupt ends."""

    def __init__(self) -> None:
        self.is_interrupted = False

    def __call__(self, inputs: list[Any]) -> Any:
        if not self.is_interrupted:
            self.is_interrupted = True
            raise KeyboardInterrupt
        return doubled(inputs)
