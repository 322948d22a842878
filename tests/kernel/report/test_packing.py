"""Graphs travel with each stack of source lines once, and arrive as they were."""

from __future__ import annotations

import json
from pathlib import Path

import compilescope as cs
import msgspec
from compilescope.report import Compilation, Graph, Node, SourceLine
from compilescope.report.saving.packed_graphs import pack, unpack, unpack_compilations

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


def test_a_saved_report_has_each_graph_once(tmp_path: Path) -> None:
    report = cs.load(DATA / "reports" / "training.compilescope.json")
    path = report.save(tmp_path / "x.compilescope.json")
    python, cpp = (variant.compilations[0].graphs for variant in report.variants[:2])
    shared = {stage for stage, graph in python.items() if cpp.get(stage) == graph}
    saved = json.loads(path.read_text("utf-8"))["variants"][1]["compilations"][0]["graphs"]
    assert {stage for stage, graph in saved.items() if graph["same_as"]} >= shared
    assert saved["post_grad"]["same_as"][0] == "python"
    assert {"dynamo", "post_grad"} <= shared
    assert cs.load(path) == report
    assert path.stat().st_size < 0.8 * len(msgspec.json.encode(report))


def test_a_variant_that_is_not_there_has_no_graph() -> None:
    graph = Graph(stage="dynamo", text="", same_as=("gone", "dynamo"))
    compilation = Compilation(id="0/0", graphs={"dynamo": graph})
    unpack_compilations([("cpp", [compilation])])
    assert compilation.graphs == {"dynamo": Graph(stage="dynamo", text="")}
