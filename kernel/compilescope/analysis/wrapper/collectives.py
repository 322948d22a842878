"""The collectives that a compilation's code calls, in order, and the line that waits for each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from ...report import Code, Compilation, Direction, Node, Region, SourceLine
from ...report.subjects.ranks import Collective
from ...torch_api.operators.communication import COMMUNICATING
from ..text.sizes import BYTES

_TARGET = re.compile(rf"torch\.ops\.(?:{'|'.join(COMMUNICATING)})\.")
_WAIT = "wait_tensor"
_GROUP = re.compile(r"'([^']*)'\s*$")
_REDUCTION = re.compile(r"'(sum|avg|min|max|product|band|bor|bxor)'")
_LIBRARY = re.compile(r"[/\\]torch[/\\]")
_STAGES = (("post_grad", ""), ("backward_post_grad", "backward"))


def find_collectives(compilation: Compilation, variant: str) -> list[Collective]:
    """The collectives of a compilation, forward before backward, in the order of their calls.

    Parameters
    ----------
    compilation
        With its graphs, its code and the code's regions.
    variant
        The name of its variant.
    """
    collectives: list[Collective] = []
    for stage, direction in _STAGES:
        graph = compilation.graphs.get(stage)
        code = compilation.code.backward if direction else compilation.code
        if graph is not None and code is not None:
            collectives += _of_graph(graph.nodes, code, compilation.id, variant)
    return collectives


def _of_graph(
    nodes: Sequence[Node], code: Code, compile_id: str, variant: str
) -> Iterator[Collective]:
    calls = [node for node in nodes if _TARGET.match(node.target)]
    waits = [node for node in calls if operator_of(node) == _WAIT]
    launches = _launches(code)
    direction: Direction = code.direction
    for node in calls:
        if operator_of(node) == _WAIT:
            continue
        line = _nth(launches, calls, node)
        wait = next((waiting for waiting in waits if node.name in waiting.inputs), None)
        waited = _nth(launches, calls, wait) if wait is not None else None
        yield Collective(
            operator=node.target.removeprefix("torch.ops."),
            name=operator_of(node),
            compilation=compile_id,
            variant=variant,
            direction=direction,
            node=node.name,
            group=_group(node),
            reduction=_reduction(node),
            bytes=_bytes(node),
            shape=node.shape or [],
            dtype=node.dtype or "",
            line=line,
            waited=waited,
            between=_between(launches, line, waited),
            sources=_user_lines(node.sources),
        )


def operator_of(node: Node) -> str:
    """The operator's own name: ``all_reduce_`` of ``torch.ops.c10d.all_reduce_.default``."""
    return node.target.split(".")[3] if node.target.count(".") > 2 else node.target


def _launches(code: Code) -> list[Region]:
    artifact = "python" if code.python is not None else "cpp"
    return [region for region in code.regions.get(artifact, []) if region.kind == "launch"]


def _nth(launches: Sequence[Region], calls: Sequence[Node], node: Node) -> int | None:
    """The line that calls a node: the call of its operator with the same index."""
    # Inductor generates out-of-place operators of the graph in place if it can.
    name = operator_of(node).removesuffix("_")
    place = [call.name for call in calls if operator_of(call).removesuffix("_") == name].index(
        node.name
    )
    called = re.compile(rf"c10d(?:_functional)?(?:_autograd)?[._:]+{name}_?(?!\w)")
    same = [launch for launch in launches if called.search(launch.label)]
    return same[place].end if place < len(same) else None


def _between(launches: Sequence[Region], line: int | None, waited: int | None) -> int | None:
    """How many kernels start while the collective runs."""
    if line is None or waited is None:
        return None
    return sum(line < launch.end < waited and "c10d" not in launch.label for launch in launches)


def _group(node: Node) -> str:
    match = _GROUP.search(node.args)
    return match[1] if match else ""


def _reduction(node: Node) -> str:
    match = _REDUCTION.search(node.args)
    return match[1] if match else ""


def _bytes(node: Node) -> float | None:
    size = BYTES.get((node.dtype or "").removeprefix("torch."))
    if size is None or node.shape is None or not all(name.isdigit() for name in node.shape):
        return None
    return float(size * math.prod(map(int, node.shape)))


def _user_lines(sources: Sequence[SourceLine]) -> list[SourceLine]:
    """The lines outside of libraries; all lines if there are none."""
    user_lines = [line for line in sources if not _LIBRARY.search(line.file)]
    return user_lines or list(sources)
