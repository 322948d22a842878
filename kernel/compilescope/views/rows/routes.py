"""Custom operators, and the loading of kernels, as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import LOAD_STEPS, Descriptor, Report, VariantReport
from .. import wording
from .table import Column, Table

_REGISTERED = {
    "torch": "torch",
    "cpp": "C++",
    "python": "Python",
    "triton": "Triton, by you",
    "unknown": "unknown",
}
_VIA = {
    "library": "ATen's Python binding",
    "shim": "C shim",
    "dispatcher_cpp": "dispatcher, in C++",
    "dispatcher_python": "dispatcher, into Python",
    "function": "as a Python function",
    "torch_ops": "torch.ops, from Python",
    "inlined": "launched as generated",
}
_WHEN = {
    "compiling": "while it was compiled",
    "background": "in the background",
    "first_launch": "at its first launch",
}

ROUTES = Table(
    "routes",
    (
        Column("operator", "operator"),
        Column("variant", "variant"),
        Column("registered", "implemented in", words=_REGISTERED),
        Column("via", "called through", words=_VIA),
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
LOADS = Table(
    "loads",
    (
        Column("kernel", "kernel"),
        Column("when", "when", words=_WHEN),
        Column("steps", "steps", kind="drawing", where="panel"),
        Column("compile", "compile", kind="figure"),
        Column("load", "load", kind="figure"),
        Column("autotune", "tune", kind="figure"),
        Column("first_run", LOAD_STEPS["first_run"], kind="figure"),
        Column("later_run", LOAD_STEPS["later_run"], "A launch in the next call", "figure"),
    ),
)


def routes(report: Report) -> list[tuple[str, ...]]:
    """Return the operators that are not torch's own, in the order of `ROUTES`."""
    return [
        ROUTES.row(
            operator=route.operator,
            variant=variant.name,
            registered=_REGISTERED[route.registered],
            via=_VIA[route.way],
            gil=wording.whole_number(route.gil),
            overhead="" if route.us is None else wording.duration(route.us),
        )
        for variant in report.variants
        for compilation in variant.compilations
        for route in compilation.routes
        if route.registered != "torch"
    ]


def loaded(report: Report) -> Iterator[VariantReport]:
    """Yield the variants for which the loading of kernels was recorded."""
    yield from (variant for variant in report.variants if variant.kernel_loads)


def loads(variant: VariantReport) -> list[tuple[str, ...]]:
    """Return a variant's kernels in the order of `LOADS`."""
    return [
        LOADS.row(
            kernel=load.kernel,
            when=_WHEN[load.when],
            compile="cached" if load.cached and load.compile_us is None else _us(load.compile_us),
            load=_us(load.load_us),
            autotune=_us(load.autotune_us),
            first_run=_us(load.first_run_us),
            later_run=_us(load.warm_run_us),
        )
        for load in variant.kernel_loads
    ]


def descriptors(kernel_descriptors: list[Descriptor]) -> str:
    """Return a kernel's TMA descriptors in a few words; empty if it has none."""
    texts = [
        f"{descriptor.name} [{', '.join(descriptor.block)}] built {descriptor.built}"
        for descriptor in kernel_descriptors
    ]
    return f"TMA: {'; '.join(texts)}" if texts else ""


def _us(value: float | None) -> str:
    return "" if value is None else wording.duration(value)
