"""What stands at the top of every view: where the report was made, and what is wrong."""

from __future__ import annotations

from ..report import Problem, Report
from . import wording


def environment(report: Report) -> str:
    """Return where the report was made, in one line."""
    made = report.environment
    known = [
        f"compilescope {made.compilescope}" if made.compilescope else "",
        f"torch {made.torch}" if made.torch else "",
        f"triton {made.triton}" if made.triton else "",
        f"Python {made.python}" if made.python else "",
        ", ".join(made.gpus) or made.cpu,
        wording.count(made.threads, "thread") if made.threads else "",
        made.compiler,
    ]
    return " · ".join(part for part in known if part)


def device(report: Report) -> str:
    """Return torch's version and the device where the report was made."""
    made = report.environment
    torch = f"torch {made.torch}" if made.torch else ""
    return " · ".join(filter(None, [torch, made.gpus[0] if made.gpus else made.cpu]))


def problems(report: Report) -> list[tuple[str, Problem]]:
    """Return all problems, worst first, each once, with the variants that have it.

    The variants are ``""`` for a problem of the whole report, else names with commas between.
    """
    found = [("", problem) for problem in report.problems]
    for variant in report.variants:
        found += [(variant.name, problem) for problem in variant.problems]
    once: dict[tuple[str, ...], tuple[list[str], Problem]] = {}
    for name, problem in found:
        key = (problem.severity, problem.what, problem.why, problem.remedy, problem.detail)
        once.setdefault(key, ([], problem))[0].append(name)
    rank = {"error": 0, "warning": 1, "info": 2}
    ordered = sorted(once.values(), key=lambda item: rank[item[1].severity])
    return [(", ".join(filter(None, names)), problem) for names, problem in ordered]
