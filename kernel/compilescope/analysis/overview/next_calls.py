"""Suggests API calls that answer what a report leaves open."""

from __future__ import annotations

import re

from ...report import Report
from ...report.overview import LimitStudy

_MEASURE = "cs.measure(report), in the session that inspected the call, builds and times them."
_LONGER = (
    "cs.measure(report, seconds={}), in the session that inspected the call, times them for longer."
)
_STUDIES: dict[LimitStudy, str] = {
    "layers": 'cs.study(report, "layers"), in the session that inspected the call, breaks it down.',
    "kernels": 'cs.study(report, "kernels"), in the session that inspected the call, times them.',
}
_ADD = 'Compare: cs.inspect(fn, args, variants=("python", "cpp"))'
# The processes of ranks have ended.
_RANKS_MEASURE = "cs.ranks(factory), called again, builds and times them."
_RANKS_AGAIN = "cs.ranks(factory), called again on an idle machine, times them again."
_RANKS_ADD = 'Compare: cs.ranks(factory, variants=("python", "cpp"))'


_CALL = re.compile(r"\bcs\.\w")


def needed_import(*sentences: str) -> str:
    """The line that the calls in some sentences need; empty if there are no calls."""
    return "import compilescope as cs" if any(map(_CALL.search, sentences)) else ""


def measure(report: Report) -> str:
    """The call that builds and times what was generated."""
    return _MEASURE if report.rank is None else _RANKS_MEASURE


def measure_longer(report: Report, seconds: int) -> str:
    """The call that may decide what was too noisy."""
    return _LONGER.format(seconds) if report.rank is None else _RANKS_AGAIN


def study(name: LimitStudy, report: Report) -> str:
    """The call that runs a study; empty for a rank, whose processes have ended."""
    return _STUDIES.get(name, "") if report.rank is None else ""


def compare_wrappers(report: Report) -> str:
    """The call that inspects both wrappers."""
    return _ADD if report.rank is None else _RANKS_ADD
