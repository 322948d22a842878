"""What the phases of a compilation add up to, and the parts of a first call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...report import (
    FIRST_CALL_PARTS,
    PHASE_KINDS,
    Compilation,
    CompileTime,
    KindTime,
    Phase,
    VariantReport,
)
from .phase_kinds import name_kinds

_INDUCTOR = ("passes", "lowering", "scheduling", "autotuning")
_CLOCKS = 1e-3
"""As a share of a first call: less time outside the phases is the difference of two clocks."""


def split(compilations: Sequence[Compilation], total_s: float, *, cold: bool = True) -> CompileTime:
    """The kinds and parts of ``total_s``, from the spans that torch recorded.

    Each moment counts for the innermost span around it, on the thread that the call waits for: a
    kind's time is the self time of its spans. Time outside all spans (running the result, the
    guards' first check) belongs to the part ``other``.
    """
    kinds = _added(time for compilation in compilations for time in kind_times(compilation.phases))
    parts = dict.fromkeys(FIRST_CALL_PARTS, 0.0)
    for time in kinds:
        parts[_part_of(time.kind)] += time.self_us / 1e6
    outside_s = max(total_s - sum(parts.values()), 0.0)
    parts["other"] += outside_s
    return CompileTime(
        total_s=total_s,
        parts={part: seconds for part, seconds in parts.items() if seconds > 0},
        cold=cold,
        kinds=kinds,
        outside_s=outside_s if outside_s > _CLOCKS * total_s else 0.0,
    )


def add_phases(compilation: Compilation, phases: list[Phase]) -> None:
    """Add the phases and their sums to a compilation whose code is known."""
    _name_waits(compilation, phases)
    compilation.phases, compilation.phase_times = phases, kind_times(phases)


def add_warm_phases(compilation: Compilation, phases: list[Phase]) -> None:
    """As `add_phases`, the phases with warm caches."""
    _name_waits(compilation, phases)
    compilation.warm_phases, compilation.warm_phase_times = phases, kind_times(phases)


def complete_times(variant: VariantReport) -> None:
    """Add up phases, where a file of an earlier version has only the phases."""
    cold, warm = variant.compile_time, variant.warm_compile_time
    compilations = variant.compilations
    for compilation in compilations:
        if not compilation.phase_times:
            add_self_times(compilation.phases)
            compilation.phase_times = kind_times(compilation.phases)
        if not compilation.warm_phase_times:
            add_self_times(compilation.warm_phases)
            compilation.warm_phase_times = kind_times(compilation.warm_phases)
    if cold is not None and not cold.kinds and any(item.phases for item in compilations):
        variant.compile_time = split(compilations, cold.total_s, cold=cold.cold)
    if warm is not None and not warm.kinds and any(item.warm_phases for item in compilations):
        warm_compilations = [
            Compilation(id=item.id, phases=item.warm_phases) for item in compilations
        ]
        variant.warm_compile_time = split(warm_compilations, warm.total_s, cold=warm.cold)


def add_self_times(phases: Sequence[Phase]) -> None:
    """Fill in the self time of each phase of a compilation's trees."""
    for phase in _all(phases):
        # Work of other threads does not reduce the time that the caller waited.
        inside_us = union_us(child for child in phase.children if child.track == phase.track)
        phase.self_us = round(max(phase.duration_us - inside_us, 0.0), 3)


def kind_times(phases: Sequence[Phase]) -> list[KindTime]:
    """The self times of a compilation's phases by kind.

    The call waits for the thread of the earliest phase.
    """
    if not phases:
        return []
    main = min(phases, key=lambda phase: phase.start_us).track
    return _added(
        KindTime(kind=phase.kind, self_us=phase.self_us or 0.0)
        if phase.track == main
        else KindTime(kind=phase.kind, parallel_us=phase.self_us or 0.0)
        for phase in _all(phases)
    )


def union_us(phases: Iterable[Phase]) -> float:
    """The wall-clock time that at least one of the spans covers (µs)."""
    covered, end = 0.0, float("-inf")
    for phase in sorted(phases, key=lambda span: span.start_us):
        start = max(phase.start_us, end)
        stop = phase.start_us + phase.duration_us
        if stop > start:
            covered += stop - start
            end = stop
    return covered


def _part_of(kind: str) -> str:
    if kind in _INDUCTOR:
        return "inductor"
    return kind if kind in FIRST_CALL_PARTS else "other"


def _added(times: Iterable[KindTime]) -> list[KindTime]:
    """One sum for each kind that occurs; an unknown kind is ``other``."""
    sums = {kind: KindTime(kind=kind) for kind in PHASE_KINDS}
    for time in times:
        kind = sums[time.kind if time.kind in sums else "other"]
        kind.self_us += time.self_us
        kind.parallel_us += time.parallel_us
    return [kind for kind in sums.values() if kind.self_us > 0 or kind.parallel_us > 0]


def _name_waits(compilation: Compilation, phases: Sequence[Phase]) -> None:
    """Name waits for kernels by what the wrapper waits for, where no phase says that it is Triton.

    With warm caches there may be none.
    """
    if compilation.code.cpp is None and any(
        kernel.language == "triton" for kernel in compilation.kernels
    ):
        name_kinds(phases, triton=True)


def _all(phases: Sequence[Phase]) -> Iterator[Phase]:
    """Every phase with those inside it; not recursive, since how deep they nest is up to torch."""
    waiting = list(phases)
    while waiting:
        phase = waiting.pop()
        yield phase
        waiting += phase.children
