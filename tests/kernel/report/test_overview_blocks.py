"""Equal blocks of a model: found, suggested, tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import pytest
from compilescope.analysis.figures.intervals import Ratio
from compilescope.analysis.figures.speedups import speedup
from compilescope.analysis.graphs.repeated_blocks import repeated_blocks, written_path
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Break,
    Compilation,
    CompileTime,
    DistinctBreak,
    Graph,
    Guard,
    KindTime,
    Node,
    Problem,
    SourceLine,
    Subject,
)
from compilescope.report.measurements.deployment import BLOCKS, NESTED, WHOLE, DeployWay

from .overview_reports import make_report


def graph_of(blocks: int, *, odd: bool = False) -> Compilation:
    nodes = [Node(name="x", op="placeholder", target="x")]
    for index in range(blocks):
        path = f"transformer.h.{index}"
        nodes += [
            Node(name=f"n{index}", op="call_module", target="layer_norm", module=f"{path}.ln"),
            *(
                Node(name=f"m{index}_{at}", op="call_function", target="linear", module=path)
                for at in range(2)
            ),
            Node(
                name=f"a{index}",
                op="call_function",
                target="add" if not (odd and index % 2) else "mul",
                module=path,
                module_type="models.GPT2Block",
            ),
        ]
    return Compilation(id="0/0", graphs={"dynamo": Graph(stage="dynamo", text="", nodes=nodes)})


def test_equal_blocks_are_found_and_counted() -> None:
    blocks = repeated_blocks(graph_of(12))
    assert blocks == ("transformer.h", "GPT2Block", 12, 1.0, False, False, "")
    assert repeated_blocks(graph_of(3)) is None
    # Layers one by one would be calls of their own, each for next to no work.
    layers = graph_of(12)
    layers.graphs["dynamo"].nodes = [
        node for node in layers.graphs["dynamo"].nodes if node.target in ("x", "layer_norm")
    ]
    assert repeated_blocks(layers) is None
    half = repeated_blocks(graph_of(12, odd=True))
    assert half is not None
    assert (half.number, half.share) == (6, 0.5)


def test_blocks_of_other_sizes_are_not_equal() -> None:
    compilation = graph_of(12)
    for node in compilation.graphs["dynamo"].nodes:
        if node.module is not None:
            # Stages of a ResNet: the same class, with more channels in each.
            stage = int(node.module.split(".")[2]) // 6
            node.shape = ["1", str(64 * 2**stage)]
    blocks = repeated_blocks(compilation)
    assert blocks is not None
    assert (blocks.number, blocks.share) == (6, 0.5)


@pytest.mark.parametrize(
    ("values", "differs"),
    [
        (range(12), "attention.layer"),
        ([3] * 12, ""),
        ([0, 1], ""),
        ([rate / 10 for rate in range(12)], ""),
    ],
)
@pytest.mark.parametrize("variable", ["self", "s"])
def test_blocks_that_torch_compiles_one_by_one_are_not_suggested(
    values: Sequence[float], differs: str, variable: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    compilation = graph_of(12)
    # Two more blocks of another kind guard other values.
    indices = range(len(values)) if len(values) == 12 else (12, 13)
    for index, value in zip(indices, values, strict=True):
        layer = f"L['{variable}']._modules['transformer']._modules['h']._modules['{index}']"
        source = f"{layer}._modules['attention'].layer"
        guard = Guard(expression=f"{source} == {value}", type="EQUALS_MATCH", source=source)
        compilation.guards.append(guard)
    blocks = repeated_blocks(compilation)
    assert blocks is not None
    assert blocks.differs == differs
    python.compilations, python.compile_time = [compilation], CompileTime(total_s=12.0)
    suggested = [suggestion.what for suggestion in overview(report).suggestions]
    assert any(what.startswith("Compile the repeated block") for what in suggested) != bool(differs)


def test_equal_blocks_are_suggested_with_what_they_save() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    report.subject.kind = "module"
    suggestion = overview(report).suggestions[-1]
    block = "GPT2Block × 12 in model.transformer.h"  # noqa: RUF001
    assert suggestion.what == f"Compile the repeated block once: {block}"
    assert (suggestion.gain, suggestion.basis) == ("first call 12.0 s → about 1.00 s", "estimated")
    assert suggestion.code == "for block in model.transformer.h:\n    block.compile()"
    assert (suggestion.study, suggestion.of) == ("blocks", "python")
    # Kernels are built once for all blocks, however they are compiled.
    python.compile_time.kinds = [
        KindTime(kind="code_generation", self_us=6e6),
        KindTime(kind="cpp_build", self_us=6e6),
    ]
    assert overview(report).suggestions[-1].gain == "first call 12.0 s → about 6.50 s"
    # A function's modules are named as its variables are, and no process can compile them.
    report.subject.kind = "function"
    suggestion = overview(report).suggestions[-1]
    assert suggestion.study == ""
    assert suggestion.code == "for block in transformer.h:\n    block.compile()"
    for node in python.compilations[0].graphs["dynamo"].nodes:
        node.module_type = (
            node.module_type and "torch.nn.modules.transformer.TransformerEncoderLayer"
        )
    suggestion = overview(report).suggestions[-1]
    assert "block.forward = torch.compile(block.forward)" in suggestion.code


def test_of_a_list_with_other_modules_only_the_blocks_are_compiled() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    report.subject.kind = "module"
    python.compilations[0].graphs["dynamo"].nodes.append(
        Node(
            name="stem",
            op="call_function",
            target="conv2d",
            module="transformer.h.12",
            module_type="torch.nn.modules.conv.Conv2d",
        )
    )
    suggestion = overview(report).suggestions[-1]
    assert suggestion.code == (
        "for block in model.transformer.h:\n"
        "    if isinstance(block, GPT2Block):\n"
        "        block.compile()"
    )
    assert suggestion.study == ""


def test_blocks_that_were_tried_have_the_measured_gain() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    report.subject.kind = "module"
    over = speedup(Ratio(1.5, (1.4, 1.6), True), "eager")
    blocks = DeployWay(name=BLOCKS, cold_s=2.0, accurate=True, speedup=over)
    nested = DeployWay(name=NESTED, cold_s=3.0, accurate=True, code="nested")
    whole = DeployWay(name=WHOLE, cold_s=30.0, accurate=True)
    python.ways = [whole, blocks, nested]
    suggestion = overview(report).suggestions[-1]
    assert suggestion.gain == (
        "first call in a new process 30.0 s → 2.00 s, then 1.50× faster than eager"  # noqa: RUF001
    )
    assert (suggestion.basis, suggestion.study, suggestion.view) == ("measured", "", "sweep")
    assert suggestion.code.startswith("for block in ")
    nested.cold_s = 1.0
    suggestion = overview(report).suggestions[-1]
    assert (suggestion.gain, suggestion.code) == (
        "first call in a new process 30.0 s → 1.00 s",
        "nested",
    )
    # A file of an earlier version has not measured the whole in a new process.
    python.ways = [blocks, nested]
    assert overview(report).suggestions[-1].gain == "first call in a new process 1.00 s"


@pytest.mark.parametrize(
    ("change", "gain", "basis"),
    [
        (
            {"cold_s": 29.9},
            (
                "no gain: first call in a new process 30.0 s → 29.9 s, then 1.50× faster "  # noqa: RUF001
                "than eager"
            ),
            "measured",
        ),
        ({"accurate": False}, "failed: the results differ from eager's", "unknown"),
        (
            {"cold_s": None, "problem": Problem(severity="warning", what="It was killed.")},
            "failed: It was killed.",
            "unknown",
        ),
        ({"cold_s": None, "why": "No list."}, "failed: No list.", "unknown"),
    ],
)
def test_blocks_that_were_tried_in_vain_stay_with_what_came_of_it(
    change: dict[str, Any], gain: str, basis: str
) -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    over = speedup(Ratio(1.5, (1.4, 1.6), True), "eager")
    blocks = DeployWay(name=BLOCKS, cold_s=2.0, accurate=True, speedup=over)
    whole = DeployWay(name=WHOLE, cold_s=30.0, accurate=True)
    python.ways = [whole, msgspec.structs.replace(blocks, **change)]
    # Even where five others promise more.
    python.breaks = [
        DistinctBreak(cause=Break(reason=f"Call {line}", where=SourceLine(file="cell", line=line)))
        for line in range(5)
    ]
    suggestion = overview(report).suggestions[-1]
    assert suggestion.what.startswith("Compile the repeated block once")
    assert (suggestion.gain, suggestion.basis, suggestion.code) == (gain, basis, "")
    assert suggestion.study == ("" if basis == "measured" else "blocks")


def test_blocks_whose_trial_could_not_start_say_why() -> None:
    report = make_report(eager=60.0, python=40.0)
    python = report.variant("python")
    python.compilations, python.compile_time = [graph_of(12)], CompileTime(total_s=12.0)
    python.problems = [
        Problem(severity="warning", what="The study of blocks failed.", why="It is a lambda.")
    ]
    suggestion = overview(report).suggestions[-1]
    assert (suggestion.gain, suggestion.study) == ("failed: It is a lambda.", "blocks")


@pytest.mark.parametrize(
    ("variable", "arguments", "written"),
    [
        ("L_self_modules_transformer", ["x: float32[4]"], "model.transformer.h"),
        # ``def forward(transformer, x)``: the object need not be called self.
        ("L_transformer", ["x: float32[4]"], "model.h"),
        ("L_transformer", ["transformer: Transformer"], "transformer.h"),
        ("G_transformer", ["x: float32[4]"], "transformer.h"),
    ],
)
def test_blocks_are_named_as_the_caller_knows_them(
    variable: str, arguments: list[str], written: str
) -> None:
    compilation = graph_of(12)
    compilation.graphs["dynamo"].nodes[0].target = f"{variable}_modules_h_modules_0_weight_"
    subject = Subject(id="s", name="Net", kind="module", arguments=arguments)
    assert written_path("transformer.h", compilation, subject) == written


@pytest.mark.parametrize(
    ("kind", "code", "written"),
    [
        ("module", "gpt(ids)", "gpt.transformer.h"),
        ("module", "logits = trainer.net(ids)", "trainer.net.transformer.h"),
        ("method", "gpt.generate(ids)", "gpt.transformer.h"),
        ("module", "report = cs.inspect(gpt, (ids,))", "gpt.transformer.h"),
        ("method", "inspect(gpt.generate, (ids,))", "gpt.transformer.h"),
        ("module", "make(2)(ids)", "model.transformer.h"),
        ("module", "for x in xs: gpt(x)", "model.transformer.h"),
    ],
)
def test_the_model_has_the_name_that_its_call_has(
    kind: Literal["module", "method"], code: str, written: str
) -> None:
    call = SourceLine(file="cell", line=2, code=code)
    subject = Subject(id="s", name="GPT", kind=kind, call=call)
    assert written_path("transformer.h", graph_of(12), subject) == written
