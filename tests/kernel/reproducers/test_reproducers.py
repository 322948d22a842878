"""Programs that run one kernel or one graph of a report by themselves."""

from __future__ import annotations

import ast
import runpy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.cli import main
from compilescope.processes.runner import Ended
from compilescope.report import (
    Code,
    Compilation,
    Graph,
    Kernel,
    Launch,
    Node,
    Report,
    Subject,
    VariantReport,
)
from compilescope.report.compilation.artifacts import RawEvent
from compilescope.reproducers import kernel_program, reproduce, trial_process
from compilescope.reproducers.graph_functions import index_bounds
from compilescope.reproducers.program import Program, Reproducer
from compilescope.reproducers.program_parts import COMPARE
from compilescope.reproducers.trial_process import Trial
from compilescope.reproducers.wrapper_slice import slice_launch
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


@pytest.mark.slow
def test_every_kernel_runs_by_itself_and_agrees(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = report.compilation("0/0").kernels
    assert {kernel.language for kernel in kernels} == {"cpp", "extern"}
    assert {kernel.direction for kernel in kernels} == {"forward", "backward"}
    for kernel in kernels:
        reproducer = cs.reproducer(report, kernel=kernel.name, run=False)
        assert reproducer.tried == "not tried"
        code, output = run(reproducer.save(tmp_path), capsys)
        assert code == 0, output
        assert "agrees" in output
        assert f"{kernel.name}: " in output.splitlines()[-1]


def convolved(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return nn.functional.conv2d(x.transpose(0, 1), weight)


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_dynamo")
def test_copies_into_another_layout_are_compared() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).eval()
    with torch.no_grad():
        report = cs.inspect(model, (torch.randn(2, 3, 9, 9),), run=False)
    for kernel in report.compilation("0/0").kernels:
        program = cs.reproducer(report, kernel=kernel.name)
        assert (program.tried, program.unchecked) == ("agrees", ""), program
    # A transposed copy has the same shape as its source, and other values.
    call = (torch.randn(8, 8, 3, 3), torch.randn(4, 8, 3, 3))
    compilation = cs.inspect(convolved, call, run=False).compilation("0/0")
    assert "arg1_1" in compilation.code.buffers.values()
    assert "arg0_1" not in compilation.code.buffers.values()
    # Nor is it the only value that the kernel may read.
    call = (torch.randn(8, 8, 5, 5), torch.randn(4, 8, 3, 3))
    report = cs.inspect(lambda x, weight: convolved(x + 1, weight), call, run=False)
    program = cs.reproducer(report, kernel="extern_kernels.convolution")
    assert (program.tried, program.why) == ("ran", ""), program.output


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_dynamo")
def test_a_graph_is_compiled_by_itself(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reproducer = cs.reproducer(report, graph="backward_post_grad", run=False)
    code, output = run(reproducer.save(tmp_path), capsys)
    assert code == 0, output
    assert "result 0: agrees" in output
    assert "compiled: " in output


@pytest.mark.slow
def test_sizes_that_are_symbols_have_the_numbers_that_torch_compiled_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dynamic = {"python": cs.Variant(dynamic=True)}
    report = cs.inspect(
        scaled, (torch.randn(12, 7), torch.randn(12, 7)), variants=dynamic, run=False
    )
    (kernel,) = report.compilations[0].kernels
    reproducer = cs.reproducer(report, kernel=kernel.name, run=False)
    code, output = run(reproducer.save(tmp_path), capsys)
    assert code == 0, output
    assert "agrees" in output


@pytest.mark.slow
def test_a_kernel_that_computes_something_else_is_told(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = next(
        kernel for kernel in report.compilation("0/0").kernels if "softmax" in kernel.name
    )
    reproducer = cs.reproducer(report, kernel=kernel.name, run=False)
    assert ".exp()" in reproducer.code
    reproducer.code = reproducer.code.replace(".exp()", ".cos()")
    code, output = run(reproducer.save(tmp_path), capsys)
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


def test_what_a_kernel_keeps_in_float32_is_judged_as_the_half_precision_of_its_inputs() -> None:
    program: dict[str, Any] = {"torch": torch}
    exec(COMPARE, program)
    half = torch.randn(1000, 8, generator=torch.Generator().manual_seed(0)).half()
    result, rounded = half.float().sin().mean(1), half.sin().float().mean(1)
    assert not torch.allclose(result, rounded, rtol=1e-6, atol=0)
    assert program["compare"]("mean", result, rounded, rounded.double(), [half])
    assert not program["compare"]("mean", result * 1.01, rounded, rounded.double(), [half])
    largest = half.argmax(1)
    nearly = largest.clone()
    nearly[:20] = 1 - nearly[:20].clamp(max=1)
    assert program["compare"]("indices", nearly, largest, largest, [half])
    assert not program["compare"]("indices", nearly, largest, largest, [largest])
    assert not program["compare"]("indices", 7 - largest, largest, largest, [half])


CONVOLUTION = """
from torch._inductor.async_compile import AsyncCompile
async_compile = AsyncCompile()
triton_poi_fused_convolution_0 = async_compile.triton('triton_poi_fused_convolution_0', '')

def call(args):
    primals_1, primals_2, primals_3 = args
    args.clear()
    buf0 = extern_kernels.convolution(primals_3, primals_1, stride=(1, 1), bias=None)
    assert_size_stride(buf0, (4, 8, 30, 30), (7200, 900, 30, 1), 'convolution')
    buf1 = buf0; del buf0  # reuse
    triton_poi_fused_convolution_0.run(buf1, primals_2, 28800, stream=stream0)
    return (buf1, )

def get_args():
    primals_2 = rand_strided((8, ), (1, ), device='cuda')
    primals_3 = rand_strided((4, 3, 32, 32), (3072, 1024, 32, 1), device='cuda')
    return [primals_2, primals_3]
"""


def test_a_bias_added_in_place_has_memory_as_the_librarys_kernel_leaves_it() -> None:
    line = CONVOLUTION[: CONVOLUTION.index("triton_poi_fused_convolution_0.run")].count("\n") + 1
    memory = "\n".join(slice_launch(CONVOLUTION, line).memory)
    assert memory.startswith("primals_2 = rand_strided")
    assert "primals_3 = rand_strided" in memory
    layout = "(4, 8, 30, 30), (7200, 900, 30, 1), dtype=primals_3.dtype, device=primals_3.device"
    assert f"buf0 = empty_strided({layout})" in memory
    assert "buf1 = buf0" in memory


GRAPH = """
class GraphModule(torch.nn.Module):
    def forward(self, primals_1, primals_2, primals_3):
        convolution = torch.ops.aten.convolution.default(primals_3, primals_1, primals_2, [1, 1])
        relu = torch.ops.aten.relu.default(convolution);  convolution = None
        return (relu,)
"""


def test_a_bias_that_a_kernel_adds_is_not_in_what_it_reads_of_the_convolution() -> None:
    line = CONVOLUTION[: CONVOLUTION.index("triton_poi_fused_convolution_0.run")].count("\n") + 1
    sliced = slice_launch(CONVOLUTION, line)
    kernel = Kernel(
        name="triton_poi_fused_convolution_0",
        language="triton",
        source="def triton_poi_fused_convolution_0(in_out_ptr0, in_ptr0, xnumel):",
    )
    node = Node(
        name="convolution",
        op="call_function",
        target="aten.convolution.default",
        args="primals_3, primals_1, primals_2, [1, 1]",
        shape=["4", "8", "30", "30"],
    )
    graph = Graph(stage="post_grad", text=GRAPH, nodes=[node])
    code = Code(python=CONVOLUTION, buffers={"buf0": "convolution", "buf1": "relu"})
    launch = Launch(artifact="python", variant="python", line=line, end=line, key=kernel.name)
    reference = kernel_program._reference(kernel, launch, code, graph, sliced)
    assert reference.inputs == {"primals_2": "primals_2", "convolution_without_bias": "buf1"}
    names: dict[str, Any] = {"torch": torch}
    exec(reference.code, names)
    bias, left = torch.randn(8), torch.randn(4, 8, 30, 30)
    result = names["reference"](bias, left)["buf1"]
    torch.testing.assert_close(result, torch.relu(left + bias[:, None, None]))


def test_places_in_a_window_that_are_made_up_are_in_it() -> None:
    target = "prims._low_memory_max_pool_offsets_to_indices.default"
    nodes = [
        Node(name="getitem", op="placeholder", target="getitem", users=["places"], dtype="int8"),
        Node(
            name="places",
            op="call_function",
            target=target,
            args="getitem, [2, 3], [28, 28], [2, 2], [0, 0], [1, 1]",
        ),
    ]
    assert index_bounds(["getitem"], {node.name: node for node in nodes}) == {"getitem": 6}


@pytest.mark.slow
def test_it_is_tried_in_a_process_of_its_own(report: Report) -> None:
    kernel = next(
        kernel for kernel in report.compilation("0/0").kernels if "softmax" in kernel.name
    )
    reproducer = cs.reproducer(report, kernel=kernel.name, compilation="0/0", variant="cpp")
    assert reproducer.tried == "agrees", reproducer.output
    assert "us a call" in reproducer.output
    assert "ran in a new process and agrees" in str(reproducer)


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="what happens where there is no GPU")
def test_a_triton_kernel_says_that_it_was_not_tried() -> None:
    report = cs.read_trace(TRACE)
    kernel = next(
        kernel for kernel in report.compilations[0].kernels if kernel.language == "triton"
    )
    reproducer = cs.reproducer(report, kernel=kernel.name)
    assert reproducer.tried == "not tried"
    assert reproducer.why == "It needs a GPU, and there is none on this machine."
    defined = {
        target.id
        for statement in ast.parse(reproducer.code).body
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


RUNNABLE = """
import os
os.environ['TORCH_TRACE'] = '{folder}'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '{folder}/caches'
import torch
class Repro(torch.nn.Module):
    def forward(self, arg0_1):
        return (torch.ops.aten.mm.default(arg0_1, arg0_1),)
def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4), is_leaf=True)
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command={command!r}, save_dir=None,
                  tracing_mode='real', check_str=None)
"""
"""As torch logs a program."""


def logged(text: str) -> Report:
    """The report of a trace with a program of torch's, and another one of the backward."""
    events = [
        RawEvent(name="fx_graph_runnable", text=text),
        RawEvent(name="fx_graph_runnable (2)", text="import torch  # the backward\n"),
    ]
    compilation = Compilation(id="0/0", raw=events)
    return Report(
        subject=Subject(id="s", name="f", kind="callable"),
        variants=[VariantReport(name="trace", requested=cs.Variant(), compilations=[compilation])],
    )


@pytest.mark.slow
def test_a_program_of_torchs_runs_and_leaves_the_traced_processs_folders(tmp_path: Path) -> None:
    folder = tmp_path / "traced"
    text = RUNNABLE.format(folder=folder, command="run")
    program = cs.reproducer(logged(text), graph="fx_graph_runnable", compilation="0/0")
    assert (program.tried, program.why) == ("ran", ""), program.output
    assert "(nothing is compared: torch's own program only" in str(program)
    assert not folder.exists()
    backward = "fx_graph_runnable (2)"
    program = cs.reproducer(logged(text), graph=backward, compilation="0/0", run=False)
    assert "the backward" in program.code
    assert program.file_name == "fx_graph_runnable_2_0_0.py"
    # A status of torch's own is no difference.
    text = RUNNABLE.format(folder=folder, command="no command")
    program = cs.reproducer(logged(text), graph="fx_graph_runnable", compilation="0/0")
    assert (program.tried, program.why) == ("failed", "It ended with the exit status 2.")


@pytest.mark.parametrize(
    ("line", "device"),
    [
        ("# torch cuda version: None", "cpu"),
        ("torch._inductor.config.cuda.arch = None", "cpu"),
        ("    buf0 = reader.storage(None, 8, device=device(type='cuda', index=0))", "cuda"),
        ('    x = torch.empty(8, device="cuda:0")', "cuda"),
    ],
)
def test_a_program_of_torchs_needs_a_gpu_if_its_tensors_are_there(line: str, device: str) -> None:
    report = logged(f"import torch\n{line}\n")
    program = cs.reproducer(report, graph="fx_graph_runnable", compilation="0/0", run=False)
    assert program.device == device


@pytest.mark.parametrize(
    ("output", "tried"),
    [
        ("buf0: equal\n", "agrees"),
        ("buf0: agrees, off by 1e-07\n", "agrees"),
        ("buf0: 3 differ, not judged: rounding decides between nearly equal values\n", "ran"),
        ("kernel: 3.1 us\n", "ran"),
    ],
)
def test_a_program_that_checks_a_part_agrees_if_anything_was_compared(
    output: str, tried: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = msgspec.json.encode(Trial("agrees", output=output))
    monkeypatch.setattr(reproduce, "run", lambda *_, **__: Ended(how="done", result=result))
    program = Program("it", "it.py", "", "cpu", "it draws random numbers")
    reproducer = Reproducer(**asdict(program))
    reproduce._try(program, reproducer, lambda: False)
    assert reproducer.tried == tried


@pytest.mark.slow
def test_in_a_terminal_it_is_told_in_the_words_of_the_command_line(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = report.save(tmp_path / "report.json"), tmp_path / "linear.py"
    asked = ["reproduce", str(file), "--no-run"]
    assert main([*asked, "--graph", "post_grad", "-o", str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.out == "post_grad of 0/0: was not tried\nOnly its text was requested.\n"
    lines = len(path.read_text().splitlines())
    assert printed.err == f"compilescope: wrote {path}, {lines} lines\n"
    assert main([*asked, "--minify"]) == 2
    assert "Give --minify with neither --kernel nor --no-run." in capsys.readouterr().err


def with_constants(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.addmm(x, x * 0.7312349 + 1.0, y, alpha=0.6543217) / y.sum()


@pytest.mark.slow
def test_a_redacted_report_says_that_it_lacks_the_constants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = cs.inspect(
        with_constants, (torch.randn(8, 8), torch.randn(8, 8)), variants="python", run=False
    )
    complete.variants[0].stage = "failed"  # so that there is something to make smaller
    file = complete.save(tmp_path / "redacted.json", redact=True)
    monkeypatch.chdir(tmp_path)
    kernels = [kernel.name for kernel in complete.compilations[0].kernels]
    parts = [["--graph", "dynamo"], ["--graph", "post_grad"], ["--minify"]]
    for part in [["--kernel", kernels[0]], *parts]:
        assert main(["reproduce", str(file), *part]) == 2
        output = capsys.readouterr()
        assert not output.out
        assert "This report was saved without constants (redacted)" in output.err
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.slow
def test_a_kernel_without_constants_of_a_redacted_report_is_reproduced() -> None:
    report = cs.inspect(
        lambda x: (x * 0.7312349).sum(0) @ x, (torch.randn(8, 8),), variants="python", run=False
    )
    reproducer = cs.reproducer(report.redacted(), kernel="extern_kernels.mm")
    assert reproducer.tried == "ran"
    assert reproducer.unchecked == "the report was saved without the graph's constants (redacted)"


def test_the_errors_of_a_compiler_are_shown_and_not_its_warnings() -> None:
    output = "\n".join(["warning: unused"] * 9000 + ["x.cpp:3:7: error: expected ';'", "more"])
    why = trial_process._why(RuntimeError(f"C++ compile error\n\nOutput:\n{output}"))
    assert why == "RuntimeError: C++ compile error: x.cpp:3:7: error: expected ';'"
    program = Reproducer(
        what="k", file_name="k.py", code="", device="cpu", tried="failed", why=why, output=output
    )
    assert "expected ';'" in str(program)
    assert len(str(program)) < 500
    assert len(trial_process._why(RuntimeError("x y " * 9000))) < 1100


@pytest.mark.slow
def test_of_a_graph_that_cannot_be_run_the_other_stages_are_listed() -> None:
    report = cs.inspect(
        lambda x: x + torch.tensor([1.0, 2.0, 3.0]), (torch.randn(3),), variants="python", run=False
    )
    with pytest.raises(cs.CompilescopeError, match="It has constants") as failed:
        cs.reproducer(report, graph="post_grad")
    assert "'dynamo'" in failed.value.problem.remedy
    assert "'post_grad'" not in failed.value.problem.remedy
    graphs = report.compilations[0].graphs
    report.compilations[0].graphs = {"post_grad": graphs["post_grad"]}
    with pytest.raises(cs.CompilescopeError, match="It has constants") as failed:
        cs.reproducer(report, graph="post_grad")
    assert not failed.value.problem.remedy


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Torchinductor does not support:UserWarning")
def test_a_kernel_after_an_operator_of_unknown_layout_names_the_graph_instead() -> None:
    complex_call = (torch.randn(8, 8, dtype=torch.complex64),)
    report = cs.inspect(lambda x: x.abs() * 2 + 1, complex_call, variants="python", run=False)
    with pytest.raises(cs.CompilescopeError, match=r"does not have its layout.*post_grad"):
        cs.reproducer(report, kernel="cpp_fused_add_mul_0")
    assert cs.reproducer(report, graph="post_grad", run=False).code
