"""The choices that need the missing GPU, and the rules that decided them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...capture.logged_values import decoded
from ...capture.records import Record
from ...report import Code, Compilation, Direction, Node
from ...report.devices import Build
from ...report.target import Decision
from ...torch_api.trace.artifact_names import DECISION

_ASKS = "torch asks the device and its libraries; another version of cuDNN may decide otherwise."
_TIMED = "torch times all {} candidates on the device, and takes the fastest."
_SDPA = "scaled_dot_product_attention"
_FUSED = {
    "cudnn": "cuDNN's attention",
    "flash": "flash attention",
    "efficient": "memory-efficient attention",
}
_MATH = "matrix products and a softmax"
_RULES = {
    "cudnn": "On compute capability 9 and 10, with cuDNN 9.15.1 or later, torch's first choice is "
    "cuDNN: for half precision with a head size of at most 128 and a multiple of 8.",
    "flash": (
        "torch uses flash attention, after cuDNN's where that comes first, for half "
        "precision without a mask and a head size of at most 256, from compute capability "
        "8.0 on."
    ),
    "efficient": (
        "torch uses memory-efficient attention for what flash attention does not "
        "support: float32, or a mask."
    ),
    "math": (
        "No fused kernel supports the call: none supports float64, odd head sizes, or "
        "tensors that are not four-dimensional."
    ),
}
_HIP_RULES = {
    "flash": (
        "torch uses AOTriton's flash attention for half precision without a mask and a "
        "head size of at most 512."
    ),
    "efficient": (
        "torch uses AOTriton's memory-efficient attention for what flash attention "
        "does not support: float32, or a mask."
    ),
}


def read_decisions(records: Sequence[Record], compilation: Compilation) -> list[Decision]:
    """The decisions logged while torch compiled, and the algorithms chosen without measuring.

    Parameters
    ----------
    records
        The compilation's.
    compilation
        A compilation with its graphs, code, kernels and autotunings.
    """
    decisions = []
    for record in records:
        if record.name == DECISION and record.payload:
            facts = decoded(record.payload)
            name = facts.pop("node")
            decision = Decision(**facts)
            if decision.kernel:
                decisions.append(_placed_at_kernel(decision, compilation))
            else:
                decisions.append(_placed(decision, [name], compilation))
    return _merged(decisions)


def add_choices(compilation: Compilation, build: Build) -> None:
    """Adds the decisions that the graphs and candidates of a target's compilation show."""
    choices = [*_attention(compilation, build), *_convolutions(compilation, build)]
    compilation.decisions += _merged(choices)
    compilation.decisions += list(_algorithms(compilation))


def _attention(compilation: Compilation, build: Build) -> Iterator[Decision]:
    fused = set()
    for node in _nodes(compilation, "post_grad"):
        kind = _fused(node)
        if kind:
            fused |= set(node.origins)
            rules = _RULES | (_HIP_RULES if build.backend == "hip" else {})
            yield _placed(_dispatch(_SDPA, _FUSED[kind], rules[kind]), [node.name], compilation)
    for node in _nodes(compilation, "dynamo"):
        if node.target.endswith(_SDPA) and node.name not in fused:
            parts = [part for part in _nodes(compilation, "post_grad") if node.name in part.origins]
            names = [part.name for part in parts]
            yield _placed(_dispatch(_SDPA, _MATH, _RULES["math"]), names, compilation)


def _fused(node: Node) -> str:
    """The fused kernel of which a node is the forward; empty for none."""
    name = node.target.removeprefix("torch.ops.aten.").partition(".")[0]
    return next((kind for kind in _FUSED if name == f"_scaled_dot_product_{kind}_attention"), "")


def _convolutions(compilation: Compilation, build: Build) -> Iterator[Decision]:
    library = "MIOpen" if build.backend == "hip" else "cuDNN"
    for stage in ("post_grad", "backward_post_grad"):
        for node in _nodes(compilation, stage):
            name = node.target.removeprefix("torch.ops.aten.").partition(".")[0]
            if name in ("convolution", "convolution_backward"):
                rule = (
                    f"torch's builds for this device have {library}, and its layout is used: "
                    "channels last where the input or the weight is."
                )
                decision = Decision(
                    kind="algorithm",
                    operator=name,
                    chosen=library,
                    rule=rule,
                    instead=f"{library} chooses one of its algorithms at the call.",
                )
                yield _placed(decision, [node.name], compilation)


def _algorithms(compilation: Compilation) -> Iterator[Decision]:
    for autotuning in compilation.autotunings:
        chosen = next((choice for choice in autotuning.choices if choice.chosen), None)
        if (
            autotuning.kind == "algorithm"
            and autotuning.skipped
            and len(autotuning.choices) > 1
            and chosen
        ):
            decision = Decision(
                kind="algorithm",
                operator=f"{autotuning.operator}({', '.join(autotuning.inputs)})",
                chosen=chosen.name,
                rule=autotuning.skipped,
                instead=_TIMED.format(len(autotuning.choices)),
                kernel=autotuning.kernel,
            )
            yield _placed_at_kernel(decision, compilation)


def _dispatch(operator: str, chosen: str, rule: str) -> Decision:
    return Decision(kind="dispatch", operator=operator, chosen=chosen, rule=rule, instead=_ASKS)


def _placed(decision: Decision, names: Sequence[str], compilation: Compilation) -> Decision:
    """The decision with its nodes, the lines that launch them, and the lines they came from."""
    for stage, code in _units(compilation):
        nodes = [node for node in _nodes(compilation, stage) if node.name in names]
        if nodes:
            decision.direction = _direction(stage, code)
            decision.nodes = [node.name for node in nodes]
            for node in nodes:
                decision.sources += node.sources[-1:]
            decision.lines = _lines(compilation, code, set(decision.nodes))
            break
    return decision


def _placed_at_kernel(decision: Decision, compilation: Compilation) -> Decision:
    """The decision with the nodes, lines and sources of the kernel that it is about."""
    kernel = next(
        (candidate for candidate in compilation.kernels if candidate.name == decision.kernel), None
    )
    if kernel is not None:
        decision.direction = kernel.direction
        decision.nodes, decision.sources = list(kernel.nodes), list(kernel.sources)
        for launch in kernel.launches:
            decision.lines.setdefault(launch.artifact, []).append(launch.line)
    return decision


def _units(compilation: Compilation) -> Iterator[tuple[str, Code]]:
    yield "post_grad", compilation.code
    if compilation.code.backward is not None:
        yield "backward_post_grad", compilation.code.backward


def _direction(stage: str, code: Code) -> Direction:
    return "backward" if stage.startswith("backward") else code.direction


def _lines(compilation: Compilation, code: Code, names: set[str]) -> dict[str, list[int]]:
    """Artifact → where the nodes are launched, below the comments of the launch."""
    lines: dict[tuple[str, str], int] = {
        (launch.artifact, launch.key): launch.line
        for kernel in compilation.kernels
        for launch in kernel.launches
    }
    by_artifact: dict[str, list[int]] = {}
    for artifact, regions in code.regions.items():
        launches = [
            region
            for region in regions
            if region.kind == "launch" and names.intersection(region.nodes)
        ]
        # The library call, not the kernels that prepare its inputs.
        calls = [launch for launch in launches if not (launch.kernel or "").startswith("triton_")]
        if launches:
            by_artifact[artifact] = [
                lines.get((artifact, call.key), call.start) for call in calls or launches
            ]
    return by_artifact


def _merged(decisions: Iterable[Decision]) -> list[Decision]:
    """Merges the same decision for several nodes."""
    by_key: dict[tuple[str, ...], Decision] = {}
    for decision in decisions:
        key = (decision.kind, decision.operator, decision.chosen, decision.rule, decision.direction)
        merged = by_key.setdefault(key, decision)
        if merged is not decision:
            merged.nodes += [name for name in decision.nodes if name not in merged.nodes]
            merged.sources += [line for line in decision.sources if line not in merged.sources]
            for artifact, lines in decision.lines.items():
                both = {*merged.lines.get(artifact, []), *lines}
                merged.lines[artifact] = sorted(both)
    return list(by_key.values())


def _nodes(compilation: Compilation, stage: str) -> list[Node]:
    graph = compilation.graphs.get(stage)
    return graph.nodes if graph is not None else []
