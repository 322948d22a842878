"""Programs of calls with several results."""

from __future__ import annotations

import runpy
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.report import Graph, Node, Report
from compilescope.reproducers.graph_functions import reference_of
from torch import nn

FORWARD = """
def forward(self, q, k, v):
    attention = torch.ops.aten._scaled_dot_product_efficient_attention.default({arguments})
    getitem = attention[0]
    getitem_1 = attention[1]
    backward = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(q, getitem)
    getitem_2 = backward[0]
    lstm = torch.ops.aten.mkldnn_rnn_layer.default(q)
    getitem_3 = lstm[0]
    getitem_4 = lstm[3]
    drawn = torch.ops.aten.native_dropout.default(q, 0.5, True)
    getitem_5 = drawn[0]
    return (getitem, getitem_1, getitem_2, getitem_3, getitem_4, getitem_5)
"""


class Ranked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = (self.convolution(x).relu() * 2).flatten(1).topk(3)
        return values + 1, places


@pytest.fixture(scope="module")
def report() -> Report:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    return cs.inspect(Ranked(), (x,), run=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "results"),
    [("torch.ops.aten.topk.default", 2), ("torch.ops.aten.convolution_backward.default", 3)],
)
def test_every_result_of_a_call_is_compared(
    report: Report,
    kernel: str,
    results: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = cs.reproducer(report, kernel=kernel)
    assert (program.tried, program.unchecked) == ("agrees", ""), program
    *compared, timed = program.output.strip().splitlines()
    assert len(compared) == results
    assert timed.startswith(kernel)
    # A wrong last result is noticed.
    path = program.save(tmp_path)
    code = path.read_text()
    end = next(line for line in code.split("\n") if line.startswith("    return buf"))
    path.write_text(code.replace(end, f"{end} + 1"))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()[:results]
    assert ended.value.code == 1
    assert ["DIFFERS" in line for line in lines] == [False] * (results - 1) + [True]


@pytest.mark.parametrize(
    ("node", "arguments", "why"),
    [
        ("getitem", "q, k, v, None, True, 0.0, False", ""),
        ("getitem", "q, k, v, None, True, 0.1, False", "random numbers, which differ in each run"),
        ("getitem_1", "q, k, v, None, True, 0.0, False", "that the attention keeps"),
        ("getitem_2", "q, k, v, None, True", "random numbers are no substitute"),
        ("getitem_3", "q, k, v", ""),
        ("getitem_4", "q, k, v", "memory that the operator keeps for its backward"),
        ("getitem_5", "q, k, v", "random numbers, which differ in each run"),
    ],
)
def test_results_that_may_differ_in_each_run_are_not_compared(
    node: str, arguments: str, why: str
) -> None:
    workspace = Node(name="getitem_4", op="call_function", target="getitem", dtype="uint8")
    text = "class GraphModule(torch.nn.Module):" + FORWARD.format(arguments=arguments).replace(
        "\n", "\n    "
    )
    graph = Graph(stage="post_grad", text=text, nodes=[workspace])
    inputs = {name: f"arg_{name}" for name in ("q", "k", "v")}
    reference = reference_of(graph, inputs, {"buf1": node})
    assert why in reference.why
    assert bool(reference.why) == bool(why)
    assert bool(reference.code) == (not why)


def test_a_result_without_a_reference_says_what_is_missing() -> None:
    text = """
class GraphModule(torch.nn.Module):
    def forward(self, x):
        sum_1 = torch.ops.aten.sum.default(x)
        _tensor_constant0 = self._tensor_constant0
        mul = torch.ops.aten.mul.Tensor(sum_1, _tensor_constant0)
        return (sum_1, mul)
"""
    graph = Graph(stage="post_grad", text=text, nodes=[])
    assert reference_of(graph, {}, {"buf0": "sum_1"}).why == (
        "sum_1 is computed from x, and torch does not say which argument of the kernel holds x"
    )
    assert reference_of(graph, {"sum_1": "buf0"}, {"buf1": "mul"}).why == (
        "mul depends on a constant, self._tensor_constant0, whose values are not in the report"
    )
