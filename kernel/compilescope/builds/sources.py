"""Generates the code of a variant from a capture, without building it."""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..analysis.assemble import assemble
from ..analysis.guards.symbolic_shapes.size_guards import read_size_guards
from ..analysis.parts import collecting_failures
from ..analysis.problems.compile_failures import suppressed
from ..capture.live import loaded_files, record_of, recording
from ..capture.records import Record
from ..capture.renumber import numbers, renumber
from ..measure.garbage_collection import gc_disabled
from ..report import Compilation, Effective
from ..report.compilation.cuda_graphs import CudaGraphs
from ..report.problem import Problem
from ..report.references import is_reference
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import AOTI, settings_of
from ..torch_api.dynamo.muted_warnings import warnings_muted
from ..torch_api.failures import failures
from ..torch_api.inductor import codegen, workers
from ..torch_api.inductor.autotuning import logging_autotuning
from ..torch_api.inductor.buffer_nodes import buffers_noted
from ..torch_api.inductor.cuda_graphs import CudaGraphSkip, collecting_skips
from ..torch_api.inductor.equal_kernels import EqualKernels
from ..torch_api.inductor.inductor_warnings import collecting_warnings
from ..torch_api.inductor.wrappers.other_wrapper import ADDED, RENEWED, OtherWrapper, may_share
from ..torch_api.trace.graphs import collecting
from ..torch_api.trace.log_compile_ids import shown
from ..torch_api.trace.record_names import OUTPUT_CODE
from .capture_graphs import Captured
from .cuda_graph_counts import predict_outcome
from .pregenerated_code import Generated, is_on, key_of_settings
from .requested_effective import effects_of

_UNBUILT = "Known once the variant has been built."
_MORE_GUARDS = (
    "Guards on sizes that code generation adds are not included: they are known once the variant "
    "has been built."
)
_GENERATING = "Inductor is generating the code."
"""Why compilations that were just captured have no code."""


PASSES = {
    "aot_inference_graph": "graph passes",
    "aot_forward_graph": "graph passes",
    "inductor_post_grad_graph": "lowering and fusing",
}
"""Event that torch traces → what begins with it, on the way to the code."""
_STEPS = {**PASSES, OUTPUT_CODE: "reading the wrapper"}


generated_for: set[str] = set()
"""The kinds of devices, ``cpu`` and ``cuda``, that this process has generated code for."""


class Sources(msgspec.Struct, kw_only=True):
    """The compilations of a variant with their generated code, and what went wrong."""

    compilations: list[Compilation]
    problems: list[Problem]
    suppressed: list[Problem]
    """The failures of the capture that ``suppress_errors`` hides."""
    effective: list[Effective]
    cuda_graphs: CudaGraphs | None = None


def generate(
    captured: Captured,
    name: str,
    variant: Variant,
    settings: Mapping[str, Any] | None = None,
    on_step: Callable[[str], None] = lambda step: None,
    coming: Sequence[Variant] = (),
) -> Sources:
    """The sources of a variant.

    May run in any thread: it takes torch's settings from where the capture was made.

    Parameters
    ----------
    settings
        Inductor's settings that override those of the variant.
    on_step
        Called with what torch does, whenever that changes.
    coming
        Variants of the same capture that are requested next: shared parts are generated once.
    """
    context = captured.context.copy()
    with gc_disabled(), shown():
        return context.run(_generate, captured, name, variant, settings or {}, on_step, coming)


def _generate(
    captured: Captured,
    name: str,
    variant: Variant,
    more: Mapping[str, Any],
    on_step: Callable[[str], None],
    coming: Sequence[Variant],
) -> Sources:
    generated = Generated(records=[], nodes={})
    absent = ""
    if variant.options.get(AOTI):
        absent = "AOTInductor generates its code as it builds: build the variant."
    elif is_reference(variant.backend):
        absent = "A custom backend generates its code during the build: build the variant."
    elif variant.backend != "inductor":
        absent = f"The backend {variant.backend!r} generates no wrapper."
    else:
        settings = {**settings_of(variant), **more}
        others = [
            {**settings_of(next_variant), **more}
            for next_variant in coming
            if generates(next_variant)
        ]
        generated = captured.pregenerated.pop(key_of_settings(settings)) or _with_torch(
            captured, settings, on_step, others
        )
    records = [*captured.records, *generated.records]
    ids = numbers(records)
    records = renumber(records)
    if generates(variant):
        captured.size_guards[key_of_settings(settings_of(variant))] = read_size_guards(records)
    with collecting_failures() as unanalyzed:
        compilations = _assembled(captured, generated, records, name)
    hidden = suppressed(records, compilations)
    if absent:
        may_guard = variant.uses_inductor or is_reference(variant.backend)
        for compilation in compilations:
            compilation.absent["code"] = absent
            if may_guard and compilation.symbols:
                compilation.absent["added_guards"] = _MORE_GUARDS
    graphs = predict_outcome(variant, compilations, generated.skips, ids, records)
    effective = effects_of(
        variant, compilations, records, generated.complaints, built=False, cuda_graphs=graphs
    )
    return Sources(
        compilations=compilations,
        problems=[*generated.problems, *unanalyzed],
        suppressed=hidden,
        effective=effective,
        cuda_graphs=graphs,
    )


def without_code(captured: Captured, name: str) -> list[Compilation]:
    """The compilations of a capture: graphs, guards and graph breaks, without generated code.

    Parameters
    ----------
    name
        The variant's.
    """
    nothing = Generated(records=[], nodes={})
    compilations = _assembled(captured, nothing, renumber(captured.records), name)
    for compilation in compilations:
        if compilation.graphs:
            compilation.absent["code"] = _GENERATING
        if compilation.symbols:
            compilation.absent["added_guards"] = _MORE_GUARDS
    return compilations


def _assembled(
    captured: Captured,
    generated: Generated,
    records: Sequence[Record],
    name: str,
) -> list[Compilation]:
    compilations = assemble(
        records,
        variant=name,
        nodes=ChainMap(captured.nodes, generated.nodes),  # type: ignore[arg-type]  # only read
        files=loaded_files(),
        same_graphs=generated.lowering.compilations(),
        guards=generated.lowering.guards,
    )
    generated.lowering.set_compilations(compilations)
    for compilation in compilations:
        _forget_the_run(compilation)
    return compilations


def _with_torch(
    captured: Captured,
    settings: Mapping[str, Any],
    on_step: Callable[[str], None],
    coming: Sequence[Mapping[str, Any]],
) -> Generated:
    """Makes torch generate the code of all graphs, and the other wrapper's in advance.

    Parameters
    ----------
    coming
        The settings of the variants that are requested next.
    """
    other = {**settings, "cpp_wrapper": not settings["cpp_wrapper"]}
    is_next = other in coming
    # The C++ wrapper is generated from the Python wrapper's lowering, not the reverse. If that is
    # not known to work and the Python wrapper is not requested, the extra work would be wasted.
    # On a GPU the C++ wrapper takes more: torch compiles and times its kernels for it.
    is_cheap = all(graph.is_on_cpu for graph in captured.graphs)
    in_advance = is_on() and is_cheap and (captured.shares or not settings["cpp_wrapper"])
    is_worth = is_next or in_advance
    if not (is_worth and may_share({**settings, "cpp_wrapper": False})):
        return _lowered(captured, settings, on_step)[0]
    python, cpp = _lowered(captured, {**settings, "cpp_wrapper": False}, on_step, both=True)
    captured.shares = cpp is not None
    if settings["cpp_wrapper"]:
        captured.pregenerated.put(key_of_settings(other), python, is_next=is_next)
        return cpp or _lowered(captured, settings, on_step)[0]
    if cpp is not None:
        captured.pregenerated.put(key_of_settings(other), cpp, is_next=is_next)
    return python


def _lowered(
    captured: Captured,
    settings: Mapping[str, Any],
    on_step: Callable[[str], None],
    *,
    both: bool = False,
) -> tuple[Generated, Generated | None]:
    """The code of all graphs.

    Parameters
    ----------
    both
        Whether the C++ wrapper is generated with the Python wrapper, if possible.
    """
    count = len(captured.graphs)

    def follow(number: int, event: str) -> None:
        if event in _STEPS:
            of_all = f", graph {number} of {count}" if count > 1 else ""
            on_step(f"generating code: {_STEPS[event]}{of_all}")

    nodes = dict(captured.nodes)
    generated = Generated(records=[], nodes={})
    other_generated = Generated(records=[], nodes={}, lowering=generated.lowering) if both else None
    for number, graph in enumerate(captured.graphs, start=1):
        for kernels in (captured.kernels, None):
            other = None if other_generated is None or kernels is None else OtherWrapper(kernels)
            records: list[Record] = []
            complaints: list[str] = []
            skips: list[CudaGraphSkip] = []
            problem: Problem | None = None
            with (
                workers.temporary(),
                recording(records, on_event=functools.partial(follow, number)),
                logging_autotuning(),
                buffers_noted(),
                collecting(nodes),
                collecting_warnings(complaints),
                collecting_skips(skips),
                warnings_muted(),
            ):
                try:
                    codegen.generate(graph, dict(settings), kernels, other)
                except Exception as error:  # noqa: BLE001 - it is the variant's problem
                    problem = failures.of_codegen(error)
            if problem is None or kernels is None or not kernels.unlike:
                break
            captured.kernels = EqualKernels()
        generated.records += records
        generated.complaints += [text for text in complaints if text not in generated.complaints]
        generated.skips += skips
        if problem is not None:
            generated.problems.append(problem)
        else:
            generated_for.add("cpu" if graph.is_on_cpu else "cuda")
        renewed = None if other is None or problem is not None else _renewed(records, other)
        if other_generated is None or other is None or renewed is None:
            other_generated = None
        else:
            other_generated.records += renewed
            complaints_seen = dict.fromkeys(
                [*other_generated.complaints, *complaints, *other.complaints]
            )
            other_generated.complaints = list(complaints_seen)
            other_generated.skips += skips
    known = captured.nodes
    generated.nodes = {
        text: graph_nodes for text, graph_nodes in nodes.items() if text not in known
    }
    if other_generated is not None:
        other_generated.nodes = generated.nodes
    return generated, other_generated


def _renewed(records: Sequence[Record], other: OtherWrapper) -> list[Record] | None:
    """The records for the other wrapper; None if parts of it are missing."""
    if other.missing:
        return None
    renewed: dict[str, list[list[Record]]] = {name: [] for name in RENEWED}
    added: list[Record] = []
    for record in map(record_of, other.events):
        if record.name in ADDED:
            added.append(record)
        elif record.name in renewed:
            renewed[record.name].append([*added, record])
            added = []
    count = {name: sum(record.name == name for record in records) for name in RENEWED}
    if count != {name: len(matching) for name, matching in renewed.items()}:
        return None
    return [
        new
        for record in records
        for new in (renewed[record.name].pop(0) if record.name in renewed else (record,))
    ]


def is_pregenerated(captured: Captured, variant: Variant) -> bool:
    """Whether the code of a variant was generated in advance."""
    return generates(variant) and captured.pregenerated.has(key_of_settings(settings_of(variant)))


def generates(variant: Variant) -> bool:
    """Whether `generate` can generate code: Inductor must be able to do so without a build."""
    return variant.backend == "inductor" and not variant.options.get(AOTI)


def _forget_the_run(compilation: Compilation) -> None:
    """Removes the phases and cache events of the capture: the real compilation differs."""
    compilation.phases, compilation.phase_times, compilation.cache = [], [], []
    compilation.started_s = compilation.duration_s = None
    compilation.absent |= {"phases": _UNBUILT, "cache": _UNBUILT}
