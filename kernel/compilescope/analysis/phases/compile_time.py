"""Splits the time of a first call into parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...report import Compilation, CompileTime, Phase

_PARTS = {
    "dynamo": "dynamo",
    "entire_backward_compile": "aot_autograd",
    "create_aot_dispatcher_function": "aot_autograd",
    "inductor_compile": "inductor",
    "compile_fx.<locals>.fw_compiler_base": "inductor",
    "compile_fx.<locals>.bw_compiler": "inductor",
    "_recursive_pre_grad_passes": "inductor",
    "_recursive_joint_graph_passes": "inductor",
    "code_gen": "code_generation",
    "PyCodeCache.load_by_key_path": "other",
    "CppCodeCache._load_library": "other",
    "async_compile.wait": "cpp_build",
    "compile_file": "cpp_build",
    "cpp_wrapper_compile": "cpp_build",
    "async_compile.precompile": "triton",
}
"""torch's span → the part that gets the span's own time. Other spans belong to their parent."""

_PARTS_WITH_TRITON = _PARTS | {"async_compile.wait": "triton"}
"""As `_PARTS`, for a Python wrapper with Triton kernels, which waits for them."""


def split(compilations: Sequence[Compilation], total_s: float, *, cold: bool = True) -> CompileTime:
    """The parts of ``total_s``, from the spans that torch recorded.

    Each moment counts for the innermost span around it that has a part. Time outside all spans
    (running the result, the guards' first check) is ``other``. Spans of parallel C++ builds
    overlap: a part's time is the wall-clock time of the enclosing span. Loading what was built is
    ``other`` too: the C++ build is what the view of the phases calls so.
    """
    parts: dict[str, float] = {}
    for compilation in compilations:
        part_of = _PARTS_WITH_TRITON if _waits_for_triton(compilation) else _PARTS
        for phase in compilation.phases:
            _add(phase, "dynamo", parts, part_of)
    seconds = {name: microseconds / 1e6 for name, microseconds in parts.items() if microseconds > 0}
    rest = total_s - sum(seconds.values())
    if rest > 0:
        seconds["other"] = seconds.get("other", 0.0) + rest
    return CompileTime(total_s=total_s, parts=seconds, cold=cold)


def _waits_for_triton(compilation: Compilation) -> bool:
    return compilation.code.cpp is None and any(
        kernel.language == "triton" for kernel in compilation.kernels
    )


def _add(phase: Phase, outer: str, parts: dict[str, float], part_of: Mapping[str, str]) -> None:
    # What has a kind of its own: torch's names for the steps of a C++ build vary.
    part = part_of.get(phase.name, "cpp_build" if phase.kind == "cpp_build" else outer)
    # Work of other threads does not reduce the time that the caller waited.
    same_track = [child for child in phase.children if child.track == phase.track]
    inside = union_us(same_track)
    parts[part] = parts.get(part, 0.0) + max(phase.duration_us - inside, 0.0)
    if part == "cpp_build":
        # Parallel builds would count twice; the span around them is the time that the user waited.
        loading = union_us(other for other in same_track if part_of.get(other.name) == "other")
        parts[part] += inside - loading
        parts["other"] = parts.get("other", 0.0) + loading
        return
    for child in same_track:
        _add(child, part, parts, part_of)


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
