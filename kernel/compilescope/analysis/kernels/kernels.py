"""The kernels of a compilation: what each is, where it comes from and who launches it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...report import Direction, Kernel, Language, Launch, Region
from ..graphs.provenance import Origin, Provenance, merge
from ..text.wrapper_marks import Mark
from .grid import grid_of

Artifact = Literal["python", "cpp", "aot"]
Definition = tuple[Mark, list[str]]
"""Where a kernel is defined: its region and the lines of the text that it is a region of."""

NO_SOURCE = "An extern kernel: torch calls a library and generates no source."
NOT_FOUND = "The generated code launches this kernel, but does not contain its source."
NO_GRID = "The grid cannot be read from the kernel's source or from its launch."
NOT_LAUNCHED = "No line of the wrapper launches this kernel directly."
NO_NODES = "torch recorded no graph nodes for this kernel; provenance tracking may be off."
NO_LINES = (
    "torch recorded no source line for this kernel. Nodes that a compiler pass adds have none, nor "
    "has library code that no function of the user's calls, as in a bare nn.Sequential."
)


def collect(
    marks: Sequence[Mark],
    wrapper: str,
    definitions: Sequence[Mark],
    home: str,
    provenance: Provenance,
    *,
    direction: Direction,
    artifact: Artifact,
    variant: str,
) -> list[Kernel]:
    """Gather the kernels of one wrapper, in the order of their first launch.

    Parameters
    ----------
    marks, wrapper
        The wrapper's regions and the wrapper.
    definitions, home
        Kernel definitions that stand elsewhere, and the text they stand in: under ``cpp_wrapper``
        the Triton sources are in the Python around the C++.
    """
    lines = wrapper.split("\n")
    sources = {mark.kernel: (mark, lines) for mark in marks if mark.kind == "kernel"}
    elsewhere = home.split("\n")
    sources.update({mark.kernel: (mark, elsewhere) for mark in definitions})
    launches: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.kind == "launch" and mark.kernel:
            launches.setdefault(mark.kernel, []).append(mark)
    ordered = sorted(launches.items(), key=lambda item: min(mark.order for mark in item[1]))
    # Some are launched by another kernel's runtime: the candidates of a multi-kernel.
    others: list[tuple[str, list[Mark]]] = [
        (name, []) for name in sources if name and name not in launches
    ]
    kernels = []
    for name, calls in [*ordered, *others]:
        definition = sources.get(name)
        origin = _origin(calls, definition, provenance)
        kernel = Kernel(
            name=name,
            language=_language(definition),
            direction=direction,
            source=_source(definition),
            ops=origin.ops,
            launches=[
                Launch(
                    artifact=artifact,
                    variant=variant,
                    line=mark.call,
                    end=mark.end,
                    key=mark.key,
                    text=lines[mark.call - 1].strip(),
                )
                for mark in calls
            ],
            nodes=origin.nodes,
            sources=origin.sources,
        )
        first = calls[0] if calls else None
        text = "\n".join(lines[first.call - 1 : first.end]) if first else ""
        kernel.grid = grid_of(kernel.language, kernel.source, text)
        _explain(kernel, definition)
        kernels.append(kernel)
    return kernels


def add_origins(
    regions: Sequence[Region],
    marks: Sequence[Mark],
    kernels: Sequence[Kernel],
    provenance: Provenance,
) -> None:
    """Fill in the nodes and source lines of the regions of a wrapper.

    Parameters
    ----------
    regions
        Those of the marks, in the same order.
    kernels
        From `collect`.
    """
    by_name = {kernel.name: kernel for kernel in kernels}
    for region, mark in zip(regions, marks, strict=True):
        kernel = by_name.get(mark.kernel or "")
        if mark.kind == "launch":
            origin = provenance.origin_of(mark)
            region.nodes, region.sources = origin.nodes, origin.sources
            if kernel and len(kernel.launches) == 1:
                region.nodes = region.nodes or kernel.nodes
                region.sources = region.sources or kernel.sources
            elif kernel and not region.sources and not origin.nodes:
                region.sources = kernel.sources
        elif mark.kind == "kernel" and kernel:
            region.nodes, region.sources = kernel.nodes, kernel.sources


def _explain(kernel: Kernel, definition: Definition | None) -> None:
    if not kernel.source:
        kernel.absent["source"] = NO_SOURCE if definition is None else NOT_FOUND
    if not kernel.launches:
        kernel.absent["launches"] = NOT_LAUNCHED
    if not kernel.grid:
        kernel.absent["grid"] = kernel.absent.get("source", NO_GRID)
    if not kernel.nodes:
        kernel.absent["nodes"] = NO_NODES
    if not kernel.sources:
        kernel.absent["sources"] = NO_LINES


def _origin(calls: Sequence[Mark], definition: Definition | None, provenance: Provenance) -> Origin:
    origins = [provenance.origin_of(mark) for mark in calls]
    if definition and not any(origin.nodes for origin in origins):
        defined = provenance.origin_of(definition[0])
        origins = [_combined_origin(origin, defined) for origin in origins] or [defined]
    return merge(origins, provenance.order)


def _combined_origin(origin: Origin, defined: Origin) -> Origin:
    """A launch's origin, completed from its kernel's definition.

    One kernel's source may serve several places of the graph. Its definition names the nodes of the
    first of these only, so a launch that knows its own source lines keeps them.
    """
    return Origin(
        origin.nodes or defined.nodes, defined.ops or origin.ops, origin.sources or defined.sources
    )


def _language(definition: Definition | None) -> Language:
    if definition is None:
        return "extern"
    language = definition[0].language
    if language in ("cpp", "triton", "python"):
        return language  # type: ignore[return-value]
    return "triton" if language == "launcher" else "text"


def _source(definition: Definition | None) -> str:
    if definition is None or definition[0].language == "launcher":
        return ""  # a launcher is the C++ that starts a Triton kernel, not the kernel
    mark, lines = definition
    first, last = mark.source or (mark.start, mark.end)
    return "\n".join(lines[first - 1 : last]) + "\n"
