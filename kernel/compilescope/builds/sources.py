"""The code of a variant, from a capture: nothing is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..analysis.assemble import assemble
from ..capture.live import recording
from ..capture.records import Record
from ..capture.renumber import numbers, renumber
from ..measure.garbage_collection import gc_disabled
from ..report import Compilation, Effective, Node
from ..report.cuda_graphs import CudaGraphs
from ..report.problem import Problem
from ..report.references import is_reference
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import AOTI, settings_of
from ..torch_api.failures import failures
from ..torch_api.inductor import codegen, workers
from ..torch_api.inductor.autotuning import tuned
from ..torch_api.inductor.cuda_graphs import CudaGraphSkip, noting
from ..torch_api.inductor.equal_kernels import EqualKernels
from ..torch_api.inductor.inductor_warnings import hearing
from ..torch_api.trace.graphs import collecting
from .capture_graphs import Captured
from .cuda_graph_counts import foresee
from .requested_effective import effects_of

_UNBUILT = "Known once the variant has been built."


STEPS = {
    "aot_inference_graph": "generating code: graph passes",
    "aot_forward_graph": "generating code: graph passes",
    "inductor_post_grad_graph": "generating code: lowering and fusing",
    "inductor_output_code": "generating code: reading the wrapper",
}
"""What torch traces → what it does from then on."""


class Sources(msgspec.Struct, kw_only=True):
    """The compilations of a variant with their generated code, and what went wrong."""

    compilations: list[Compilation]
    problems: list[Problem]
    effective: list[Effective]
    cuda_graphs: CudaGraphs | None = None


def generate(
    captured: Captured,
    name: str,
    variant: Variant,
    settings: Mapping[str, Any] | None = None,
    told: Callable[[str], None] = lambda step: None,
) -> Sources:
    """The sources of a variant.

    May run in any thread: it takes torch's settings from where the capture was made.

    Parameters
    ----------
    settings
        Inductor's settings that hold whatever the variant asks for.
    told
        Called with what torch does, whenever that is something else.
    """
    context = captured.context.copy()
    with gc_disabled():
        return context.run(_generate, captured, name, variant, settings or {}, told)


def _generate(
    captured: Captured,
    name: str,
    variant: Variant,
    more: Mapping[str, Any],
    told: Callable[[str], None],
) -> Sources:
    def follow(event: str) -> None:
        if event in STEPS:
            told(STEPS[event])

    records: list[Record] = list(captured.records)
    nodes: dict[str, list[Node]] = dict(captured.nodes)
    problems: list[Problem] = []
    complaints: list[str] = []
    heard: list[CudaGraphSkip] = []
    if is_aoti := bool(variant.options.get(AOTI)):
        absent = "AOTInductor generates its code as it builds: build the variant."
    elif is_reference(variant.backend):
        absent = "A backend of your own generates its code as it builds: build the variant."
    else:
        absent = f"The backend {variant.backend!r} generates no wrapper."
    if variant.backend == "inductor" and not is_aoti:
        settings = {**settings_of(variant), **more}
        for graph in captured.graphs:
            begin = len(records), len(complaints), len(heard)
            for kernels in (captured.kernels, None):
                with (
                    workers.temporary(),
                    recording(records, told=follow),
                    tuned(),
                    collecting(nodes),
                    hearing(complaints),
                    noting(heard),
                ):
                    try:
                        codegen.generate(graph, settings, kernels)
                        break
                    except Exception as error:  # noqa: BLE001 - it is the variant's problem
                        problem = failures.of_codegen(error)
                if kernels is None or not kernels.unlike:
                    problems.append(problem)
                    break
                captured.kernels = EqualKernels()
                del records[begin[0] :], complaints[begin[1] :], heard[begin[2] :]
    ids = numbers(records)
    records = renumber(records)
    compilations = assemble(records, variant=name, nodes=nodes)
    for compilation in compilations:
        _forget_the_run(compilation)
        if variant.backend != "inductor" or is_aoti:
            compilation.absent["code"] = absent
    graphs = foresee(variant, compilations, heard, ids, records)
    effective = effects_of(
        variant, compilations, records, complaints, built=False, cuda_graphs=graphs
    )
    return Sources(
        compilations=compilations, problems=problems, effective=effective, cuda_graphs=graphs
    )


def _forget_the_run(compilation: Compilation) -> None:
    """Phases and caches of a capture say nothing of the variant's real compilation."""
    compilation.phases, compilation.cache = [], []
    compilation.started_s = compilation.duration_s = None
    compilation.absent |= {"phases": _UNBUILT, "cache": _UNBUILT}
