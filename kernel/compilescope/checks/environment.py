"""Environment variables and settings that change torch.compile, and the machine's resources."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import psutil

from ..report.checkup import Check
from ..torch_api.dynamo import compile_variant
from ..torch_api.process import variables
from .context import CheckContext, CheckFunction, not_needed, ok, problem, warning

SUBJECT = "Settings and machine"
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_LOW_MEMORY = 2e9
_SLOW = {
    "TORCH_COMPILE_DEBUG": "torch writes every stage of every compilation to disk.",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "every process compiles everything again.",
    "CUDA_LAUNCH_BLOCKING": "each kernel launch waits until the kernel has finished.",
}


def switched_on(context: CheckContext) -> Check:
    """Whether torch.compile compiles at all."""
    name = "torch.compile"
    off = variables.switched_off()
    if off is not None:
        return problem(name, variables.OFF.format(off.by), off.undo)
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        return problem(
            name,
            "TRITON_INTERPRET runs Triton kernels in an interpreter, a thousand times slower.",
            "Unset it and restart the kernel.",
        )
    if variables.swallows_errors():
        return warning(
            name,
            "suppress_errors is on: code that fails to compile runs in eager, without an error.",
            "Set torch._dynamo.config.suppress_errors to False.",
        )
    return ok(name, "torch.compile is on, and raises compile errors.")


def environment(context: CheckContext) -> Check:
    """The variables that torch, Triton and the compilers read."""
    name, present = "environment variables", variables.set_here()
    listing = (
        ", ".join(f"{variable}={_short(value)}" for variable, value in present.items())
        or "None is set."
    )
    unread = variables.unread(list(present))
    if unread:
        read_variables = sorted(variables.read_by_torch())
        similar = [difflib.get_close_matches(variable, read_variables, 1) for variable in unread]
        suggestions = [f"{matches[0]}?" for matches in similar if matches]
        return warning(
            name,
            f"torch does not read {', '.join(unread)}. {' '.join(suggestions)}".strip(),
            "Correct the name, or remove it.",
            detail=listing,
        )
    slow = [
        variable
        for variable in _SLOW
        if present.get(variable, os.environ.get(variable, "0")) not in ("", "0")
    ]
    if slow:
        why = "; ".join(f"{variable}: {_SLOW[variable]}" for variable in slow)
        return warning(name, why, "Unset it before you measure times.", detail=listing)
    return ok(name, listing)


def settings(context: CheckContext) -> Check:
    """Inductor's settings that are not torch's defaults, for what the caller compiles."""
    name = "Inductor's settings"
    if context.aside:
        return not_needed(name, "Not checked here: %compilescope doctor in a cell checks them.")
    differing = compile_variant.differing_settings({})
    listing = ", ".join(
        f"{setting}={_short(value)}" for setting, value in sorted(differing.items())
    )
    if variables.skips_caches():
        return warning(
            name,
            f"force_disable_caches is on: every process compiles everything again. {listing}",
            "Turn it off if compile time matters.",
        )
    return ok(name, listing or "All settings are torch's defaults.")


def threads(context: CheckContext) -> Check:
    """Whether torch's threads fit the processors that this process may use."""
    import torch

    name, count = "processors", torch.get_num_threads()
    allowed = float(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    quota = _quota()
    limit = min(allowed, quota) if quota else allowed
    finding = (
        f"{count} threads, {limit:g} processors, {variables.compile_threads()} compile threads"
    )
    if count > limit + 0.5:
        return warning(
            name,
            f"{finding}: more threads than processors makes calls slower.",
            f"Set OMP_NUM_THREADS={max(1, int(limit))} before Python starts, or call "
            "torch.set_num_threads.",
        )
    return ok(name, finding)


def memory(context: CheckContext) -> Check:
    """Memory for compilers: each takes up to a gigabyte."""
    free = psutil.virtual_memory().available
    finding = f"{free / 1e9:,.1f} GB are free."
    if free < _LOW_MEMORY:
        return warning(
            "memory",
            finding,
            "Free memory, or set TORCHINDUCTOR_COMPILE_THREADS=1: a C++ compiler needs 1 GB.",
        )
    return ok("memory", finding)


def _quota() -> float | None:
    """The processors that a container may use; None without a limit."""
    try:
        quota, period = _QUOTA.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)


def _short(value: str) -> str:
    return value if len(value) <= 60 else f"{value[:57]}…"


CHECKS: tuple[CheckFunction, ...] = (switched_on, environment, settings, threads, memory)
