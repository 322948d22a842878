"""What ``docs/tlparse.md`` says of each record is so, and no record of a log is missing there."""

from __future__ import annotations

import re
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.capture.parse_log import read

ROOT = Path(__file__).parents[3]
TRACES = ROOT / "tests" / "data" / "traces"
LOGS = sorted(TRACES.rglob("*.log.gz"))
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "tlparse.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
]
PLACES = {name: row[2] for row in ROWS for name in re.findall(r"`([^` ]+)`", row[0])}


def place_of(name: str) -> str | None:
    """What the table says of a record."""
    return PLACES.get("…_ORIGINAL_BYTECODE" if name.endswith("_ORIGINAL_BYTECODE") else name)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name.removesuffix(".log.gz"))
def test_each_record_is_where_the_table_says(path: Path) -> None:
    log = read(path)
    names = {record.name or record.event for record in log.records} | {
        record.event for record in log.records if record.event != "artifact"
    }
    names.discard("artifact")
    report = cs.read_trace(path)
    raw = {event.name for compilation in report.compilations for event in compilation.raw}
    graphs = {
        graph.text for compilation in report.compilations for graph in compilation.graphs.values()
    }
    shown = {
        "dynamo_output_graph": graphs,
        "inductor_output_code": [
            compilation.kernels or compilation.code.aot for compilation in report.compilations
        ],
        "dynamo_cpp_guards_str": [compilation.guards for compilation in report.compilations],
        "recompile_reasons": [compilation.recompile for compilation in report.compilations],
        "dynamo_graph_break_reason": [compilation.breaks for compilation in report.compilations],
        "chromium_event": [compilation.phases for compilation in report.compilations],
        "fx_graph_cache_miss": [compilation.cache for compilation in report.compilations],
    }
    for name in names:
        where = place_of(name)
        assert where is not None, f"{name} is not in the table"
        if where.startswith("Raw") and "where" not in where:
            assert any(event.partition(" ")[0] == name for event in raw), name
        if name in shown:
            assert any(shown[name]), name
    for record in log.records:
        # A graph is drawn or listed, whichever attempt it is of.
        if record.payload and record.name.endswith("_graph") and record.event != "graph_dump":
            texts = {event.text for compilation in report.compilations for event in compilation.raw}
            assert record.payload in graphs | texts, record.name
