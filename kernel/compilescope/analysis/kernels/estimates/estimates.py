"""Fills in the estimates of kernels and their launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....report import Kernel
from ...text.sizes import UnknownSize
from .kernel_graph import KernelGraph

NO_NODES = "torch recorded no graph nodes for this kernel, so nothing can be estimated."
ONLY_INPUTS = "It prepares inputs of {}; the graph does not say which buffers."
DIFFERENT = "Its launches are of different sizes; each launch has its own estimate."
_FIELDS = ("estimated_bytes", "estimated_operations")


def estimate(graph: KernelGraph) -> None:
    """Fill in ``estimated_bytes`` and ``estimated_operations`` of launches and kernels."""
    extern = graph.library_nodes
    traffic = graph.traffic()
    for kernel in graph.kernels:
        traffic.used = {}
        for launch in kernel.launches:
            named = graph.named(launch.key)
            library = kernel.language == "extern"
            names = (
                traffic.called(named, kernel.name) if library else traffic.computed(named, extern)
            )
            count_bytes = traffic.called_bytes if library else traffic.bytes_of
            count = traffic.called_operations if library else traffic.operations_of
            if named and not names:
                # A part of a node has the node's name, followed by what it is.
                node_name = named[0].partition(" ")[0]
                kernel.absent |= dict.fromkeys(_FIELDS, ONLY_INPUTS.format(node_name))
            launch.estimated_bytes = _estimate(count_bytes, names, kernel, "estimated_bytes")
            launch.estimated_operations = _estimate(count, names, kernel, "estimated_operations")
        kernel.estimated_for = traffic.used
        summarize(kernel)


def summarize(kernel: Kernel) -> None:
    """Add to a kernel the estimates that all its launches share."""
    for field in _FIELDS:
        estimates = {getattr(launch, field) for launch in kernel.launches}
        if len(estimates) == 1 and None not in estimates:
            setattr(kernel, field, estimates.pop())
            kernel.absent.pop(field, None)
        elif len(estimates) > 1:
            kernel.absent[field] = DIFFERENT
        else:
            kernel.absent.setdefault(field, NO_NODES)


def _estimate(
    count: Callable[[Sequence[str]], int], names: Sequence[str], kernel: Kernel, field: str
) -> float | None:
    if not names:
        return None
    try:
        return float(count(names))
    except UnknownSize as reason:
        kernel.absent[field] = str(reason)
        return None
