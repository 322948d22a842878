"""Builds a variant: compiles it in an empty cache, runs it, and keeps it ready for more calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from ..analysis.assemble import assemble
from ..analysis.parts import collecting_failures
from ..analysis.phases.phases import phases_begin_s
from ..analysis.problems.compile_failures import suppressed
from ..analysis.problems.cpp_errors import place
from ..capture.live import loaded_files, recording
from ..capture.records import Record
from ..capture.renumber import numbers, renumber
from ..guards.kept_guards import EvaluableGuards, by_report_id
from ..isolation.code_swap import CodeCopies, CodeSet
from ..isolation.muted_output import quiet
from ..isolation.own_backward import Backward
from ..report import Compilation, Effective, Node
from ..report.compilation.cuda_graphs import CudaGraphs
from ..report.problem import Problem
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import compile_callable, given_by
from ..torch_api.dynamo.compiled_graphs import KeptLayers
from ..torch_api.dynamo.disabled_compile import other_backend, turned_off
from ..torch_api.dynamo.process_state import begin
from ..torch_api.failures import failures
from ..torch_api.guards.guard_managers import KeptGuards, collecting_guards
from ..torch_api.inductor.autotuning import logging_autotuning
from ..torch_api.inductor.backward_provenance import backward_mapped
from ..torch_api.inductor.buffer_nodes import buffers_noted
from ..torch_api.inductor.cuda_graphs import CudaGraphSkip, collecting_skips
from ..torch_api.inductor.inductor_warnings import collecting_warnings
from ..torch_api.inductor.retained_backwards import retaining
from ..torch_api.kernels import loading
from ..torch_api.process import caches
from ..torch_api.process.devices import settle
from ..torch_api.trace.artifact_names import KERNEL_LOAD
from ..torch_api.trace.graphs import collecting
from ..torch_api.trace.record_names import OUTPUT_CODE
from ..torch_api.trace.spans import timed
from .comparison.call_result import Outcome, outcome_of
from .cuda_graph_counts import predict_outcome
from .requested_effective import effects_of
from .sources import PASSES
from .subject_error import CALL_ERRORS

_STEPS = {**PASSES, OUTPUT_CODE: "compiling"}
"""Event that torch traces → what begins with it."""


class Built(msgspec.Struct, kw_only=True):
    """A variant after its first call.

    ``call`` may only run while ``code_set`` is installed.
    """

    name: str
    call: Callable[..., Any]
    code_set: CodeSet
    compilations: list[Compilation] = []
    effective: list[Effective] = []
    cuda_graphs: CudaGraphs | None = None
    first_call_s: float = 0.0
    """The first call and, for a subject that trains, its first backward."""
    outcome: Outcome | None = None
    """What the first call returned and left in the gradients; None when it failed."""
    problem: Problem | None = None
    off: Problem | None = None
    """What kept torch from compiling, if something did."""
    suppressed: list[Problem] = []
    """The failed compilations that torch left to eager."""
    unanalyzed: list[Problem] = []
    """What compilescope could not analyze."""
    retained: set[str] = set()
    """The compilations whose backward was first called with ``retain_graph``."""
    evaluable_guards: EvaluableGuards | None = None
    """The guards, with the values of their frames, which the caller has to drop."""
    begun_s: float = 0.0
    """When the first call began, in seconds since the epoch."""
    phases_s: float | None = None
    """When the earliest of its phases began; None where there is none."""
    load_records: list[Record] = []
    """Records about the loading of kernels."""
    modules: list[ModuleType] = []
    """The generated modules that were loaded."""
    layers: KeptLayers = msgspec.field(default_factory=KeptLayers)
    """What was compiled, for calling it layer by layer."""


def build(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    name: str,
    variant: Variant,
    code_copies: CodeCopies,
    code_set: CodeSet,
    folder: Path,
    backward: Backward,
    on_step: Callable[[str], None] = lambda step: None,
) -> Built:
    """Compiles the subject under a variant by calling it, in an empty cache in ``folder``.

    The caller restores the subject's state and Dynamo's. Failures of the compilation become the
    result's ``problem``.

    Parameters
    ----------
    backward
        Runs the backward of what the first call returns.
    on_step
        Called with each step that begins.
    """
    inductor = variant.backend == "inductor"
    begin()
    code_copies.install(code_set)
    built = Built(name=name, call=fn, code_set=code_set, off=turned_off(), problem=other_backend())
    records: list[Record] = []
    nodes: dict[str, list[Node]] = {}
    complaints: list[str] = []
    skips: list[CudaGraphSkip] = []
    guards: list[KeptGuards] = []
    retained: set[str] = set()
    keep = collecting_guards(guards.append, values=True)

    def follow(event: str) -> None:
        if event in _STEPS:
            on_step(f"building: {_STEPS[event]}")

    with (
        caches.only(folder),
        recording(records, on_event=follow),
        timed(),
        logging_autotuning(),
        buffers_noted(),
        backward_mapped(),
        retaining(retained),
        loading.watched(built.modules),
        collecting(nodes),
        collecting_warnings(complaints),
        collecting_skips(skips),
        built.layers.recording(),
        keep,
        quiet(),
    ):
        start = time.perf_counter()
        built.begun_s = time.time()
        returned = False
        try:
            built.call = compile_callable(fn, **given_by(variant))
            if built.problem is None:
                output = built.call(*args, **kwargs)
                settle()
                returned = True
                # Also compiles the backward, which torch defers until gradients are computed.
                built.outcome = outcome_of(output, backward)
                settle()
                built.first_call_s = time.perf_counter() - start
        except CALL_ERRORS as error:
            built.problem = failures.under_compile(error, backward=returned)
    ids = built.layers.ids = numbers(records)
    built.retained = {ids.get(compile_id, compile_id) for compile_id in retained}
    built.evaluable_guards = EvaluableGuards(guards=by_report_id(guards, ids), code_set=code_set)
    records = renumber(records)
    built.load_records = [record for record in records if record.name == KERNEL_LOAD]
    built.phases_s = phases_begin_s(records)
    with collecting_failures() as built.unanalyzed:
        built.compilations = assemble(records, variant=name, nodes=nodes, files=loaded_files())
    _count_runs(built)
    if built.problem is None:
        built.suppressed = suppressed(records, built.compilations)
        built.problem = next(
            (problem for problem in built.suppressed if problem.severity == "error"), None
        )
    else:
        place(built.problem, built.compilations)
    built.cuda_graphs = predict_outcome(variant, built.compilations, skips, ids, records)
    built.effective = effects_of(
        variant,
        built.compilations,
        records,
        complaints,
        built=True,
        cuda_graphs=built.cuda_graphs,
    )
    for compilation in built.compilations:
        if not inductor and not (compilation.code.python or compilation.code.cpp):
            compilation.absent["code"] = f"The backend {variant.backend!r} generates no wrapper."
    return built


def _count_runs(built: Built) -> None:
    """Records how often the first call ran each compiled graph."""
    runs: dict[str, int] = {}
    for kept in built.layers.graphs:
        if kept.direction != "backward":
            report_id = built.layers.ids.get(kept.compile_id, kept.compile_id)
            runs[report_id] = max(runs.get(report_id, 0), kept.runs)
    for compilation in built.compilations:
        compilation.runs = runs.get(compilation.id, 0)
