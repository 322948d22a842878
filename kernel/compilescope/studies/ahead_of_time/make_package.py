"""Compiles a subject ahead of time in a separate process, which leaves no state in this one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...analysis.packages.ahead_of_time import add_code
from ...analysis.packages.package_words import add_package_words
from ...processes.folders import temporary
from ...processes.runner import Ended, Limits, run
from ...progress.progress import Cancelled
from ...report import Package
from ...report.problem import Problem
from ...subject import pickled_subject
from ...torch_api.inductor.ahead_of_time import vector_sets
from ...torch_api.inductor.headers import FIRST_IMPORTS
from ..context import StudyContext
from ..first_calls.first_process import AFTER_DEATH, AFTER_TIMEOUT, describe_ending, last_words
from ..first_calls.processes import packed, task
from .process import COMMAND, PACKAGE_FILE

TIMEOUT_S = 900.0


def make_package(study: StudyContext, *, built: bool) -> None:
    """Fills in a variant's package, and its code.

    Parameters
    ----------
    built
        Whether to build, load and time it; else there are its sources.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    Cancelled
        The study was canceled; its process has ended.
    """
    report, variant = study.report, study.report.requested
    packed_task = task(variant, packed(study))
    study.monitor.step("starting", variant=report.name, fraction=0.0)
    steps = iter(range(1, 9))
    with temporary("package") as folder:
        ended = run(
            ("-c", COMMAND.format(imports=FIRST_IMPORTS)),
            packed_task,
            header={
                **pickled_subject.header(),
                "folder": str(folder),
                "built": built,
                "vectors": vector_sets(),
            },
            limits=Limits(timeout_s=TIMEOUT_S),
            cancelled=lambda: study.monitor.cancelled,
            stepped=lambda step: study.monitor.step(
                step, variant=report.name, fraction=next(steps, 8) / (8 if built else 4)
            ),
        )
        package = _package(ended, folder / PACKAGE_FILE)
    report.absent.pop("package", None)
    if report.compilations:
        compilation = next(
            (compilation for compilation in report.compilations if compilation.code.regions),
            report.compilations[0],
        )
        add_code(package, compilation)
    add_package_words(package)
    report.package = package


def _package(ended: Ended, result_file: Path) -> Package:
    """What the process gave, or had made when it ended."""
    if ended.how == "cancelled":
        raise Cancelled
    if ended.how == "done":
        return msgspec.json.decode(ended.result, type=Package)
    problem = Problem(
        severity="error",
        what="The package was not made.",
        why=describe_ending(ended, TIMEOUT_S),
        remedy=AFTER_TIMEOUT if ended.how == "timeout" else AFTER_DEATH,
        detail=last_words(ended),
    )
    if not result_file.exists():
        return Package(problem=problem)
    problem.what = "The package was made, but could not be run."
    problem.remedy = (
        "If torch._inductor.aoti_load_package() crashes Python too, it is a bug in torch."
    )
    package = msgspec.json.decode(result_file.read_bytes(), type=Package)
    package.problem = problem
    return package
