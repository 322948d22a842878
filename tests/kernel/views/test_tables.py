"""A table's columns are declared once."""

from __future__ import annotations

import pytest
from compilescope.views.rows.table import Column, Table
from compilescope.views.tables import TABLES

COSTS = Table(
    "costs",
    (
        Column("step", "step"),
        Column("bar", "cost", kind="drawing", where="panel"),
        Column("cost", "cost", "Time of one call", "figure"),
        Column("why", "why", where="text"),
    ),
)


def test_cells_are_in_the_order_of_the_columns() -> None:
    assert COSTS.head == ("step", "cost", "why")
    assert COSTS.row(why="", cost="2 µs", step="load") == ("load", "2 µs", "")
    assert [column.id for column in COSTS.in_panel] == ["step", "bar", "cost"]


def test_a_missing_and_an_unknown_cell_are_errors() -> None:
    with pytest.raises(KeyError, match="why"):
        COSTS.row(step="load", cost="2 µs")
    with pytest.raises(TypeError, match="'costs' has no columns bar"):
        COSTS.row(step="load", cost="2 µs", why="", bar="")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_ids_are_unique_and_notes_are_phrases(table: Table) -> None:
    ids = [column.id for column in table.columns]
    assert len(set(ids)) == len(ids)
    for column in table.columns:
        assert not column.note.endswith(".")
        assert column.kind != "drawing" or column.where != "text"


def test_no_two_tables_have_one_name() -> None:
    assert len({table.name for table in TABLES}) == len(TABLES)
