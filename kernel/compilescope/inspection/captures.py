"""The captures of a subject, and the choice of one for a variant."""

from __future__ import annotations

import torch

from ..builds.capture_graphs import Captured, Key, key_of
from ..report.variant import Variant


class Captures:
    """What Dynamo captured of a subject, by the settings that the graphs depend on."""

    def __init__(self) -> None:
        self._by_key: dict[Key, Captured] = {}
        self._variants: dict[Key, Variant] = {}

    def put(self, variant: Variant, captured: Captured) -> None:
        """Add the capture made for a variant."""
        self._variants[key_of(variant)] = variant
        self._by_key[key_of(variant)] = captured

    def all(self) -> list[tuple[Variant, Captured]]:
        """All captures, each with the variant that it was made for."""
        return [(self._variants[key], captured) for key, captured in self._by_key.copy().items()]

    def find(self, variant: Variant) -> Captured | None:
        """Return a capture with the graphs that a variant would have; None if there is none."""
        key = dynamic, fullgraph, guard_filter, marks_sizes = key_of(variant)
        exact = self._by_key.get(key)
        if exact is not None:
            return exact
        # Without breaks, fullgraph=True gives the same graph; without symbols, so does
        # dynamic=False. Marks on results count only for what enters another graph.
        for other_key, captured in self._by_key.items():
            other_dynamic, other_full, other_filter, other_marks = other_key
            whole = captured.problem is None and len(captured.graphs) == 1
            same_graph = other_full == fullgraph or whole
            same_sizes = other_dynamic == dynamic or (
                not other_dynamic and not dynamic and not _symbolic(captured)
            )
            same_marks = other_marks == marks_sizes or whole or not _symbolic(captured)
            if same_graph and same_sizes and same_marks and other_filter == guard_filter:
                return captured
        return None


def _symbolic(captured: Captured) -> bool:
    return any(
        isinstance(value, torch.SymInt)
        or (
            isinstance(value, torch.Tensor)
            and any(isinstance(s, torch.SymInt) for s in value.shape)
        )
        for graph in captured.graphs
        for value in graph.inputs
    )
