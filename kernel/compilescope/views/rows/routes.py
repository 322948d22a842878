"""Custom operators, and the loading of kernels, as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Descriptor, Report, Route, VariantReport
from .. import wording

ROUTES = ("operator", "variant", "implemented in", "way", "GIL", "cost of the way")
LOADS = ("kernel", "when", "compile", "load", "tune", "first run", "later run")

_BY = {
    "torch": "torch",
    "cpp": "C++",
    "python": "Python",
    "triton": "Triton, by you",
    "unknown": "not known here",
}
_WAYS = {
    "library": "ATen's Python binding",
    "shim": "C shim",
    "dispatcher": "dispatcher",
    "python": "through Python",
    "inlined": "launched as generated",
}


def routes(report: Report) -> list[tuple[str, ...]]:
    """Return the operators that are not torch's own, in the order of `ROUTES`."""
    return [
        (
            route.operator,
            variant.name,
            _BY[route.registered],
            _way(route),
            str(route.gil),
            "" if route.us is None else wording.duration(route.us),
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
        (
            load.kernel,
            "at its first launch" if load.call else "while compiling",
            "cached" if load.cached and load.compile_us is None else _us(load.compile_us),
            _us(load.load_us),
            _us(load.autotune_us),
            _us(load.first_run_us),
            _us(load.warm_run_us),
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


def _way(route: Route) -> str:
    into = ", into Python" if route.via == "dispatcher" and route.registered == "python" else ""
    return _WAYS[route.via] + into


def _us(value: float | None) -> str:
    return "" if value is None else wording.duration(value)
