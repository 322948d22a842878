"""A subject's state while it is called again and again: each batch begins with the same."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..timings import Keeping
from ..torch_api.compiling import ISOLATES
from .changes import changes_of, told
from .kept import Kept
from .quiet import quiet
from .state import Snapshot


class State:
    """What a call of the subject changes, found out by making one.

    Parameters
    ----------
    kept
        The subject's builds, open.
    snapshot
        The state that every batch begins with.

    Attributes
    ----------
    keeping, changes
        As in `report.Timing`.
    device
        Where the call runs. It may have CPU tensors only, and yet use the GPU.
    """

    def __init__(self, kept: Kept, snapshot: Snapshot) -> None:
        self._kept = kept
        self._snapshot = snapshot
        before = _cuda_allocations()
        with quiet():
            kept.fn(*kept.args, **kept.kwargs)
        self.device = kept.device
        if kept.device == "cpu" and _cuda_allocations() != before:
            self.device = "cuda"
        changes = changes_of(snapshot)
        snapshot.restore()
        self.changes = told(changes)
        self.keeping: Keeping = "restored" if changes else "unchanged"

    @property
    def before_each(self) -> Callable[[str], None] | None:
        """What to do before a batch, given the name; None if there is nothing to do."""
        if ISOLATES and not self.changes:
            return None
        return self._prepare

    def _prepare(self, name: str) -> None:
        self._kept.dress(name)
        if self.changes:
            self._snapshot.restore()


def _cuda_allocations() -> int:
    """How many there were in this process, whose CUDA this does not start."""
    if not (torch.cuda.is_available() and torch.cuda.is_initialized()):  # type: ignore[no-untyped-call]
        return 0
    return sum(
        int(torch.cuda.memory_stats(device).get("allocation.all.allocated", 0))
        for device in range(torch.cuda.device_count())
    )
