"""How each kernel was compiled and loaded, from the records of a variant's compile and calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...capture.logged_values import decoded
from ...capture.records import Record
from ...report import Compilation, KernelLoad, LoadSpan
from ...report.compilation.wrapper_steps import LoadStep
from ...torch_api.trace.artifact_names import ENTRY, KERNEL_LOAD

WRAPPER = "C++ wrapper"
"""The row of the library that holds a C++ wrapper and, on a CPU, its kernels."""

_ON_HOST = (
    "On a CPU, a launch is the kernel's own work; the first one also touches its memory "
    "for the first time."
)
_WITH_WRAPPER = (
    "The wrapper and its kernels are one library; its first run is not visible from Python."
)
_LAUNCHED_IN_C = (
    "Python makes the first launch, which compiles, loads and tunes the kernel; the C++ "
    "wrapper makes the later ones, which are not visible from Python."
)
_HOST_PART = "Host time: until the launch returns; the kernel may still be running."
_ELSEWHERE = "A compile process compiled it in parallel."
_IN_THREAD = "A compile thread compiled it in parallel."
_DRAWN: dict[str, LoadStep] = {
    "compile": "compile",
    "load": "load",
    "autotune": "autotune",
    "run": "first_run",
}
"""Recorded event → the step of the timeline."""


@dataclass
class _Steps:
    """The records of one kernel's library or autotuner."""

    kernel: str = ""
    triton: bool = False
    steps: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    owners: list[str] = field(default_factory=list)


def read_loads(
    records: Sequence[Record],
    later_records: Sequence[Record],
    compilations: Sequence[Compilation],
    begun_s: float,
    phases_s: float | None = None,
) -> list[KernelLoad]:
    """How the kernels of a variant were compiled and loaded.

    Parameters
    ----------
    records
        Of the first call.
    later_records
        Of a later call; empty if there was none.
    begun_s
        When the first call began, in seconds since the epoch.
    phases_s
        When the earliest of its phases began; None where it has none.

    Returns
    -------
    list of KernelLoad
        In the order of their start. A kernel that several compilations share was compiled once,
        and is listed for each.
    """
    first, later = _gathered(records), _gathered(later_records)
    warm = {(later_steps.kernel, key): later_steps for key, later_steps in later.items()}
    launches = [run for later_steps in later.values() for run in later_steps.steps.get("run", ())]
    later_start_s = min((run["start_s"] for run in launches), default=0.0)
    loads = []
    for key, steps in first.items():
        for compilation, kernel in _named(steps, compilations):
            other = warm.get((steps.kernel, key)) or _Steps()
            load = _load(steps, other, kernel, compilation, begun_s)
            if load is not None:
                load.spans = [
                    *_spans(steps, _DRAWN, begun_s if phases_s is None else phases_s),
                    *_spans(other, {"run": "later_run"}, later_start_s),
                ]
                loads.append(load)
    return sorted(loads, key=lambda load: load.started_us)


def _read_steps(records: Sequence[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    for record in records:
        if record.name == KERNEL_LOAD and record.payload:
            yield record, decoded(record.payload)


def _gathered(records: Sequence[Record]) -> dict[str, _Steps]:
    """By the key of the library or autotuner."""
    by_key: dict[str, _Steps] = defaultdict(_Steps)
    for record, step in _read_steps(records):
        if step["what"] == "module":
            for kernel, key in step["keys"].items():
                steps = by_key[key]
                steps.kernel = steps.kernel or kernel
                steps.owners.append(f"{record.compile_id or ''} {kernel}")
            continue
        steps = by_key[step["key"]]
        steps.kernel = steps.kernel or step["kernel"]
        steps.triton = steps.triton or step["triton"]
        steps.steps[step["what"]].append(step)
        if step["triton"] and record.compile_id and not steps.owners:
            steps.owners.append(f"{record.compile_id} {step['kernel']}")
    return by_key


def _named(
    steps: _Steps, compilations: Sequence[Compilation]
) -> list[tuple[Compilation | None, str]]:
    """The compilations that a library or an autotuner is of, with the kernel's name there."""
    by_id = {compilation.id: compilation for compilation in compilations}
    if steps.owners:
        pairs = (owner.partition(" ") for owner in dict.fromkeys(steps.owners))
        return [(by_id.get(compile_id), kernel) for compile_id, _, kernel in pairs]
    if not steps.kernel:
        return []  # a precompiled header: no kernel's
    # A kernel that is compiled at its first launch does not record its compilation.
    having = [
        compilation
        for compilation in compilations
        if any(candidate.name == steps.kernel for candidate in compilation.kernels)
    ]
    return [(having[0] if len(having) == 1 else None, steps.kernel)]


def _load(
    steps: _Steps, later: _Steps, kernel: str, compilation: Compilation | None, begun_s: float
) -> KernelLoad | None:
    every = [step for same_kind in steps.steps.values() for step in same_kind]
    if not every:
        return None
    preparation = [*steps.steps["compile"], *steps.steps["compiled"], *steps.steps["load"]]
    is_wrapper = kernel == ENTRY
    load = KernelLoad(
        kernel=WRAPPER if is_wrapper else kernel,
        compilation=compilation.id if compilation else "",
        call=0 if any(step["compiling"] or step["thread"] for step in preparation) else 1,
        started_us=max((min(step["start_s"] for step in every) - begun_s) * 1e6, 0.0),
        compile_us=_total(steps, "compile"),
        load_us=_total(steps, "load"),
        autotune_us=_total(steps, "autotune"),
        first_run_us=_own_run_us(steps),
        warm_run_us=_own_run_us(later),
        cached=bool(preparation) and not steps.steps["compile"],
    )
    load.how = _WITH_WRAPPER if is_wrapper else _ON_HOST
    if steps.triton:
        _complete(load, steps, compilation)
    elif any(step["thread"] for step in steps.steps["compile"]):
        load.background = True
        load.how = f"{_IN_THREAD} {load.how}"
    return load.timed()


def _complete(load: KernelLoad, steps: _Steps, compilation: Compilation | None) -> None:
    """Adds torch's own figures for a Triton kernel that another process compiled."""
    kernels = compilation.kernels if compilation else []
    kernel = next((candidate for candidate in kernels if candidate.name == load.kernel), None)
    compile_us = kernel.resources.get("compile_us") if kernel else None
    in_c = bool(compilation and compilation.code.cpp)
    load.how = _LAUNCHED_IN_C if in_c and load.warm_run_us is None else _HOST_PART
    if load.compile_us is None and compile_us is not None:
        load.compile_us, load.background, load.cached = compile_us, True, False
        load.how = f"{_ELSEWHERE} {load.how}"


def _spans(steps: _Steps, drawn: Mapping[str, LoadStep], origin_s: float) -> list[LoadSpan]:
    spans = [
        LoadSpan(
            step=step,
            start_us=max((timed["start_s"] - origin_s) * 1e6, 0.0),
            us=timed["us"],
            background=timed["thread"],
        )
        for what, step in drawn.items()
        for timed in steps.steps.get(what, ())
    ]
    return sorted(spans, key=lambda span: span.start_us)


def _total(steps: _Steps, what: str) -> float | None:
    timed_steps = steps.steps.get(what)
    return float(sum(step["us"] for step in timed_steps)) if timed_steps else None


def _own_run_us(steps: _Steps) -> float | None:
    """The time of the first launch, without compiling, loading and tuning within it."""
    runs: Sequence[Mapping[str, Any]] = steps.steps.get("run", ())
    if not runs:
        return None
    run = runs[0]
    end = run["start_s"] + run["us"] / 1e6
    inside = [
        step
        for what in ("compile", "load", "autotune")
        for step in steps.steps.get(what, ())
        if run["start_s"] <= step["start_s"] <= end
    ]
    remaining_us: float = run["us"] - sum(step["us"] for step in inside)
    return max(remaining_us, 0.0)
