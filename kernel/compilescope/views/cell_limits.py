"""How much of a report a cell shows. Outputs enlarge a notebook; a saved page shows all."""

from __future__ import annotations

from typing import NamedTuple

NO_LIMIT = 1_000_000_000


class CellLimits(NamedTuple):
    """The maximum number of each item that is shown."""

    pairs: int = NO_LIMIT
    """Graphs whose wrappers stand side by side."""
    wrapper_lines: int = NO_LIMIT
    """Lines of each wrapper of a pair, without the code around its call."""
    folds: bool = True
    """Whether the code around the call is included, folded; the kernels are listed anyway."""
    kernels: int = NO_LIMIT
    kernel_lines: int = NO_LIMIT
    assembly_lines: int = NO_LIMIT
    """Lines of each compiled form of a kernel, if it was compiled for a target."""
    target_kernels: int = NO_LIMIT
    """Rows of a target's table of kernels."""
    graph_lines: int = NO_LIMIT
    conditions: int = NO_LIMIT
    """Conditions of inputs and values, without groups of guards."""
    guards: int = NO_LIMIT
    problems: int = NO_LIMIT
    compilations: int = NO_LIMIT
    stages: tuple[str, ...] = ()
    """The graphs shown; empty: all."""


FULL = CellLimits()
CELL = CellLimits(
    pairs=2,
    wrapper_lines=160,
    folds=False,
    kernels=6,
    kernel_lines=30,
    assembly_lines=0,
    target_kernels=20,
    graph_lines=30,
    conditions=8,
    guards=20,
    problems=3,
    compilations=2,
    stages=("dynamo", "joint", "inference", "forward", "backward", "post_grad"),
)
