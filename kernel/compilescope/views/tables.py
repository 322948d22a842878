"""The tables that a terminal, a cell and the panel show."""

from __future__ import annotations

from .rows import (
    changes,
    cold,
    deploy,
    guards,
    kernel_loads,
    package,
    results,
    routes,
    startups,
    steps,
    sweep,
    target,
    variants,
)
from .rows.table import Table

TABLES: tuple[Table, ...] = (
    results.TABLE,
    variants.TABLE,
    target.TABLE,
    guards.TABLE,
    sweep.TABLE,
    deploy.TABLE,
    cold.TABLE,
    startups.TABLE,
    kernel_loads.LOADS,
    routes.ROUTES,
    steps.TABLE,
    package.ENTRIES,
    package.FILES,
    changes.KERNELS,
)
"""``scripts/generate_types.py`` writes their columns for the panel."""
