"""The graphs of one call of the backend, which switch to CUDA graphs together."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..torch_api.inductor.graph_recording import RecordingThread

if TYPE_CHECKING:
    from .tiered_graph import TieredGraph


class Partners:
    """The graphs of one call of the backend: an inference graph, or a forward and its backward.

    CUDA graphs serve both or neither: a backward can only be replayed if its saved tensors are at
    the addresses of the forward's replay.

    Parameters
    ----------
    name
        Dynamo's name of the graph that it gave to the backend; empty if unknown.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.lock = threading.RLock()
        self.graphs: list[TieredGraph] = []
        self.home = RecordingThread()

    @property
    def are_pinned(self) -> bool:
        """Whether any is pinned."""
        return any(graph.report_now.pinned for graph in self.graphs)

    @property
    def are_complete(self) -> bool:
        """Whether all graphs that must be recorded together exist."""
        kinds = {graph.report_now.kind for graph in self.graphs}
        return kinds in ({"inference"}, {"forward", "backward"})
