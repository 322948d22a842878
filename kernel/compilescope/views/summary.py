"""The top of every view: the report's environment and its problems."""

from __future__ import annotations

from ..analysis.problems.problem_list import problems_of
from ..report import Problem, Report
from . import wording


def environment(report: Report) -> str:
    """Return where the report was made, in one line."""
    machine = report.environment
    parts = [
        f"compilescope {machine.compilescope}" if machine.compilescope else "",
        f"torch {machine.torch}" if machine.torch else "",
        f"triton {machine.triton}" if machine.triton else "",
        f"Python {machine.python}" if machine.python else "",
        ", ".join(machine.gpus) or machine.cpu,
        wording.count(machine.threads, "thread") if machine.threads else "",
        machine.compiler,
    ]
    return " · ".join(part for part in parts if part)


def device(report: Report) -> str:
    """Return torch's version and the device where the report was made."""
    machine = report.environment
    torch = f"torch {machine.torch}" if machine.torch else ""
    return " · ".join(filter(None, [torch, machine.gpus[0] if machine.gpus else machine.cpu]))


def problems(report: Report) -> list[tuple[str, Problem]]:
    """Return all problems, worst first, each once, with the variants that have it.

    The variants are ``""`` for a problem of the whole report, otherwise names separated by commas.
    """
    return [(", ".join(entry.variants), entry.problem) for entry in problems_of(report)]
