"""The result of ``aot_compile`` as a variant: already built, so it is only read and called."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.absent_artifacts import SILENT
from ..analysis.assemble import assemble
from ..analysis.parts import collecting_failures
from ..capture.live import loaded_files
from ..capture.records import Record
from ..isolation.code_swap import CodeSet
from ..isolation.muted_output import quiet
from ..isolation.own_backward import Backward
from ..report import Compilation
from ..report.problem import Problem
from ..report.variant import Variant
from ..torch_api.failures import failures
from ..torch_api.process.devices import settle
from ..torch_api.trace.aot_compiled import AotCompiled, events
from ..torch_api.trace.compiled_callable import place_of
from ..torch_api.trace.record_names import DYNAMO_START
from .build import Built
from .comparison.call_result import outcome_of
from .subject_error import CALL_ERRORS


def requested_of(compiled: AotCompiled) -> Variant:
    """The known settings: the backend, and which wrapper Inductor wrote.

    The backend's name shows that the variant cannot be compiled again.
    """
    backend = f"{AOT_COMPILED}({compiled.backend})"
    return Variant(backend=backend, cpp_wrapper=compiled.has_cpp_wrapper, fullgraph=True)


def is_aot_compiled(variant: Variant) -> bool:
    """Whether it is the variant of what ``aot_compile`` returned."""
    return str(variant.backend).startswith(AOT_COMPILED)


def problems_of(compiled: AotCompiled) -> list[Problem]:
    """Problems that say what the report leaves out, since it cannot be known."""
    problems = [SETTINGS]
    if lacking := compiled.lacking():
        problems.append(
            Problem(
                severity="warning",
                what="It is neither called nor compared with other variants.",
                why=f"The function's own code needs {', '.join(lacking)}, which is not in what was "
                "loaded; without it there is nothing to compare with.",
                remedy="Load it with torch.compiler.load_compiled_function(file, "
                "f_globals=globals()).",
            )
        )
    return problems


def compilations_of(compiled: AotCompiled, variant: str) -> list[Compilation]:
    """The graphs, the generated code and the guards of each function in it."""
    place = place_of(compiled.original())
    records = []
    for number, function in enumerate(compiled.functions):
        began: dict[str, Any] = {} if place is None else {"compiled": place}
        records.append(_record(DYNAMO_START, number, detail=began))
        records += [_record(event, number, text) for event, text in events(function)]
    compilations = assemble(records, variant=variant, files=loaded_files())
    for compilation in compilations:
        compilation.absent |= {
            name: NOT_HELD
            for name, why in compilation.absent.items()
            if why == SILENT or name in ("dynamo", "phases", "cache", "autotunings")
        }
        code = compilation.code
        if not (code.python or code.cpp):
            compilation.absent["code"] = f"The backend {compiled.backend!r} generates no wrapper."
    return compilations


def call_compiled(
    compiled: AotCompiled,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    name: str,
    code_set: CodeSet,
    backward: Backward,
) -> Built:
    """Calls it once. An exception, or guards that fail for the call, become the ``problem``."""
    built = Built(name=name, call=compiled.call, code_set=code_set)
    with collecting_failures() as built.unanalyzed:
        built.compilations = compilations_of(compiled, name)
    if refusal := compiled.refusal(args, kwargs):
        built.problem = Problem(
            severity="error",
            what="The result of aot_compile rejects this call.",
            why=f"A guard fails: {refusal}.",
            remedy="Inspect it with arguments like those that it was compiled for.",
        )
        return built
    try:
        with quiet():
            start = time.perf_counter()
            built.outcome = outcome_of(compiled.call(*args, **kwargs), backward)
            settle()
            built.first_call_s = time.perf_counter() - start
    except CALL_ERRORS as error:
        built.problem = failures.under_compile(error)
    return built


def _record(
    event: str, number: int, payload: str | None = None, detail: Mapping[str, Any] | None = None
) -> Record:
    return Record(
        event=event,
        metadata={event: dict(detail or {}), "frame_id": 0, "frame_compile_id": number},
        payload=payload,
        compile_id=f"0/{number}",
    )


AOT_COMPILED = "aot_compile"
SETTINGS = Problem(
    severity="info",
    what="Mode, dynamic and options of the variant 'as written' are not known.",
    why="The result of aot_compile contains graphs, code and guards, but not the settings passed "
    "to torch.compile.",
)
NOT_HELD = "The result of aot_compile does not contain it."
COMPILED_BEFORE = "aot_compile compiled it before it was inspected."
