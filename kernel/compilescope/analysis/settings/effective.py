"""Compares a variant's requested settings with their effective values."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ...capture.records import Record
from ...report import Compilation, Effective
from ...report.compilation.cuda_graphs import CudaGraphs, Skip
from ...report.variant import CUDA_GRAPHS, Variant
from ..figures.wording import count, place
from ..guards.conditions import as_written
from ..guards.symbolic_shapes.symbols import read_constants, read_symbols
from .effective_choices import autotuning, freezing, fusions, launcher

_SHOWN = 4


@dataclass(frozen=True)
class Facts:
    """Facts about a variant besides its compilations."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Inductor's settings in force, by name."""
    fusions: Sequence[str] = ()
    """The fusions that the settings allow but a C++ wrapper cannot have."""
    complaints: Sequence[str] = ()
    """torch's warnings during compilation."""
    cuda_graphs: CudaGraphs | None = None
    """The use of CUDA graphs."""
    vector: str = ""
    """The vector instructions that generated C++ uses."""
    built: bool = False


def effective(
    variant: Variant,
    compilations: Sequence[Compilation],
    records: Sequence[Record],
    facts: Facts,
) -> list[Effective]:
    """Compare a variant's settings with their effective values.

    Parameters
    ----------
    variant
        The requested settings.
    compilations, records
        The compilations and the records from which they were read.
    facts
        Further facts.

    Returns
    -------
    list of Effective
        ``differs`` is set only if torch did something other than requested. The reason is torch's
        own if it gave one.
    """
    if not compilations:
        return []
    if not variant.uses_inductor:
        return [
            *_backend(variant, compilations),
            *cuda_graphs_row(facts.cuda_graphs, variant),
            *_dynamic(variant, compilations, records),
        ]
    rules: list[Callable[[], Iterator[Effective]]] = [
        lambda: _backend(variant, compilations),
        lambda: _mode(variant),
        lambda: _cpp_wrapper(variant, compilations),
        lambda: cuda_graphs_row(facts.cuda_graphs, variant),
        lambda: autotuning(compilations, facts.settings, facts.complaints, built=facts.built),
        lambda: freezing(compilations, facts.settings, built=facts.built),
        lambda: launcher(variant, compilations, facts.settings),
        lambda: fusions(variant, compilations, facts.fusions),
        lambda: _dynamic(variant, compilations, records),
        lambda: _graphs(variant, compilations),
        lambda: _vector(compilations, facts),
    ]
    return [setting for rule in rules for setting in rule()]


def _backend(variant: Variant, compilations: Sequence[Compilation]) -> Iterator[Effective]:
    # A backend of another name may hand its graphs to Inductor, as compilescope's own does.
    uses_inductor = variant.uses_inductor or any(
        compilation.kernels for compilation in compilations
    )
    yield Effective(
        setting="backend",
        requested=str(variant.backend),
        actual=str(variant.backend),
        why=""
        if uses_inductor
        else "Only Inductor generates wrappers and kernels, and accepts modes and options.",
    )


def _mode(variant: Variant) -> Iterator[Effective]:
    """What a mode sets has rows of its own, such as CUDA graphs and autotuning."""
    mode = variant.mode or "default"
    yield Effective(setting="mode", requested=mode, actual=mode)


def _cpp_wrapper(variant: Variant, compilations: Sequence[Compilation]) -> Iterator[Effective]:
    coded = [
        compilation
        for compilation in compilations
        if compilation.code.cpp or compilation.code.python
    ]
    if not coded:
        return
    without = [compilation.id for compilation in coded if not compilation.code.cpp]
    actual = "off" if len(without) == len(coded) else "on"
    if variant.cpp_wrapper and without and actual == "on":
        actual = f"on except for {', '.join(without)}"
    requested = "on" if variant.cpp_wrapper else "off"
    differs = actual != requested
    yield Effective(
        setting="cpp_wrapper",
        requested=requested,
        actual=actual,
        differs=differs,
        why="torch generated a Python wrapper anyway." if differs else "",
    )


def cuda_graphs_row(graphs: CudaGraphs | None, variant: Variant) -> Iterator[Effective]:
    """Whether CUDA graphs were captured, if they were requested."""
    if graphs is None or graphs.outcome == "not asked":
        return
    skip = graphs.skips[0] if graphs.skips else None
    differs = graphs.outcome in ("skipped", "partly", "no GPU")
    remedied = skip if graphs.outcome != "no GPU" else None
    yield Effective(
        setting=CUDA_GRAPHS,
        requested="on",
        actual=_OUTCOMES[graphs.outcome],
        differs=differs,
        why=graphs.why or graphs.how,
        remedy=_remedy(remedied) if remedied is not None else "",
        code=remedied.setting if remedied is not None else "",
        trial=_trial(remedied, variant) if remedied is not None else None,
        where=skip.where if skip is not None and differs else None,
    )


_OUTCOMES = {
    "captured": "on",
    "partly": "on in part",
    "skipped": "off",
    "no GPU": "off",
    "unknown": "unknown",
}


def _remedy(skip: Skip) -> str:
    return f"{skip.remedy} {skip.setting}" if skip.setting else skip.remedy


_OPTION = re.compile(r"torch\._inductor\.config\.([\w.]+) = (\w+)$")


def _trial(skip: Skip, variant: Variant) -> Variant | None:
    """The variant to try to get CUDA graphs; None if no switch provides them."""
    if variant.cpp_wrapper and skip.reason == "cpp wrapper enabled":
        return msgspec.structs.replace(variant, cpp_wrapper=False)
    match = _OPTION.match(skip.setting)
    if match is None:
        return None
    options = {**variant.options, match[1]: ast.literal_eval(match[2])}
    return msgspec.structs.replace(variant, options=options)


def _dynamic(
    variant: Variant, compilations: Sequence[Compilation], records: Sequence[Record]
) -> Iterator[Effective]:
    attempts = {compilation.id: compilation.attempt for compilation in compilations}
    grouped: dict[str, list[Record]] = {}
    for record in records:
        if record.compile_id in attempts:
            grouped.setdefault(record.compile_id, []).append(record)
    symbols, constants = [], []
    for compile_id, group in grouped.items():
        symbols += list(read_symbols(group, attempts[compile_id]))
        constants += [
            constant
            for constant in read_constants(group, attempts[compile_id])
            if constant.is_input
        ]
    symbols = list(dict.fromkeys(symbols))
    constant = constants[0] if constants else None
    differs = bool(variant.dynamic and constants) or (variant.dynamic is False and bool(symbols))
    why = remedy = ""
    if variant.dynamic and constant:
        size = as_written(constant.source)
        why = f"{size} became the constant {constant.value}."
        if constant.where is not None:
            remedy = f"See {place(constant.where)}, which fixes {size}."
    elif variant.dynamic is False and symbols:
        why = "These sizes were marked with torch._dynamo.mark_dynamic."
        remedy = "Remove the marks."
    yield Effective(
        setting="dynamic",
        requested={None: "automatic", True: "on", False: "off"}[variant.dynamic],
        actual=_listed(symbols) or "all sizes are constants",
        differs=differs,
        why=why,
        remedy=remedy,
        operators=list(dict.fromkeys(as_written(size.source) for size in constants))
        if differs
        else [],
        where=constant.where if variant.dynamic and constant else None,
    )


def _listed(symbols: Sequence[str]) -> str:
    if not symbols:
        return ""
    more = f" and {len(symbols) - _SHOWN} more" if len(symbols) > _SHOWN else ""
    return f"symbols for {', '.join(map(as_written, symbols[:_SHOWN]))}{more}"


def _graphs(variant: Variant, compilations: Sequence[Compilation]) -> Iterator[Effective]:
    graphs = sum("dynamo" in compilation.graphs for compilation in compilations)
    yield Effective(
        setting="fullgraph",
        requested="on" if variant.fullgraph else "off",
        actual=count(graphs, "graph"),
    )


def _vector(compilations: Sequence[Compilation], facts: Facts) -> Iterator[Effective]:
    if facts.built and any(
        kernel.language == "cpp" for compilation in compilations for kernel in compilation.kernels
    ):
        simdlen = facts.settings.get("cpp.simdlen")
        yield Effective(
            setting="vector instructions",
            requested="automatic" if simdlen is None else f"{simdlen} bits",
            actual=facts.vector or "none",
        )
