"""Writes the program of a kernel or a graph, and tries it in a separate process."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import msgspec

from ..processes.runner import Limits, describe_exit, run
from ..report import Report, VariantReport
from ..report.errors import CompilescopeError
from .graph_functions import as_python
from .graph_program import (
    class_name,
    differs,
    failing_code,
    failing_programs,
    graph_program,
    make_inputs_text,
)
from .kernel_program import kernel_program
from .minify_process import COMMAND as MINIFY
from .minify_process import Minified
from .program import Program, Reproducer, Request
from .program_parts import EAGER_RAN
from .same_failure import DIFFERS, signature
from .trial_process import COMMAND, Trial

TIMEOUT_S = 600.0
MINIFY_S = 300.0
"""How long torch's minifier may look for a smaller graph."""
RUNNING = "running the program"
_COMPARED = re.compile(r": (agrees|equal)\b")
"""In what a program prints: a result that was compared."""
CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


def reproduce(
    report: Report,
    request: Request,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    stepped: Callable[[str], None] = lambda step: None,
) -> Reproducer:
    """Returns the program of one kernel or graph of a report.

    Parameters
    ----------
    stepped
        Called with each step.

    Raises
    ------
    CompilescopeError
        Not exactly one of the two was requested, the report lacks it, or it cannot run alone; or it
        is to be made smaller and alone it does not fail as in the report.
    """
    kernel, graph = request.kernel, request.graph
    if request.minify:
        if kernel is not None or not request.run:
            raise CompilescopeError(
                "Only a graph is made smaller, by compiling parts of it.",
                remedy="Give minify=True with neither kernel nor run=False.",
            )
        return smaller(report, request, cancelled=cancelled, stepped=stepped)
    if (kernel is None) == (graph is None):
        raise CompilescopeError(
            "A reproducer runs one kernel or one graph.",
            remedy="Give kernel='cpp_fused_add_0', or graph='post_grad'.",
        )
    if kernel is not None:
        program = kernel_program(report, kernel, request.compilation, request.variant)
    else:
        assert graph is not None, "one of the two is given"
        program = graph_program(report, graph, request.compilation, request.variant)
    reproducer = Reproducer(**asdict(program))
    if not request.run:
        reproducer.why = "Only its text was requested."
        return reproducer
    stepped(RUNNING)
    _try(program, reproducer, cancelled)
    return reproducer


def smaller(
    report: Report,
    request: Request,
    *,
    seconds: float = MINIFY_S,
    cancelled: Callable[[], bool] = lambda: False,
    stepped: Callable[[str], None] = lambda step: None,
) -> Reproducer:
    """Returns the program of a smaller graph that fails as one of a report does.

    It fails to compile, raises an exception as it runs, or gives other results than eager.

    Parameters
    ----------
    seconds
        How long torch's minifier may look. What it has reached until then is returned.
    stepped
        Called with each attempt.

    Raises
    ------
    CompilescopeError
        The report lacks the graph, it cannot run alone, or alone it does not fail as in the report.
    """
    failed = _failed_variant(report, request.variant)
    programs = failing_programs(report, request.graph, request.compilation, failed)
    for program in programs:
        ended = run(
            ("-c", MINIFY),
            program.code.encode(),
            header={
                **_header(program),
                "graph_class": class_name(program.code),
                "compares": differs(failed),
                "seconds": seconds,
            },
            limits=Limits(timeout_s=seconds + TIMEOUT_S),
            cancelled=cancelled,
            stepped=lambda step: stepped(f"making the graph smaller: {step}"),
        )
        reproducer = Reproducer(**asdict(program))
        if ended.how != "done":
            reproducer.why = (
                "It was not made smaller: the work was canceled."
                if ended.how == "cancelled"
                else f"It was not made smaller: the process died, {describe_exit(ended.exit_code)}."
            )
            reproducer.output = ended.errors
            return reproducer
        minified = msgspec.json.decode(ended.result, type=Minified)
        if minified.failure:
            break
    _check_failure(minified, programs[: 1 + programs.index(program)], failed)
    if minified.graph and minified.operators < minified.operators_before:
        reproducer.code = failing_code(
            report,
            f"A part of the graph {program.what}",
            failed,
            as_python(minified.graph),
            make_inputs_text(minified.inputs),
        )
        time = "" if minified.is_complete else ", when the time was over"
        reproducer.why = (
            f"{minified.operators} of {minified.operators_before} operators are left after "
            f"{minified.attempts} attempts{time}."
        )
    else:
        end = (
            "No operator could be left out in"
            if minified.is_complete
            else "The time was over after"
        )
        reason = minified.why_not or f"{end} {minified.attempts} attempts."
        reproducer.why = f"It is the whole graph. {reason}"
    stepped(RUNNING)
    _try_failing(reproducer, minified.failure, cancelled)
    if reproducer.tried == "failed" and reproducer.code != program.code:
        # Its inputs have other values than when the minifier saw it fail.
        reproducer.code = program.code
        reproducer.why = "It is the whole graph: by itself no smaller one fails in the same way."
        _try_failing(reproducer, minified.failure, cancelled)
    return reproducer


def _failed_variant(report: Report, name: str | None) -> VariantReport:
    if name is not None:
        return report.variant(name)
    compiled = [variant for variant in report.variants if variant.compilations]
    failed = [variant for variant in report.variants if variant.stage == "failed"]
    wrong = [variant for variant in report.variants if differs(variant)]
    # In a trace, and in what a script compiled, a failure is a problem.
    listed = [*report.problems, *(problem for variant in compiled for problem in variant.problems)]
    has_error = any(problem.severity == "error" for problem in listed)
    if not (failed or compiled):
        raise CompilescopeError(
            "The report has no graph.", remedy="Inspect a call that torch.compile compiles."
        )
    if not (failed or wrong or has_error):
        raise CompilescopeError(
            "There is no failure to make smaller.",
            "No variant of this report failed, and no result is known to differ from eager's.",
            "To try the graph of a variant all the same, name the variant.",
        )
    return (failed or wrong or compiled)[0]


def _check_failure(minified: Minified, tried: list[Program], variant: VariantReport) -> None:
    """Raises an error unless the last graph that was tried fails as the report says."""
    remedy = "Take another stage of the graph."
    names = " and ".join(program.what for program in tried)
    if minified.why_not and not minified.failure:
        raise CompilescopeError(
            f"{names} cannot be made smaller.", minified.why_not, minified.remedy or remedy
        )
    if not minified.failure:
        graphs = f"the graph {names} does" if len(tried) == 1 else f"the graphs {names} do"
        why = (
            "On random inputs the results are those of torch's operators."
            if differs(variant)
            else "It compiles in a new process."
        )
        raise CompilescopeError(f"By itself {graphs} not fail.", why, remedy)
    errors = [signature(problem) for problem in variant.problems if problem.severity == "error"]
    reported = [DIFFERS] if differs(variant) else errors
    if reported and minified.failure not in reported:
        raise CompilescopeError(
            f"By itself the graph {tried[-1].what} fails otherwise than in the report.",
            f"There: {minified.failure}",
            remedy,
        )


def _try_failing(reproducer: Reproducer, failure: str, cancelled: Callable[[], bool]) -> None:
    """Runs the program of a graph that fails, and looks whether it fails in the same way."""
    about = reproducer.why
    _try(reproducer, reproducer, cancelled)
    if failure == DIFFERS and reproducer.tried == "differs":
        reproducer.tried, reproducer.why = "fails", f"{about} {failure}"
    elif reproducer.failure == failure and EAGER_RAN in reproducer.output:
        reproducer.tried = "fails"
        reproducer.why = f"{about} It ends with {reproducer.why}"
    elif reproducer.tried in ("agrees", "ran"):
        reproducer.tried, reproducer.why = "failed", "It does not fail in a new process."


def _header(program: Program) -> dict[str, Any]:
    """What the processes that run a program are given."""
    return {
        "name": program.file_name,
        "device": program.device,
        # torch's caches are the user's.
        "caches": {name: os.environ.get(name) for name in CACHES},
    }


def _try(program: Program, reproducer: Reproducer, cancelled: Callable[[], bool]) -> None:
    """Runs a program as a user would, with the user's caches of torch."""
    ended = run(
        ("-c", COMMAND),
        program.code.encode(),
        header=_header(program),
        limits=Limits(timeout_s=TIMEOUT_S),
        cancelled=cancelled,
    )
    if ended.how == "cancelled":
        reproducer.why = "Its process was ended because the work was canceled."
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
        reproducer.output, reproducer.failure = trial.output, trial.failure
        is_compared = _COMPARED.search(trial.output) is not None
        if trial.tried == "agrees" and program.unchecked and not is_compared:
            reproducer.tried = "ran"
