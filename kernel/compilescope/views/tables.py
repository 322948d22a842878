"""The tables that a terminal, a cell and the panel show."""

from __future__ import annotations

from .rows import cold, deploy, sweep, target
from .rows.table import Table

TABLES: tuple[Table, ...] = (cold.TABLE, deploy.TABLE, sweep.TABLE, target.TABLE)
"""``scripts/generate_types.py`` writes their columns for the panel."""
