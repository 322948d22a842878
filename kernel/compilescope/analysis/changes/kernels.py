"""The kernels of two variants side by side: identical, or which differ and why."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...report import Compilation, Direction, Effective, Kernel, KernelChange, VariantReport
from ..wrapper.kernel_bodies import body_lines
from .kernel_pairs import Pair, computation_of, pair_kernels
from .launches import launch_settings, launching

_LANGUAGES = {
    "cpp": "generated C++",
    "triton": "a Triton kernel",
    "extern": "a call of a library",
    "python": "Python",
}
_SYMBOL = re.compile(r"\bks\d+\b")
_EVIDENCE = {"mix-order reduction": "MixOrderReductionGrid", "decompose_k": "decompose_k"}
"""Fusion → text that occurs in the source of the kernels that it produces."""
_MAX_LINES_COMPARED = 3000
_SHOWN = 3


class Context(NamedTuple):
    """What distinguishes two variants apart from their kernels."""

    fusions: Sequence[str]
    """Fusions that are off in exactly one of the two."""
    settings: str
    """The settings in which they differ."""


def kernel_changes(baseline: VariantReport, variant: VariantReport) -> list[KernelChange]:
    """Pair the kernels of the two variants, by compilation and direction."""
    changes: list[KernelChange] = []
    context = Context(_fusions(baseline, variant), _differing_settings(baseline, variant))
    baselines = {compilation.id: compilation for compilation in baseline.compilations}
    for compilation in variant.compilations:
        other = baselines.pop(compilation.id, None)
        changes += _compare(other, compilation, context)
    for other in baselines.values():
        changes += _compare(other, None, context)
    return changes


def _compare(
    baseline: Compilation | None, compilation: Compilation | None, context: Context
) -> Iterator[KernelChange]:
    both = [side for side in (baseline, compilation) if side is not None]
    directions = dict.fromkeys(kernel.direction for side in both for kernel in side.kernels)
    for direction in directions:
        baseline_kernels = _kernels_of(baseline, direction)
        pairs = pair_kernels(baseline_kernels, _kernels_of(compilation, direction))
        for pair in pairs:
            change = _change(pair, pairs, context)
            change.direction = direction
            change.compilation = compilation.id if compilation is not None else ""
            change.baseline_compilation = baseline.id if baseline is not None else ""
            if compilation is None or baseline is None:
                change.why = "Only one of the two has this compilation."
            yield change


def _kernels_of(compilation: Compilation | None, direction: Direction) -> list[Kernel]:
    return (
        [kernel for kernel in compilation.kernels if kernel.direction == direction]
        if compilation
        else []
    )


def _change(pair: Pair, pairs: Sequence[Pair], context: Context) -> KernelChange:
    baseline, kernel = pair
    if baseline is None or kernel is None:
        only = kernel or baseline
        assert only is not None, "a pair has at least one side"
        return KernelChange(
            kernel=kernel.name if kernel else "",
            baseline=baseline.name if baseline else "",
            outcome="added" if kernel else "removed",
            why=_where_work_went(only, pairs, 0 if kernel else 1, context.fusions),
            language=only.language,
        )
    change = KernelChange(kernel=kernel.name, baseline=baseline.name, language=kernel.language)
    if kernel.language != baseline.language:
        change.outcome, change.lines = "differs", len(body_lines(kernel))
        change.why = f"It is {_called(kernel)} here, and {_called(baseline)} there."
    elif computation_of(kernel) == computation_of(baseline):
        change.outcome = "identical" if kernel.name == baseline.name else "renamed"
        change.why = launching(baseline, kernel)
    else:
        change.outcome, change.lines = "differs", count_lines(baseline, kernel)
        change.why = _where_work_went(
            kernel, pairs, 0, context.fusions, baseline
        ) or _why_code_differs(baseline, kernel, context.settings)
    return change


def count_lines(baseline: Kernel, kernel: Kernel) -> int:
    """Count the lines that differ between two kernels; a changed line counts once."""
    left, right = body_lines(baseline), body_lines(kernel)
    if max(len(left), len(right)) > _MAX_LINES_COMPARED:
        return max(len(set(left) - set(right)), len(set(right) - set(left)))
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    return sum(
        max(end - start, other_end - other)
        for tag, start, end, other, other_end in matcher.get_opcodes()
        if tag != "equal"
    )


def _where_work_went(
    kernel: Kernel,
    pairs: Sequence[Pair],
    side: int,
    fusions: Sequence[str],
    partner: Kernel | None = None,
) -> str:
    """Which kernels of the other variant do this kernel's work; empty if only its partner does."""
    nodes = set(kernel.nodes)
    if not nodes:
        return ""
    sharing = [
        candidate
        for pair in pairs
        if (candidate := pair[side]) is not None
        and nodes & set(candidate.nodes)
        and candidate is not partner
        and not _is_same(pair)
    ]
    added = nodes - set(partner.nodes) if partner else nodes
    place = "there" if side == 0 else "here"
    if not sharing or (partner and not added):
        left = set(partner.nodes) - nodes if partner else set()
        who = [
            candidate
            for pair in pairs
            if (candidate := pair[1 - side]) is not None
            and left & set(candidate.nodes)
            and candidate is not kernel
            and not _is_same(pair)
        ]
        if not left or not who:
            return ""
        sentence = (
            f"Part of what {partner.name if partner else ''} does there is done by {_listed(who)}."
        )
    else:
        sentence = f"Its work is done by {_listed(sharing)} {place}."
        if partner:
            sentence = f"It also does the work of {_listed(sharing)} {place}."
    kernels = [kernel, *sharing, *([partner] if partner else [])]
    return " ".join([sentence, *_responsible_fusions(kernels, fusions)])


def _is_same(pair: Pair) -> bool:
    baseline, kernel = pair
    return (
        baseline is not None
        and kernel is not None
        and computation_of(baseline) == computation_of(kernel)
    )


def _responsible_fusions(kernels: Sequence[Kernel], fusions: Sequence[str]) -> Iterator[str]:
    for name in fusions:
        mark = _EVIDENCE.get(name)
        if mark is not None and any(mark in kernel.source for kernel in kernels):
            yield f"torch applies {name} for the Python wrapper only."


def _fusions(baseline: VariantReport, variant: VariantReport) -> list[str]:
    """The fusions that are off in exactly one of the two."""
    off = [set(_disabled_fusions(side.effective)) for side in (baseline, variant)]
    return sorted(off[0] ^ off[1])


def _disabled_fusions(effective: Sequence[Effective]) -> Iterator[str]:
    for setting in effective:
        if setting.setting == "fusions" and setting.differs:
            yield from setting.operators


def _why_code_differs(baseline: Kernel, kernel: Kernel, differing_settings: str) -> str:
    """Why two kernels for the same nodes have different code, as far as the code shows it."""
    symbols = [
        sorted(set(_SYMBOL.findall("\n".join(body_lines(each))))) for each in (baseline, kernel)
    ]
    if symbols[1] and not symbols[0]:
        return f"Sizes are arguments here ({', '.join(symbols[1])}), and constants there."
    if symbols[0] and not symbols[1]:
        return f"Sizes are constants here, and arguments there ({', '.join(symbols[0])})."
    kinds = [launch_settings(each.source).get("heuristic", "") for each in (baseline, kernel)]
    if all(kinds) and kinds[0] != kinds[1]:
        return f"torch chose a different kind of kernel: {kinds[1]} here, and {kinds[0]} there."
    if baseline.nodes and kernel.nodes and set(baseline.nodes) != set(kernel.nodes):
        return "Its operations differ: the graphs are not the same."
    return (
        f"Different code for the same operations, under {differing_settings}."
        if differing_settings
        else ""
    )


def _differing_settings(baseline: VariantReport, variant: VariantReport) -> str:
    """The settings in which two variants differ, as text."""
    settings = [
        f"{field}={getattr(variant.requested, field)}"
        for field in variant.requested.__struct_fields__
        if field != "options"
        and getattr(variant.requested, field) != getattr(baseline.requested, field)
    ]
    options, baseline_options = variant.requested.options, baseline.requested.options
    settings += [
        f"{name}={options[name]!r}" if name in options else f"{name} as by default"
        for name in {**baseline_options, **options}
        if (name in options) != (name in baseline_options)
        or options[name] != baseline_options[name]
    ]
    return ", ".join(settings)


def _called(kernel: Kernel) -> str:
    return _LANGUAGES.get(kernel.language, kernel.language)


def _listed(kernels: Sequence[Kernel]) -> str:
    names = list(dict.fromkeys(kernel.name for kernel in kernels))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
