"""From a launch to its partner, its graph nodes, Dynamo's nodes and the user's line."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.analysis.graphs.operation_counts import operator_name
from compilescope.report import Compilation, Node, Report

from ...subjects import product
from ..linked_examples import EXAMPLES
from ..wrapper.test_links import launches

pytestmark = pytest.mark.slow

HERE = str(Path(__file__).parents[1] / "linked_examples.py")
Inspect = Callable[[str], Report]


@pytest.fixture(scope="module")
def inspected() -> Inspect:
    """The sources of an example under both wrappers, made once."""
    known: dict[str, Report] = {}

    def report(name: str) -> Report:
        if name not in known:
            known[name] = inspect(name)
        return known[name]

    return report


def inspect(name: str) -> Report:
    torch.manual_seed(0)
    fn, args = EXAMPLES[name].make()
    report = cs.inspect(fn, args, variants=("python", "cpp"), run=False)
    assert not [problem for variant in report.variants for problem in variant.problems]
    return report


def count(report: Report) -> dict[str, int]:
    """How many launches of both wrappers there are, and how many lead where."""
    python, cpp = report.variant("python"), report.variant("cpp")
    totals = dict.fromkeys(("launches", "partners", "nodes", "lines"), 0)
    for item, other in zip(python.compilations, cpp.compilations, strict=True):
        ours, theirs = launches(item, "python"), launches(other, "cpp")
        for some, others in ((ours, theirs), (theirs, ours)):
            keys = {region.key for region in others}
            totals["launches"] += len(some)
            totals["partners"] += sum(region.key in keys for region in some)
            totals["nodes"] += sum(bool(region.nodes) for region in some)
            totals["lines"] += sum(bool(region.sources) for region in some)
    return totals


def computed(report: Report) -> list[tuple[Compilation, Node]]:
    """The nodes after the post-grad passes that some kernel computes."""
    return [
        (compilation, node)
        for compilation in report.compilations
        for stage in ("post_grad", "backward_post_grad")
        if stage in compilation.graphs
        for node in compilation.graphs[stage].nodes
        if node.op == "call_function"
        and any(
            node.name in kernel.nodes
            and (kernel.direction == "backward") == stage.startswith("backward")
            for kernel in compilation.kernels
        )
    ]


def line_of(node: Node) -> str:
    """The user's innermost line."""
    return next((line.code for line in reversed(node.sources) if line.file == HERE), "")


def test_launches_have_partners_and_lines(inspected):
    total = dict.fromkeys(("launches", "partners", "nodes", "lines"), 0)
    for name in EXAMPLES:
        data = count(inspected(name))
        print(f"{name:24}", ", ".join(f"{value} {key}" for key, value in data.items()))
        for key, value in data.items():
            total[key] += value
    print(f"{'all':24}", ", ".join(f"{value} {key}" for key, value in total.items()))
    assert total["launches"] > 120
    for key in ("partners", "nodes", "lines"):
        assert total[key] >= 0.95 * total["launches"], key


def test_kernels_lead_to_dynamo_nodes(inspected):
    with_origins = wanted = 0
    for name in EXAMPLES:
        nodes = computed(inspected(name))
        results = [node for node in nodes if node[1].origins]
        print(f"{name:24} {len(results)} of {len(nodes)} nodes")
        with_origins += len(results)
        wanted += len(nodes)
        for compilation, node in results:
            names = {first.name for first in compilation.graphs["dynamo"].nodes}
            assert set(node.origins) <= names
    assert wanted > 300
    assert with_origins >= 0.95 * wanted


def test_origins_stand_in_the_same_line(inspected):
    """Two ways from a kernel to the user's line, over its nodes and over Dynamo's, must meet."""
    for name in EXAMPLES:
        for compilation, node in computed(inspected(name)):
            first = {node.name: node for node in compilation.graphs["dynamo"].nodes}
            lines = {line_of(first[origin]) for origin in node.origins} - {""}
            if lines and node.sources:
                assert line_of(node) in lines, (name, node.name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_lines_are_those_known_by_hand(name, inspected):
    seen: dict[str, set[str]] = {}
    for compilation, node in computed(inspected(name)):
        first = {node.name: node for node in compilation.graphs["dynamo"].nodes}
        for origin in node.origins:
            seen.setdefault(operator_name(node.target), set()).add(line_of(first[origin]))
    for operator, parts in EXAMPLES[name].lines.items():
        assert seen.get(operator), operator
        for line in seen[operator]:
            assert any(part in line for part in parts), (operator, line)


def test_every_stage_leads_back(inspected):
    graphs = inspected("training").compilations[0].graphs
    assert {"joint", "forward", "backward", "pre_grad", "backward_post_grad"} <= graphs.keys()
    for stage, graph in graphs.items():
        calls = [node for node in graph.nodes if node.op == "call_function"]
        if stage == "dynamo":
            assert not any(node.origins for node in graph.nodes)
        else:
            assert all(node.origins for node in calls), stage
            assert "origins" not in graph.absent
    inputs = [node for node in graphs["forward"].nodes if node.op == "placeholder"]
    first = [node.name for node in graphs["dynamo"].nodes if node.op == "placeholder"]
    assert [node.origins for node in inputs] == [[name] for name in first]


def test_modules_reach_the_kernels(inspected):
    compilation = inspected("training").compilations[0]
    owners = {
        operator_name(node.target): node.module
        for node in compilation.graphs["backward_post_grad"].nodes
        if node.module
    }
    assert owners["mm"] in ("model.up", "model.down")


def test_what_has_no_origin_is_said(inspected):
    graph = inspected("in place").compilations[0].graphs["post_grad"]
    assert [node.name for node in graph.nodes if "copy_" in node.target and node.origins] == []
    assert "2 of" in graph.absent["origins"]


def test_launches_have_their_text(inspected):
    compilation = inspected("inference").variant("cpp").compilations[0]
    lines = (compilation.code.cpp or "").split("\n")
    for kernel in compilation.kernels:
        for launch in kernel.launches:
            if launch.artifact == "cpp":
                assert launch.text == lines[launch.line - 1].strip()
            assert launch.text


def test_what_is_built_is_linked_too():
    call = product()
    report = cs.inspect(call.fn, call.args, variants=("python", "cpp"))
    assert not [problem for variant in report.variants for problem in variant.problems]
    data = count(report)
    assert data["launches"] == data["partners"] == data["lines"] == 10
    nodes = computed(report)
    assert all(node.origins for _, node in nodes)
    for item, other in itertools.pairwise(report.compilations[:2]):
        left = {node.name: node.origins for node in item.graphs["backward_post_grad"].nodes}
        right = {node.name: node.origins for node in other.graphs["backward_post_grad"].nodes}
        assert left == right


def test_a_trace_file_has_what_torch_wrote(compiled):
    """Without a live hook torch's own table is all there is."""
    graphs = compiled("training", "python")[0].graphs
    nodes = {node.name: node.origins for node in graphs["post_grad"].nodes}
    assert nodes["addmm"] == ["linear"]
    assert nodes["neg"] == ["hidden"]
    assert "origins" in graphs["backward_post_grad"].absent
    # Of the backward, what it takes over from the joint graph's forward half.
    names = {node.name for node in graphs["forward"].nodes}
    backward = graphs["backward_post_grad"].nodes
    assert not any(node.origins for node in backward if node.name not in names)
