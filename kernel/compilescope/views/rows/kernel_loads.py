"""How the kernels of a variant were compiled, loaded and first run, as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import LOAD_STEPS, Report, VariantReport
from .. import wording
from .table import Column, Table

_WHEN = {
    "compiling": "while it was compiled",
    "background": "in the background",
    "first_launch": "at its first launch",
}

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


def _us(value: float | None) -> str:
    return "" if value is None else wording.duration(value)
