"""Programs that run one kernel or one graph of a report by themselves."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from compilescope.reproducers.program_parts import COMPARE
from torch import nn

TRACE = Path(__file__).parents[2] / "data" / "traces" / "h200-torch2.11-train_mlp_python.log.gz"


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 16)
        self.linear = nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        y = self.norm(torch.relu(self.linear(x)) + self.embedding(indices))
        return torch.softmax(y, -1)[indices]


def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * y.sum(0)).softmax(-1)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of a training call, as it comes out of a file."""
    torch.manual_seed(0)
    call = (torch.randn(12, 16), torch.randint(0, 10, (12,)))
    report = cs.inspect(Model(), call, run=False)
    return cs.load(report.save(tmp_path_factory.mktemp("report") / "report.json"))


def run(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """How a program ends, and what it prints."""
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    return ended.value.code, capsys.readouterr().out


def test_every_kernel_runs_by_itself_and_agrees(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = report.compilation("0/0").kernels
    assert {kernel.language for kernel in kernels} == {"cpp", "extern"}
    assert {kernel.direction for kernel in kernels} == {"forward", "backward"}
    for kernel in kernels:
        made = cs.reproducer(report, kernel=kernel.name, run=False)
        assert made.tried == "not tried"
        code, output = run(made.save(tmp_path), capsys)
        assert code == 0, output
        assert "agrees" in output
        assert f"{kernel.name}: " in output.splitlines()[-1]


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_graph_is_compiled_by_itself(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = cs.reproducer(report, graph="backward_post_grad", run=False)
    code, output = run(made.save(tmp_path), capsys)
    assert code == 0, output
    assert "result 0: agrees" in output
    assert "compiled: " in output


def test_sizes_that_are_symbols_have_the_numbers_that_torch_compiled_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dynamic = {"python": cs.Variant(dynamic=True)}
    report = cs.inspect(
        scaled, (torch.randn(12, 7), torch.randn(12, 7)), variants=dynamic, run=False
    )
    (kernel,) = report.compilations[0].kernels
    made = cs.reproducer(report, kernel=kernel.name, run=False)
    code, output = run(made.save(tmp_path), capsys)
    assert code == 0, output
    assert "agrees" in output


def test_a_kernel_that_computes_something_else_is_told(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = next(
        kernel for kernel in report.compilation("0/0").kernels if "softmax" in kernel.name
    )
    made = cs.reproducer(report, kernel=kernel.name, run=False)
    assert ".exp()" in made.code
    made.code = made.code.replace(".exp()", ".cos()")
    code, output = run(made.save(tmp_path), capsys)
    assert code == 1
    assert "DIFFERS" in output


def test_a_sum_in_another_order_agrees_and_one_that_lacks_numbers_does_not() -> None:
    program: dict[str, Any] = {"torch": torch}
    exec(COMPARE, program)
    torch.manual_seed(0)
    x = torch.randn(30_000, 4)
    in_order = torch.zeros(4)
    for row in x:
        in_order += row
    exact = x.double().sum(0)
    eager = exact.float()
    assert not torch.allclose(in_order, eager, rtol=1e-6, atol=0)
    assert program["compare"]("sum", in_order, eager, exact, [x])
    assert not program["compare"]("sum", in_order - x[0], eager, exact, [x])


@pytest.mark.slow
def test_it_is_tried_in_a_process_of_its_own(report: Report) -> None:
    kernel = next(
        kernel for kernel in report.compilation("0/0").kernels if "softmax" in kernel.name
    )
    made = cs.reproducer(report, kernel=kernel.name, compilation="0/0", variant="cpp")
    assert made.tried == "agrees", made.output
    assert "us a call" in made.output
    assert "ran in a new process and agrees" in str(made)


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="what happens where there is no GPU")
def test_a_triton_kernel_says_that_it_was_not_tried() -> None:
    report = cs.read_trace(TRACE)
    kernel = next(
        kernel for kernel in report.compilations[0].kernels if kernel.language == "triton"
    )
    made = cs.reproducer(report, kernel=kernel.name)
    assert made.tried == "not tried"
    assert made.why == "It needs a GPU, and there is none on this machine."
    defined = {
        target.id
        for statement in ast.parse(made.code).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    assert kernel.name in defined


def test_what_cannot_be_reproduced_says_why(report: Report) -> None:
    with pytest.raises(cs.CompilescopeError, match="one kernel or one graph"):
        cs.reproducer(report)
    with pytest.raises(cs.CompilescopeError, match="no kernel 'none'"):
        cs.reproducer(report, kernel="none")
    with pytest.raises(cs.CompilescopeError, match="no graph 'none'"):
        cs.reproducer(report, graph="none")
    with pytest.raises(cs.CompilescopeError, match="no fx_graph_runnable"):
        cs.reproducer(report, graph="fx_graph_runnable")
