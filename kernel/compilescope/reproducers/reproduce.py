"""Writes the program of a kernel or a graph, and tries it in a separate process."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict

import msgspec

from ..processes.runner import Limits, describe_exit, run
from ..report import Report
from ..report.errors import CompilescopeError
from .graph_program import graph_program
from .kernel_program import kernel_program
from .program import Program, Reproducer
from .trial_process import COMMAND, Trial

TIMEOUT_S = 600.0
CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


def reproduce(
    report: Report,
    *,
    kernel: str | None = None,
    graph: str | None = None,
    compilation: str | None = None,
    variant: str | None = None,
    run: bool = True,
    cancelled: Callable[[], bool] = lambda: False,
) -> Reproducer:
    """Returns the program of one kernel or graph of a report; see `compilescope.reproducer`.

    Raises
    ------
    CompilescopeError
        Not exactly one of the two was passed, the report lacks it, or it cannot run alone.
    """
    if (kernel is None) == (graph is None):
        raise CompilescopeError(
            "A reproducer runs one kernel or one graph.",
            remedy="Give kernel='cpp_fused_add_0', or graph='post_grad'.",
        )
    if kernel is not None:
        program = kernel_program(report, kernel, compilation, variant)
    else:
        assert graph is not None, "one of the two is given"
        program = graph_program(report, graph, compilation, variant)
    reproducer = Reproducer(**asdict(program))
    if not run:
        reproducer.why = "It was not tried: run=False."
        return reproducer
    _try(program, reproducer, cancelled)
    return reproducer


def _try(program: Program, reproducer: Reproducer, cancelled: Callable[[], bool]) -> None:
    """Runs a program as a user would, with the user's caches of torch."""
    ended = run(
        ("-c", COMMAND),
        program.code.encode(),
        header={
            "name": program.file_name,
            "device": program.device,
            "caches": {name: os.environ.get(name) for name in CACHES},
        },
        limits=Limits(timeout_s=TIMEOUT_S),
        cancelled=cancelled,
    )
    if ended.how == "cancelled":
        reproducer.why = "Its process was ended because the work was cancelled."
    elif ended.how == "timeout":
        reproducer.tried = "failed"
        reproducer.why = f"It was ended after {TIMEOUT_S:g} s."
    elif ended.how != "done":
        reproducer.tried = "failed"
        reproducer.why = f"Its process died: {describe_exit(ended.exit_code)}."
        reproducer.output = ended.errors
    else:
        trial = msgspec.json.decode(ended.result, type=Trial)
        reproducer.tried, reproducer.why = trial.tried, trial.why
        reproducer.output = trial.output
        if trial.tried == "agrees" and program.unchecked and "agrees" not in trial.output:
            reproducer.tried = "ran"
