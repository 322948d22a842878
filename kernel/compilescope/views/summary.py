"""The top of every view: the report's environment and its problems."""

from __future__ import annotations

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
    all_problems = [("", problem) for problem in report.problems]
    for variant in report.variants:
        all_problems += [(variant.name, problem) for problem in variant.problems]
    once: dict[tuple[str, ...], tuple[list[str], Problem]] = {}
    for name, problem in all_problems:
        key = (problem.severity, problem.what, problem.why, problem.remedy, problem.detail)
        once.setdefault(key, ([], problem))[0].append(name)
    rank = {"error": 0, "warning": 1, "info": 2}
    ordered = sorted(once.values(), key=lambda item: rank[item[1].severity])
    return [(", ".join(filter(None, names)), problem) for names, problem in ordered]
