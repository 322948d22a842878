"""How each kernel came to be there: what was told while a variant was compiled and called."""

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

_ON_HOST = "On a CPU a launch is the kernel's own work; on the first, memory is touched first."
_WITH_WRAPPER = (
    "The wrapper and the kernels in it are one library. Its first run is no Python function's."
)
_LAUNCHED_IN_C = (
    "The first launch is Python's, which compiles, loads and tunes; later ones are the C++ "
    "wrapper's own and are not seen from Python."
)
_HOST_PART = "On the host: until the launch returns, its kernel perhaps still running."
_ELSEWHERE = "A compile process compiled it meanwhile."
_IN_THREAD = "A compile thread compiled it meanwhile."
_DRAWN: dict[str, LoadStep] = {
    "compile": "compile",
    "load": "load",
    "autotune": "autotune",
    "run": "first_run",
}
"""What is told → the step of the time line."""


@dataclass
class _Steps:
    """What was told of one kernel's library or autotuner."""

    kernel: str = ""
    triton: bool = False
    steps: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    owners: list[str] = field(default_factory=list)


def read_loads(
    records: Sequence[Record],
    again: Sequence[Record],
    compilations: Sequence[Compilation],
    begun_s: float,
    phases_s: float | None = None,
) -> list[KernelLoad]:
    """How the kernels of a variant came to be there.

    Parameters
    ----------
    records
        Of the first call.
    again
        Of a later one; empty where there was none.
    begun_s
        When the first call began, in seconds since the epoch.
    phases_s
        When the earliest of its phases began; None where it has none.

    Returns
    -------
    list of KernelLoad
        In the order in which they began. A kernel that several compilations share was compiled
        once: it is told of each.
    """
    first, later = _gathered(records), _gathered(again)
    warm = {(one.kernel, key): one for key, one in later.items()}
    launches = [run for one in later.values() for run in one.steps.get("run", ())]
    again_s = min((run["start_s"] for run in launches), default=0.0)
    loads = []
    for key, steps in first.items():
        for compilation, kernel in _named(steps, compilations):
            other = warm.get((steps.kernel, key)) or _Steps()
            load = _load(steps, other, kernel, compilation, begun_s)
            if load is not None:
                load.spans = [
                    *_spans(steps, _DRAWN, begun_s if phases_s is None else phases_s),
                    *_spans(other, {"run": "later_run"}, again_s),
                ]
                loads.append(load)
    return sorted(loads, key=lambda one: one.started_us)


def _told(records: Sequence[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    for record in records:
        if record.name == KERNEL_LOAD and record.payload:
            yield record, decoded(record.payload)


def _gathered(records: Sequence[Record]) -> dict[str, _Steps]:
    """By the key of the library or autotuner."""
    found: dict[str, _Steps] = defaultdict(_Steps)
    for record, said in _told(records):
        if said["what"] == "module":
            for kernel, key in said["keys"].items():
                steps = found[key]
                steps.kernel = steps.kernel or kernel
                steps.owners.append(f"{record.compile_id or ''} {kernel}")
            continue
        steps = found[said["key"]]
        steps.kernel = steps.kernel or said["kernel"]
        steps.triton = steps.triton or said["triton"]
        steps.steps[said["what"]].append(said)
        if said["triton"] and record.compile_id and not steps.owners:
            steps.owners.append(f"{record.compile_id} {said['kernel']}")
    return found


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
    # What is compiled at its first launch does not know for which compilation.
    having = [
        compilation
        for compilation in compilations
        if any(each.name == steps.kernel for each in compilation.kernels)
    ]
    return [(having[0] if len(having) == 1 else None, steps.kernel)]


def _load(
    steps: _Steps, later: _Steps, kernel: str, compilation: Compilation | None, begun_s: float
) -> KernelLoad | None:
    every = [one for each in steps.steps.values() for one in each]
    if not every:
        return None
    made = [*steps.steps["compile"], *steps.steps["compiled"], *steps.steps["load"]]
    is_wrapper = kernel == ENTRY
    load = KernelLoad(
        kernel=WRAPPER if is_wrapper else kernel,
        compilation=compilation.id if compilation else "",
        call=0 if any(one["compiling"] or one["thread"] for one in made) else 1,
        started_us=max((min(one["start_s"] for one in every) - begun_s) * 1e6, 0.0),
        compile_us=_total(steps, "compile"),
        load_us=_total(steps, "load"),
        autotune_us=_total(steps, "autotune"),
        first_run_us=_own(steps),
        warm_run_us=_own(later),
        cached=bool(made) and not steps.steps["compile"],
    )
    load.how = _WITH_WRAPPER if is_wrapper else _ON_HOST
    if steps.triton:
        _complete(load, steps, compilation)
    elif any(step["thread"] for step in steps.steps["compile"]):
        load.background = True
        load.how = f"{_IN_THREAD} {load.how}"
    return load


def _complete(load: KernelLoad, steps: _Steps, compilation: Compilation | None) -> None:
    """Adds what torch itself says of a Triton kernel that another process compiled."""
    kernels = compilation.kernels if compilation else []
    kernel = next((one for one in kernels if one.name == load.kernel), None)
    told = kernel.resources.get("compile_us") if kernel else None
    in_c = bool(compilation and compilation.code.cpp)
    load.how = _LAUNCHED_IN_C if in_c and load.warm_run_us is None else _HOST_PART
    if load.compile_us is None and told is not None:
        load.compile_us, load.background, load.cached = told, True, False
        load.how = f"{_ELSEWHERE} {load.how}"


def _spans(steps: _Steps, drawn: Mapping[str, LoadStep], origin_s: float) -> list[LoadSpan]:
    found = [
        LoadSpan(
            step=step,
            start_us=max((one["start_s"] - origin_s) * 1e6, 0.0),
            us=one["us"],
            background=one["thread"],
        )
        for what, step in drawn.items()
        for one in steps.steps.get(what, ())
    ]
    return sorted(found, key=lambda span: span.start_us)


def _total(steps: _Steps, what: str) -> float | None:
    found = steps.steps.get(what)
    return float(sum(one["us"] for one in found)) if found else None


def _own(steps: _Steps) -> float | None:
    """The first launch, without what was done within it: compiled, loaded, tuned."""
    runs: Sequence[Mapping[str, Any]] = steps.steps.get("run", ())
    if not runs:
        return None
    run = runs[0]
    end = run["start_s"] + run["us"] / 1e6
    inside = [
        one
        for what in ("compile", "load", "autotune")
        for one in steps.steps.get(what, ())
        if run["start_s"] <= one["start_s"] <= end
    ]
    own: float = run["us"] - sum(one["us"] for one in inside)
    return max(own, 0.0)
