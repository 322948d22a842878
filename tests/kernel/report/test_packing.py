"""Graphs travel with each stack of source lines once, and arrive as they were."""

from __future__ import annotations

from pathlib import Path

import compilescope as cs
import msgspec
from compilescope.report import Graph, Node, SourceLine
from compilescope.report.saving.graph_stacks import pack, unpack

from ..session.test_file_answers import DATA

FIRST, SECOND = (SourceLine(file="m.py", line=line, function="f") for line in (1, 2))


def test_a_packed_graph_unpacks_to_itself() -> None:
    stacks = ([FIRST], [FIRST, SECOND], [], [FIRST])
    graph = Graph(
        stage="dynamo",
        text="",
        nodes=[
            Node(name=f"n{index}", op="call_function", target="sin", sources=list(stack))
            for index, stack in enumerate(stacks)
        ],
    )
    before = msgspec.json.encode(graph)
    packed = pack(graph)
    assert msgspec.json.encode(graph) == before
    assert [node.stack for node in packed.nodes] == [0, 1, None, 0]
    assert packed.stacks == [[FIRST], [FIRST, SECOND]]
    unpack(packed)
    assert packed == graph


def test_a_place_that_is_not_there_is_no_stack() -> None:
    node = Node(name="n", op="output", target="output", stack=7)
    graph = Graph(stage="dynamo", text="", nodes=[node], stacks=[[FIRST]])
    unpack(graph)
    assert graph.nodes == [Node(name="n", op="output", target="output")]


def test_a_saved_report_is_the_same_and_smaller(tmp_path: Path) -> None:
    report = cs.load(DATA / "reports" / "training.compilescope.json")
    path = report.save(tmp_path / "x.compilescope.json")
    assert cs.load(path) == report
    assert path.stat().st_size < len(msgspec.json.encode(report))
