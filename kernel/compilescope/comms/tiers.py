"""The tiers of the kernel's graphs for the panel."""

from __future__ import annotations

import sys

from ..report.errors import CompilescopeError
from ..report.tiers import current
from ..session.session import Session
from . import messages


def pin(_: Session | None, request: messages.PinTier) -> messages.TiersResult:
    """Pins a graph to a tier, or unpins it."""
    # Where nothing was compiled in tiers, torch's compiler need not be imported to say so.
    loaded = sys.modules.get("compilescope.tiers.graphs")
    for graph in [] if loaded is None else loaded.every():
        if graph.number == request.number:
            graph.pin(request.tier if request.pinned else None)
            return messages.TiersResult(graphs=current())
    raise CompilescopeError(
        "This graph is no longer in the kernel.",
        "What it was compiled for no longer exists, or the kernel was restarted.",
        "Call the compiled model again.",
    )
