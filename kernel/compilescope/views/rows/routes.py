"""The routes by which wrappers call custom operators, as rows of words."""

from __future__ import annotations

from ...report import Report
from .. import wording
from .table import Column, Table

_REGISTERED = {
    "torch": "torch",
    "cpp": "C++",
    "python": "Python",
    "triton": "Triton, by you",
    "unknown": "unknown",
}
_ROUTE_WORDS = {
    "library": "ATen's Python binding",
    "shim": "C shim",
    "dispatcher_cpp": "dispatcher, in C++",
    "dispatcher_python": "dispatcher, into Python",
    "function": "as a Python function",
    "torch_ops": "torch.ops, from Python",
    "inlined": "launched as generated",
}
ROUTES = Table(
    "routes",
    (
        Column("operator", "operator"),
        Column("variant", "variant"),
        Column("registered", "implemented in", words=_REGISTERED),
        Column("via", "called through", words=_ROUTE_WORDS),
        Column(
            "gil",
            "GIL",
            "GIL acquisitions for it in one call of the wrapper, counted in the code",
            "figure",
        ),
        Column(
            "overhead",
            "call overhead",
            "Overhead of calling it, per call of the wrapper, excluding its own work",
            "figure",
        ),
        Column("lines", "lines", where="panel"),
        Column("why", "why", where="panel"),
    ),
)


def routes(report: Report) -> list[tuple[str, ...]]:
    """Return the operators that are not torch's own, in the order of `ROUTES`."""
    return [
        ROUTES.row(
            operator=route.operator,
            variant=variant.name,
            registered=_REGISTERED[route.registered],
            via=_ROUTE_WORDS[route.way],
            gil=wording.whole_number(route.gil),
            overhead="" if route.us is None else wording.duration(route.us),
        )
        for variant in report.variants
        for compilation in variant.compilations
        for route in compilation.routes
        if route.registered != "torch"
    ]
