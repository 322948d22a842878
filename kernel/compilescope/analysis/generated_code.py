"""Converts Inductor's units to generated code with its regions and kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import msgspec

from ..report import STAGES, Code, Direction, Graph, Kernel, Node
from .graphs.provenance import Provenance, earlier_nodes
from .graphs.stages import GraphReader
from .kernels.estimates.computed_nodes import add_operators
from .kernels.estimates.computed_parts import ComputedParts
from .kernels.estimates.estimates import estimate
from .kernels.estimates.foreach_kernels import estimate_foreach
from .kernels.estimates.fusion import add_fusions
from .kernels.estimates.kernel_graph import KernelGraph
from .kernels.estimates.library_inputs import without_inputs
from .kernels.inductor_units import Unit
from .kernels.kernels import add_origins, collect
from .kernels.tiling import add_tilings
from .kernels.unmarked_launches import add_nodes
from .text.sizes import Hints
from .text.wrapper_marks import Mark
from .wrapper.baked_values import add_baked
from .wrapper.regions import scan, to_regions
from .wrapper.split import direction_of, split

NO_CPP = "This variant launches its kernels from Python; cpp_wrapper is off."
NO_PYTHON = "This variant launches its kernels from C++; cpp_wrapper is on."
NO_CODE = "Inductor generated no code for this graph."
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Generated:
    """A compilation's graphs, code and kernels."""

    graphs: dict[str, Graph]
    code: Code = field(default_factory=Code)
    kernels: list[Kernel] = field(default_factory=list)
    computed: list[list[str]] = field(default_factory=list)
    """The nodes that each kernel computes."""
    absent: dict[str, str] = field(default_factory=dict)


def generate(
    units: Sequence[Unit],
    graphs: Mapping[str, Graph],
    reader: GraphReader,
    *,
    variant: str,
    hints: Hints,
) -> Generated:
    """Read what Inductor generated.

    Parameters
    ----------
    units
        From `units.gather`.
    graphs
        The earlier stages, by `analysis.graphs.stages.read_stages`.
    hints
        The values that symbols had when torch compiled.
    """
    result = Generated(graphs=dict(graphs))
    by_direction: dict[str, list[Unit]] = {}
    for unit in units:
        by_direction.setdefault(_direction(unit, graphs, by_direction), []).append(unit)
    forward = [d for d in ("inference", "forward") if d in by_direction]
    for direction in forward[:1]:
        result.code = _unit(by_direction[direction], direction, reader, result, variant, hints)
    if not forward:
        result.code.absent = dict.fromkeys(("python", "cpp", "shell"), NO_CODE)
    if "backward" in by_direction:
        code = _unit(by_direction["backward"], "backward", reader, result, variant, hints)
        if forward:
            result.code.backward = code
        else:
            result.code = code
    result.graphs = {stage: result.graphs[stage] for stage in STAGES if stage in result.graphs}
    return result


def _direction(unit: Unit, graphs: Mapping[str, Graph], seen: Mapping[str, object]) -> str:
    text = unit.code or unit.post_grad or ""
    direction = direction_of(text)
    if direction:
        return direction
    if "forward" in graphs:
        return "backward" if "forward" in seen else "forward"
    return "inference"


def _unit(
    units: Sequence[Unit],
    direction: str,
    reader: GraphReader,
    result: Generated,
    variant: str,
    hints: Hints,
) -> Code:
    """Add the graphs and kernels of one direction to the result; return its code."""
    codes = []
    for number, unit in enumerate(units):
        prefix = "backward_" if direction == "backward" else ""
        post_grad: list[Node] = []
        for text, stage in (
            (unit.text("before_post_grad_graph"), "before_post_grad"),
            (unit.post_grad, "post_grad"),
        ):
            if not text:
                continue
            graph = reader(prefix + stage, text)
            if stage == "post_grad":
                post_grad = graph.nodes
            if number == 0:
                result.graphs[prefix + stage] = graph
        code = _code(unit, direction, post_grad, result, variant, number, hints)
        codes.append(code)
    first, *others = codes
    first.others = others
    if others:
        result.absent[f"{direction} graphs"] = (
            f"torch compiled {len(codes)} {direction} graphs under this id. code.others has the "
            "code of the others; before and after the post-grad passes only the first is shown."
        )
    return first


def _code(
    unit: Unit,
    direction: str,
    post_grad: Sequence[Node],
    result: Generated,
    variant: str,
    number: int,
    hints: Hints,
) -> Code:
    """Add the kernels of one unit to the result; return its code."""
    code = Code(direction=cast(Direction, direction), path=unit.path)
    if not unit.code:
        code.absent = dict.fromkeys(("python", "cpp", "shell"), NO_CODE)
        return code
    if unit.buffers:
        code.buffers = msgspec.json.decode(unit.buffers, type=dict[str, str])
    texts = split(unit.code)
    code.python, code.cpp, code.shell = texts.python, texts.cpp, texts.shell
    artifact: str = "python" if texts.python is not None else "cpp"
    text = texts.python or texts.cpp or ""
    marks = scan(text, "python" if artifact == "python" else "cpp")
    add_nodes(marks, post_grad)
    name = direction if number == 0 else f"{direction}.{number + 1}"
    regions = to_regions(marks, name)
    code.regions[artifact] = regions
    definitions: list[Mark] = []
    if texts.shell is not None:
        definitions = [mark for mark in scan(texts.shell, "python") if mark.kind == "kernel"]
        if definitions:
            code.regions["shell"] = to_regions(definitions, name)
        code.absent["python"] = NO_PYTHON
    else:
        code.absent["cpp"] = code.absent["shell"] = NO_CPP
    provenance = Provenance(post_grad, earlier_nodes(result.graphs), unit.mapping, unit.stacks)
    kernels = collect(
        marks,
        text,
        definitions,
        texts.shell or "",
        provenance,
        direction=code.direction,
        artifact="python" if artifact == "python" else "cpp",
        variant=variant,
    )
    add_origins(regions, marks, kernels, provenance)
    groups = {region.key: region.nodes for region in regions if region.kind == "launch"}
    parts = ComputedParts(kernels, groups, post_grad, hints, text)
    stored = frozenset(_stored(code.buffers, marks, text))
    graph = without_inputs(
        KernelGraph(kernels, parts.groups, list(parts.nodes.values()), hints, stored)
    )
    estimate(graph)
    estimate_foreach(kernels, text, hints)
    add_fusions(graph)
    add_tilings(kernels)
    add_baked(kernels)
    result.kernels += kernels
    result.computed += add_operators(graph, post_grad)
    return code


def _stored(buffers: Mapping[str, str], marks: Sequence[Mark], text: str) -> Iterator[str]:
    """The nodes whose buffers launches have; a fused kernel has no buffer for what stays inside."""
    if not buffers:
        return
    lines = text.split("\n")
    for mark in marks:
        if mark.kind == "launch":
            launch = "\n".join(lines[mark.call - 1 : mark.end])
            yield from (buffers[word] for word in _WORD.findall(launch) if word in buffers)
