"""The wrappers of a graph, kept on torch's object."""

from __future__ import annotations

from typing import Any

from ..torch_api.inductor.graph_recording import Recordable

_ATTRIBUTE = "_compilescope_wrappers"


class Wrappers:
    """The wrappers of a graph, stored on torch's object: nothing else may keep it alive.

    torch may pickle its object, and functions that it compiled cannot be pickled.

    Parameters
    ----------
    first
        The Python wrapper.
    """

    def __init__(self, first: Any = None) -> None:
        self.first = first
        self.next: Any = None
        """The callable when the graph is not pinned: the check (in the background or in a call),
        then both wrappers alternating, then the C++ wrapper."""
        self.recordable: Recordable | None = None
        """The C++ wrapper with its CUDA graphs, if they may be recorded."""
        self.graphs: Any = None
        """The callable in place of the C++ wrapper: the recording, then both alternating, then the
        replays."""

    def __reduce__(self) -> Any:
        return Wrappers, ()


def wrappers_of(compiled: Any, *, new: bool = False) -> Any:
    """The stored wrappers of a graph, or None; ``new`` starts with its current callable."""
    if new and compiled is not None:
        setattr(compiled, _ATTRIBUTE, Wrappers(compiled.current_callable))
    return getattr(compiled, _ATTRIBUTE, None)


def gpus(compiled: Any) -> list[int]:
    """The GPUs that a graph uses, by number."""
    return sorted(compiled.device_idxs) if "cuda" in compiled.device_types else []
