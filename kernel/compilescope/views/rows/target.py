"""A variant for a GPU that is not present, as rows of words and figures for every view.

Nothing was measured: estimates are marked with ``≥`` or ``≈`` and a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...analysis.wrapper.launches import launches_of
from ...report import (
    FORMS,
    Decision,
    Kernel,
    KernelCheck,
    KernelConfig,
    Launch,
    Report,
    TargetReport,
    VariantReport,
)
from .. import wording
from ..wrapper_pairs import compared
from . import plans
from .sweep import quantity

HEAD = (
    "kernel",
    "language",
    "launches",
    "fused",
    "saved",
    "estimated",
    "bound by",
    "registers",
    "spills",
    "shared",
    "warps",
    "occupancy",
    "checked",
)
"""The columns of a target's kernels."""
WORDS = frozenset((0, 1, 6, 12))
"""The columns with words, which may wrap; the others have figures."""


class Decided(NamedTuple):
    """A choice that needs the device, and how often it occurred."""

    decision: Decision
    times: int


def targeted(report: Report) -> list[tuple[VariantReport, TargetReport]]:
    """Return the variants that were generated for a target."""
    return [(variant, variant.target) for variant in compared(report) if variant.target is not None]


def device(target: TargetReport) -> str:
    """Return a description of the device, in one line."""
    build, spec = target.device.build, target.device
    parts = [spec.name]
    if build is not None:
        parts.append(f"{build.backend} {build.arch}")
        unit = "compute unit" if build.backend == "hip" else "multiprocessor"
        parts.append(wording.count(build.multiprocessors, unit))
        parts.append(f"{build.memory_bytes / 2**30:.0f} GiB")
    parts.append(f"{quantity(spec.bandwidth_bytes_per_s, 'B')}/s")
    return " · ".join(parts)


def nothing_ran(target: TargetReport) -> str:
    """Return the sentence above all figures of a target."""
    note = "It is this machine's own, but nothing ran on it. " if target.is_here else ""
    return (
        f"{note}The code is what torch generates for this device. Nothing ran there: times are "
        "estimates."
    )


def estimated(variant: VariantReport) -> str:
    """Return a variant's estimate in a few words; empty if there is none."""
    estimate = variant.target.estimate if variant.target is not None else None
    if estimate is None or not estimate.launches:
        return ""
    if estimate.unknown == estimate.launches:
        return "unknown"
    kernels = f"kernels \u2265 {wording.duration(estimate.kernels_us)}"
    parts = f"{kernels}, launches \u2248 {wording.duration(estimate.launch_us)}"
    if estimate.call_us is None:
        return parts
    return f"\u2248 {wording.duration(estimate.call_us)} a call ({parts})"


def estimate_lines(variant: VariantReport) -> Iterator[str]:
    """Yield the estimate, its method, and the bounding resource."""
    estimate = variant.target.estimate if variant.target is not None else None
    if estimate is None:
        return
    work = [wording.count(estimate.launches, "launch", "launches")]
    work.append(quantity(estimate.bytes, "B"))
    work.append(quantity(estimate.operations, "operations"))
    missing = f", {estimate.unknown} not counted" if estimate.unknown else ""
    if estimate.launches:
        yield f"{estimated(variant)} ({', '.join(work)}{missing})"
    if variant.verdict is not None and variant.verdict.estimated:
        yield variant.verdict.evidence
    if estimate.how:
        yield estimate.how


def lines(variant: VariantReport, target: TargetReport) -> list[str]:
    """Return lines about a variant for a target besides its kernels and decisions."""
    return [
        nothing_ran(target),
        *estimate_lines(variant),
        *filter(None, [checked(variant)]),
        *(f"no {what}: {why}" for what, why in target.absent.items()),
    ]


def kernels(variant: VariantReport) -> list[tuple[str, ...]]:
    """Return the words of `HEAD`, a row for each kernel."""
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
    """Return a choice in a line: ``dispatch, aten.sdpa (2 times): flash attention``."""
    times = f" ({choice.times} times)" if choice.times > 1 else ""
    where = wording.place(choice.decision.sources[-1]) if choice.decision.sources else ""
    text = f"{choice.decision.kind}, {choice.decision.operator}{times}: {choice.decision.chosen}"
    return text + (f"  ({where})" if where else "")


def reasons(choice: Decided) -> Iterator[str]:
    """Yield the rule that made a choice, and how the device itself would decide."""
    if choice.decision.rule:
        yield choice.decision.rule
    if choice.decision.instead:
        yield f"On the device: {choice.decision.instead}"


def checked(variant: VariantReport) -> str:
    """Return how many kernels were checked, and the outcomes; empty if none was."""
    checks = [
        kernel.check
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if kernel.check is not None
    ]
    if not checks:
        return ""
    outcomes = [check.outcome for check in checks]
    counts = [
        f"{outcomes.count(outcome)} {words}"
        for outcome, words in _OUTCOMES.items()
        if outcome in outcomes
    ]
    how = next((check.how for check in checks if check.how), "")
    return f"Kernels checked without the device: {', '.join(counts)}" + (f" ({how})" if how else "")


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
    return config.why or ", ".join(f"{name} {value:g}" for name, value in config.resources.items())


def _row(kernel: Kernel, launches: list[Launch]) -> tuple[str, ...]:
    language = "library call" if kernel.language == "extern" else kernel.language
    estimates = [launch.estimated_us for launch in launches if launch.estimated_us is not None]
    bounds = sorted({launch.estimated_bound for launch in launches if launch.estimated_bound})
    complete = bool(estimates) and len(estimates) == len(launches)
    fusion = kernel.fusion if kernel.language != "extern" else None
    return (
        kernel.name,
        language,
        str(len(launches)) if launches else "",
        str(fusion.nodes) if fusion is not None else "",
        f"\u2248 {plans.size(fusion.saved_bytes)}" if fusion and fusion.saved_bytes else "",
        f"\u2265 {wording.duration(sum(estimates))}" if complete else "unknown" if launches else "",
        ", ".join(bounds),
        _figure(kernel, "registers"),
        _bytes(kernel, "spills"),
        _bytes(kernel, "shared_bytes"),
        _figure(kernel, "warps"),
        _occupancy(kernel),
        _check(kernel.check),
    )


def _figure(kernel: Kernel, name: str) -> str:
    value = kernel.resources.get(name)
    return "" if value is None else f"{value:.0f}"


def _bytes(kernel: Kernel, name: str) -> str:
    value = kernel.resources.get(name)
    return "" if value is None else f"{value:,.0f} B"


def _occupancy(kernel: Kernel) -> str:
    value = kernel.resources.get("occupancy")
    if value is None:
        return ""
    return f"{100 * value:.0f} %" + (f" ({kernel.limit})" if kernel.limit else "")


def _check(check: KernelCheck | None) -> str:
    if check is None:
        return ""
    if check.outcome == "agrees":
        return "agrees" if check.error is None else f"agrees, within {check.error:.1e}"
    return f"{check.outcome}: {check.why}" if check.why else check.outcome


_OUTCOMES = {"agrees": "agree", "differs": "differ", "not checked": "not checked"}
"""Outcome → the words for several."""
