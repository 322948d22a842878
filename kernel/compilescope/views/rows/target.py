"""A variant for a GPU that is not present, as rows of words and figures for every view.

Nothing was measured: estimates are marked with ``≥`` or ``≈`` and a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ...analysis.target.check_words import checked, outcome
from ...analysis.target.estimate_words import estimate_lines, nothing_ran
from ...analysis.wrapper.launches import launches_of
from ...report import (
    DECISION_KINDS,
    FORMS,
    ON_DEVICE_TITLE,
    RESOURCE_UNITS,
    RESOURCES,
    Decision,
    Kernel,
    KernelConfig,
    Launch,
    Report,
    TargetReport,
    VariantReport,
)
from ...report.devices import arch_name
from ...report.units import percent, quantity
from .. import wording
from ..wrapper_pairs import compared
from .table import Column, Table

_LANGUAGES = {
    "triton": "Triton",
    "cpp": "C++",
    "extern": "extern",
    "python": "Python",
    "fx": "FX",
    "text": "text",
}

TABLE = Table(
    "kernels",
    (
        Column("graph", "compilation", "The compilation that the kernel belongs to", where="panel"),
        Column("name", "kernel"),
        Column("language", "language", words=_LANGUAGES),
        Column("direction", "direction", where="panel"),
        Column("ops", "fused operators", where="panel"),
        Column(
            "launches",
            "launches",
            "Launches per call, counted in the wrapper's code",
            "figure",
        ),
        Column("fused", "fused", "How many operators of the graph are in this kernel", "figure"),
        Column(
            "saved",
            "est. saved",
            "Estimated bytes per launch that its operators would exchange through memory as "
            "separate kernels",
            "figure",
        ),
        Column(
            "time",
            "time",
            "Measured: the time of all launches of one call on their device",
            "figure",
            "panel",
        ),
        Column(
            "share",
            "of peak",
            "Share of the device's peak that the kernel reaches: memory bandwidth or arithmetic, "
            "whichever is closer. in cache: faster than memory can be",
            "figure",
            "panel",
        ),
        Column("bandwidth", "B/s", "Estimated bytes over the measured time", "figure", "panel"),
        Column("flops", "FLOP/s", "Estimated operations over the measured time", "figure", "panel"),
        Column(
            "least",
            "est. time",
            "Estimated for all launches of one call on the target, where nothing runs: at least "
            "the time of the kernel or of its launch, whichever is longer",
            "figure",
        ),
        Column("bound", "bound by", where="text"),
        Column("registers", "regs", RESOURCES["registers"], "figure"),
        Column("spills", "spills", f"{RESOURCES['spills']}, in bytes", "figure"),
        Column("shared_bytes", "shared", RESOURCES["shared_bytes"], "figure"),
        Column("warps", "warps", RESOURCES["warps"], "figure", "text"),
        Column(
            "occupancy",
            "occupancy",
            "Share of a multiprocessor's threads that can be resident, from the compiler's figures",
            "figure",
        ),
        Column("check", "check", "Interpreted without the device, and compared with eager"),
        Column(
            "bytes",
            "est. bytes",
            "Estimated: what all launches read and write together, from the sizes of their buffers",
            "figure",
            "panel",
        ),
        Column(
            "operations",
            "est. operations",
            "Estimated: arithmetic operations of all launches together; a multiply-add counts as "
            "two. For causal attention, this counts all pairs, and the estimated time only half "
            "of them",
            "figure",
            "panel",
        ),
        Column(
            "intensity",
            "est. op/B",
            "Arithmetic intensity: estimated operations for each estimated byte",
            "figure",
            "panel",
        ),
        Column(
            "grid",
            "grid",
            "The launch grid, or the extents of the parallel loop",
            where="panel",
        ),
        Column(
            "source",
            "source",
            "The line of the operator that it is for, and how many more lines it has: of its other "
            "operators, and of what called them",
            where="panel",
        ),
        Column("python", "Python", "Where the Python wrapper launches it", where="panel"),
        Column("cpp", "C++", "Where the C++ wrapper launches it", where="panel"),
    ),
)
"""The columns of kernels: of those for a target, and in the panel of all."""


class Decided(NamedTuple):
    """A choice that needs the device, and how often it occurred."""

    decision: Decision
    times: int


def language(kernel: Kernel) -> str:
    """Return a kernel's language; "extern" for one of a library."""
    return _LANGUAGES[kernel.language]


def targeted(report: Report) -> list[tuple[VariantReport, TargetReport]]:
    """Return the variants that were generated for a target."""
    return [(variant, variant.target) for variant in compared(report) if variant.target is not None]


def device(target: TargetReport) -> str:
    """Return a description of the device, in one line."""
    build, spec = target.device.build, target.device
    parts = [spec.name]
    if build is not None:
        parts.append(arch_name(build))
        unit = "compute unit" if build.backend == "hip" else "multiprocessor"
        parts.append(wording.count(build.multiprocessors, unit))
        parts.append(f"{build.memory_bytes / 2**30:.0f} GiB")
    parts.append(f"{quantity(spec.bandwidth_bytes_per_s, 'B')}/s")
    return " · ".join(parts)


def lines(variant: VariantReport, target: TargetReport) -> list[str]:
    """Return lines about a variant for a target besides its kernels and decisions."""
    return [
        nothing_ran(target),
        *estimate_lines(variant),
        *filter(None, [checked(variant)]),
        *(f"no {what}: {why}" for what, why in target.absent.items()),
    ]


def kernels(variant: VariantReport) -> list[tuple[str, ...]]:
    """Return a row for each kernel, in the order of `TABLE`."""
    return [
        _row(kernel, [launch for other, launch in launched if other is kernel])
        for compilation in variant.compilations
        for launched in [list(launches_of(compilation))]
        for kernel in compilation.kernels
    ]


def decisions(variant: VariantReport) -> list[Decided]:
    """Return the decisions made without the device, each once."""
    grouped: dict[tuple[str, ...], list[Decision]] = {}
    for compilation in variant.compilations:
        for decision in compilation.decisions:
            key = (
                decision.kind,
                decision.operator,
                decision.chosen,
                decision.rule,
                decision.instead,
            )
            grouped.setdefault(key, []).append(decision)
    return [Decided(same[0], len(same)) for same in grouped.values()]


def decided(choice: Decided) -> str:
    """Return a choice in a line: ``Padding, aten.mm (2 times): padded to 8``."""
    times = f" ({choice.times} times)" if choice.times > 1 else ""
    where = wording.place(choice.decision.sources[0]) if choice.decision.sources else ""
    kind = DECISION_KINDS[choice.decision.kind]
    text = f"{kind}, {choice.decision.operator}{times}: {choice.decision.chosen}"
    return text + (f"  ({where})" if where else "")


def reasons(choice: Decided) -> Iterator[str]:
    """Yield the rule that made a choice, and how the device itself would decide."""
    if choice.decision.rule:
        yield choice.decision.rule
    if choice.decision.instead:
        yield f"{ON_DEVICE_TITLE}: {choice.decision.instead}"


def forms(kernel: Kernel) -> list[str]:
    """Return the forms that a kernel was compiled to, in the compiler's order."""
    return [form for form in FORMS if kernel.assembly.get(form)]


def form_title(form: str) -> str:
    """Return the title of a compiled form; an unknown form keeps its name."""
    return FORMS[form][0] if form in FORMS else form


def form_titles(kernel: Kernel) -> str:
    """Return the forms that a kernel was compiled to, by title."""
    return ", ".join(form_title(form) for form in forms(kernel))


def compiled(variant: VariantReport) -> list[Kernel]:
    """Return the kernels that were compiled, or have other launch configurations."""
    return [
        kernel
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if forms(kernel) or kernel.configs
    ]


def configuration(config: KernelConfig) -> str:
    """Return the resources of a launch configuration, or why it was not compiled."""
    if config.why:
        return f"Cannot be compiled: {config.why}"
    figures = (
        f"{RESOURCES.get(name, name)}: {_figure(config.resources, name)}"
        for name in config.resources
    )
    return " \u00b7 ".join(figures)


def _row(kernel: Kernel, launches: list[Launch]) -> tuple[str, ...]:
    fusion = kernel.fusion if kernel.language != "extern" else None
    return TABLE.row(
        name=kernel.name,
        language=language(kernel),
        launches=wording.whole_number(len(launches)) if launches else "",
        fused=wording.whole_number(fusion.nodes) if fusion is not None else "",
        saved=f"\u2248 {wording.size(fusion.saved_bytes)}" if fusion and fusion.saved_bytes else "",
        least=_least(kernel, launches),
        bound=", ".join(kernel.least.bounds) if kernel.least is not None else "",
        registers=_figure(kernel.resources, "registers"),
        spills=_figure(kernel.resources, "spills"),
        shared_bytes=_figure(kernel.resources, "shared_bytes"),
        warps=_figure(kernel.resources, "warps"),
        occupancy=_occupancy(kernel),
        check=outcome(kernel.check),
    )


def _least(kernel: Kernel, launches: list[Launch]) -> str:
    least = kernel.least
    if least is None:
        return "unknown" if launches else ""
    some = "" if least.launches == len(launches) else f" ({least.launches} of {len(launches)})"
    return f"\u2265 {wording.duration(least.us)}{some}"


def _figure(resources: Mapping[str, float], name: str) -> str:
    value, unit = resources.get(name), RESOURCE_UNITS.get(name)
    if value is None:
        return ""
    return _FORMATS[unit](value) if unit is not None else wording.whole_number(round(value))


_FORMATS: dict[str, Callable[[float], str]] = {
    "bytes": wording.size,
    "share": percent,
    "us": wording.duration,
}
"""Unit of a resource → its format."""


def _occupancy(kernel: Kernel) -> str:
    share = _figure(kernel.resources, "occupancy")
    return f"{share} ({kernel.limit})" if share and kernel.limit else share
