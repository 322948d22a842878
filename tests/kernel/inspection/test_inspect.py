"""What a report says of every kind of subject, from sources alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.builds.capture_graphs import capture
from compilescope.inspection import code_generation
from compilescope.isolation.code_swap import CodeCopies
from compilescope.report import STAGES, Code, Compilation, Report
from compilescope.session.session import Session
from compilescope.subject.functions import functions_of
from compilescope.torch_api.process.environment import environment
from compilescope.torch_api.process.patching import patched
from compilescope.torch_api.trace.graphs import _module_path
from torch._inductor.graph import GraphLowering

from .. import subjects
from ..subjects import Call

pytestmark = pytest.mark.slow

HERE = str(Path(subjects.__file__))


def sources(call: Call, **options: Any) -> Report:
    return Session().inspect(call.fn, call.args, call.kwargs, run=False, **options)


KINDS: dict[str, tuple[Callable[[], Call], str, str, bool]] = {
    "function": (lambda: Call(subjects.plain, (torch.randn(4, 8),)), "function", "plain", False),
    "lambda": (lambda: Call(lambda x: x * 2, (torch.randn(3),)), "lambda", "<lambda>", False),
    "closure": (subjects.closure, "lambda", "<lambda>", False),
    "keywords": (
        lambda: Call(subjects.two, (torch.randn(4),), {"shift": 1.5}),
        "function",
        "two",
        False,
    ),
    "method": (subjects.method, "method", "Scaler.scale", False),
    "callable": (subjects.callable_object, "callable", "Scaler", False),
    "module": (subjects.module, "module", "Net", True),
    "module, inference": (subjects.frozen, "module", "Net", False),
    "training step": (subjects.training, "function", "step", True),
    "subclass": (
        lambda: Call(subjects.plain, (torch.randn(4, 8).as_subclass(subjects.Tagged),)),
        "function",
        "plain",
        False,
    ),
    "compiled": (subjects.compiled, "function", "plain", False),
    "compiled module": (subjects.compiled_module, "module", "Net", True),
    "compiled in place": (subjects.compiled_in_place, "module", "Net", True),
    "cell": (subjects.from_cell, "function", "double", False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_subject(kind: str) -> None:
    make, shown, name, trains = KINDS[kind]
    call = make()
    report = sources(call)
    assert (report.subject.kind, report.subject.name) == (shown, name)
    assert len(report.subject.arguments) == len(call.args) + len(call.kwargs or {})
    assert [problem.what for problem in report.problems] == []
    assert [(variant.name, variant.stage, variant.problems) for variant in report.variants] == [
        ("python", "sources", []),
        ("cpp", "sources", []),
    ]
    for variant in report.variants:
        (compilation,) = variant.compilations
        assert compilation.id == "0/0"
        codes = [compilation.code, compilation.code.backward]
        assert (codes[1] is not None) == trains
        for code in codes[: 1 + trains]:
            assert code is not None
            check_wrapper(code, variant.name)
        assert compilation.kernels
        assert compilation.guards
        check_stages(compilation, trains=trains)


def check_wrapper(code: Code, variant: str) -> None:
    if variant == "python":
        assert code.python is not None
        assert "def call(" in code.python
        compile(code.python, "wrapper", "exec")
        assert (code.cpp, code.shell) == (None, None)
        assert {"cpp", "shell"} <= set(code.absent)
        return
    assert code.cpp is not None
    assert code.shell is not None
    assert "inductor_entry_impl" in code.cpp
    assert "import torch" not in code.cpp
    assert "cpp_wrapper_src" not in code.cpp
    assert "inductor_entry_impl(" not in code.shell.replace("inductor_entry_impl(inputs", "")
    assert code.python is None
    assert "python" in code.absent


def check_stages(compilation: Compilation, *, trains: bool) -> None:
    expected = {"dynamo", "before_pre_grad", "pre_grad", "before_post_grad", "post_grad"}
    expected |= (
        {"joint", "forward", "backward", "backward_before_post_grad", "backward_post_grad"}
        if trains
        else {"inference"}
    )
    assert expected <= set(compilation.graphs)
    for stage in STAGES:
        assert (stage in compilation.graphs) != (stage in compilation.absent), stage
    for stage, graph in compilation.graphs.items():
        assert graph.stage == stage
        assert graph.text
        assert graph.nodes[-1].op == "output"


def test_nodes_say_what_torch_knows_of_them() -> None:
    report = sources(subjects.training())
    graphs = report.compilation("0/0", "python").graphs
    linear = next(node for node in graphs["dynamo"].nodes if "linear" in node.target)
    assert linear.op == "call_function"
    assert (linear.shape, linear.stride, linear.dtype, linear.device) == (
        ["4", "4"],
        ["4", "1"],
        "float32",
        "cpu",
    )
    assert linear.users == ["relu"] or "relu" in linear.users[0]
    assert len(linear.inputs) == 3
    assert linear.module == "net.inner"
    assert linear.module_type == "torch.nn.modules.linear.Linear"
    ours = [line for line in linear.sources if line.file == HERE]
    assert [line.function for line in ours] == ["step", "forward"]
    assert ours[1].code == "return self.norm(self.inner(x).relu())"
    text = graphs["dynamo"].text.splitlines()
    assert linear.line is not None
    assert linear.name in text[linear.line - 1]
    aten = next(node for node in graphs["post_grad"].nodes if "aten." in node.target)
    assert aten.shape is not None
    assert [line for line in aten.sources if line.file == HERE]


def test_a_module_path_is_as_in_named_modules() -> None:
    only = [cs.Variant(backend="eager")]
    deep = torch.nn.Sequential(torch.nn.ModuleDict({"a b": subjects.Net()})["a b"])
    for module, expected in ((deep, {"0.inner", "0.norm"}), (subjects.Net(), {"inner", "norm"})):
        report = sources(Call(module, (torch.randn(4, 8),)), variants=only)
        nodes = report.compilation("0/0").graphs["dynamo"].nodes
        assert {node.module for node in nodes if "linear" in node.name or "norm" in node.name} >= (
            expected
        )


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("G['__import___main__'].net", "net"),
        ("G['__import_a_dot_b'].net._modules['0']", "net.0"),
        ("G['net'].layers.0", "net.layers.0"),
        ("L['self'].layers.0", "layers.0"),
        ("L['self'].__dict__['_modules']['net'].0", "net.0"),
        ("L['self']", ""),
    ],
)
def test_a_module_path_has_no_name_of_dynamos_own(source: str, path: str) -> None:
    assert _module_path(source) == path


def test_kernels_name_their_launches_operators_and_origins() -> None:
    report = sources(Call(subjects.plain, (torch.randn(4, 8),)))
    python, cpp = (report.compilation("0/0", name) for name in ("python", "cpp"))
    (kernel,) = python.kernels
    assert kernel.language == "cpp"
    assert 'extern "C"' in kernel.source
    assert {op.split(".")[1] for op in kernel.ops} == {"sin", "add", "sum"}
    assert {launch.artifact for launch in kernel.launches} == {"python", "cpp"}
    whole = report.compilation("0/0")
    for launch in kernel.launches:
        text = getattr(whole.code, launch.artifact)
        lines = text.splitlines()[launch.line - 1 : launch.end]
        assert any(kernel.name in line for line in lines), launch
    names = {node.name for node in python.graphs["post_grad"].nodes}
    assert kernel.nodes
    assert set(kernel.nodes) <= names
    assert [line.code for line in kernel.sources if line.file == HERE] == [
        "return (x.sin() + 1).sum(1)"
    ]
    keys = {region.key for region in python.code.regions["python"] if region.kind == "launch"}
    assert keys
    assert keys == {r.key for r in cpp.code.regions["cpp"] if r.kind == "launch"}


def test_guards_have_expression_source_and_origin() -> None:
    report = sources(Call(subjects.plain, (torch.randn(4, 8),)))
    guards = report.compilation("0/0", "python").guards
    tensor = next(guard for guard in guards if guard.type == "TENSOR_MATCH")
    assert tensor.source == "L['x']"
    assert "check_tensor(L['x']" in tensor.expression
    assert tensor.origin is not None
    assert (tensor.origin.file, tensor.origin.code) == (HERE, "return (x.sin() + 1).sum(1)")
    assert all(guard.expression for guard in guards)


def test_guards_of_library_code_name_its_files_in_full_and_every_relation() -> None:
    def twice(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(layer(x)) + y

    layer = torch.nn.Linear(4, 4)
    report = sources(Call(twice, (torch.randn(2, 4), torch.randn(2, 4))))
    guards = report.compilation("0/0", "python").guards
    files = {guard.origin.file for guard in guards if guard.origin is not None}
    assert any(Path(file).parts[-3:] == ("nn", "modules", "linear.py") for file in files)
    assert all(Path(file).is_absolute() for file in files if not file.startswith("<"))
    related = [guard.expression for guard in guards if guard.type == "NO_TENSOR_ALIASING"]
    assert len(related) == 2
    assert all("check_no_aliasing(" in expression for expression in related)


def test_breaks_have_reason_hint_and_link(capsys: pytest.CaptureFixture[str]) -> None:
    report = sources(Call(subjects.broken, (torch.randn(4),)))
    assert capsys.readouterr().out == ""
    compilations = report.variant("python").compilations
    assert len({compilation.id for compilation in compilations}) == len(compilations) >= 4
    breaks = [graph_break for compilation in compilations for graph_break in compilation.breaks]
    asked = next(graph_break for graph_break in breaks if "graph_break()" in graph_break.reason)
    assert asked.where is not None
    assert (asked.where.file, asked.where.function) == (HERE, "broken")
    assert asked.explanation
    assert asked.hints
    assert asked.link.startswith("https://")
    assert any("Data-dependent" in graph_break.reason for graph_break in breaks)
    assert [compilation.id for compilation in report.variant("cpp").compilations] == [
        compilation.id for compilation in compilations
    ]


def test_a_cell_is_kept_with_the_report() -> None:
    report = sources(subjects.from_cell())
    assert report.subject.where is not None
    assert report.subject.where.line == 2
    file = report.subject.where.file
    assert report.files[file] == subjects.CELL
    lines = {line for kernel in report.compilation("0/0").kernels for line in kernel.sources}
    assert {(line.file, line.line) for line in lines} == {(file, 3), (file, 4)}


def test_symbols_stand_for_dynamic_sizes() -> None:
    both = [cs.Variant(dynamic=True), cs.Variant(dynamic=True, cpp_wrapper=True)]
    report = sources(Call(subjects.plain, (torch.randn(4, 8),)), variants=both)
    for variant in report.variants:
        (compilation,) = variant.compilations
        shape = compilation.graphs["post_grad"].nodes[0].shape
        sizes = [node.shape for node in compilation.graphs["post_grad"].nodes if node.shape]
        assert any(size.startswith("s") for shape in sizes for size in shape), shape
        assert any("size()" in guard.expression for guard in compilation.guards)


def test_a_size_that_the_user_marked_is_dynamic_and_stays_marked() -> None:
    x = torch.randn(4, 8)
    torch._dynamo.mark_dynamic(x, 0)
    marks = dict(vars(x))
    report = sources(Call(subjects.plain, (x,)), variants=["python", cs.Variant(dynamic=False)])
    nodes = report.compilation("0/0", "python").graphs["post_grad"].nodes
    assert any(re.match(r"s\d", size) for node in nodes for size in node.shape or ())
    assert vars(x) == marks


def resized(xs: list[torch.Tensor]) -> list[torch.Tensor]:
    out = []
    for x in xs:
        torch._dynamo.graph_break()  # in a loop: Dynamo leaves this frame alone
        out.append(subjects.plain(x))
    return out


def test_a_recompilation_says_why() -> None:
    tensors = [torch.randn(2, size) for size in (3, 4)]
    report = sources(Call(resized, (tensors,)), variants=["python"])
    again = report.compilation("1/1")
    assert again.frame is not None
    assert again.frame.function == "plain"
    assert again.recompile is not None
    assert again.recompile.previous == "1/0"
    assert again.recompile.reasons == [
        "1/0: tensor 'x' size mismatch at index 1. expected 3, actual 4"
    ]
    sizes = [node.shape for node in again.graphs["dynamo"].nodes if node.shape]
    assert any(size.startswith("s") for shape in sizes for size in shape)


def scaled_each(x: torch.Tensor) -> torch.Tensor:
    for factor in ("twice", "thrice"):
        torch._dynamo.graph_break()  # in a loop: Dynamo leaves this frame alone
        x = scaled(x, factor)
    return x


def scaled(x: torch.Tensor, factor: str) -> torch.Tensor:
    return x * (2 if factor == "twice" else 3)


def test_a_reason_of_a_recompile_names_the_whole_path() -> None:
    report = sources(Call(scaled_each, (torch.randn(2),)), variants=["python"])
    recompile = report.compilation("1/1").recompile
    assert recompile is not None
    line = scaled.__code__.co_firstlineno + 1
    # torch leaves out what the path has in common with torch's own.
    (reason,) = recompile.reasons
    assert reason.endswith(f"# {__file__}:{line} in scaled")
    assert recompile.failures[0].where is not None
    assert recompile.failures[0].where.file == __file__


def test_the_recompile_limit_is_a_problem() -> None:
    tensors = [torch.randn(2, size + 2) for size in range(10)]
    report = sources(Call(resized, (tensors,)), variants=[cs.Variant(dynamic=False)])
    (variant,) = report.variants
    (problem,) = variant.problems
    assert variant.stage == "sources"
    assert problem.what == (
        "plain hit the recompile limit: from then on its new cases run in eager."
    )
    assert problem.why == (
        "It was compiled 8 times. The last reason: "
        "tensor 'x' size mismatch at index 1. expected 9, actual 10"
    )
    assert "mark_dynamic" in problem.remedy
    assert problem.where is not None
    assert problem.where.file == HERE


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[cs.Variant]:
    taken: list[cs.Variant] = []
    real = code_generation.capture

    def counted(
        fn: Any, args: Any, kwargs: Any, variant: cs.Variant, *others: Any, **named: Any
    ) -> Any:
        taken.append(variant)
        return real(fn, args, kwargs, variant, *others, **named)

    monkeypatch.setattr(code_generation, "capture", counted)
    return taken


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The commands that Python starts, once what is asked once a process is known: the
    processor's instruction set, and the compiler's version."""
    from torch._inductor.cpu_vec_isa import pick_vec_isa

    pick_vec_isa()
    environment()
    started: list[Any] = []
    import subprocess

    real = subprocess.Popen.__init__

    def noted(self: Any, command: Any, *args: Any, **kwargs: Any) -> None:
        started.append(command)
        real(self, command, *args, **kwargs)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return started


def test_sources_come_from_one_capture_without_a_build(
    captures: list[cs.Variant],
    processes: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    session = Session()
    x = torch.randn(4, 8)
    report = session.inspect(subjects.plain, (x,), run=False)
    for variant in (
        cs.Variant(mode="max-autotune", cpp_wrapper=True),
        cs.Variant(options={"size_asserts": False}),
        cs.Variant(fullgraph=True),
        cs.Variant(dynamic=False),
        cs.Variant(backend="aot_eager"),
        cs.Variant(backend=None),
    ):
        _, job = session.panel_jobs.sources(report.subject.id, variant)
        assert job is None or job.state == "queued"
    session.panel_jobs.run_pending()
    assert len(report.variants) == 8
    assert {variant.stage for variant in report.variants} == {"sources"}
    assert captures == [cs.Variant()]
    assert processes == []
    built = [path for path in tmp_path.rglob("*") if path.suffix in (".so", ".o", ".cpp", ".h")]
    assert built == []
    fast = report.variant("python size_asserts=False").compilations[0].code.python
    assert fast is not None
    assert "assert_size_stride(" not in fast.partition("def call(")[2]


def test_settings_at_their_default_are_not_listed() -> None:
    def config(**switches: Any) -> dict[str, str]:
        call = Call(subjects.plain, (torch.ones(2, 3),))
        (variant,) = sources(call, variants=[cs.Variant(**switches)]).variants
        return variant.config

    assert config(options={"epilogue_fusion": False}) == {"epilogue_fusion": "False"}
    # What was set once, and set back, is at its default again.
    assert config(options={"epilogue_fusion": True}) == {}
    assert config(backend="aot_eager") == {}


def test_the_frame_of_a_library_module_is_its_forward() -> None:
    report = sources(Call(torch.nn.Linear(3, 2), (torch.ones(2, 3),)))
    frame = report.compilations[0].frame
    assert frame is not None
    assert frame == report.subject.where
    assert frame.function.endswith("forward")
    builtin = sources(Call(torch.sin, (torch.ones(2, 3),))).compilations[0]
    assert builtin.frame is None
    assert "frame" in builtin.absent


def test_floats_that_may_change_keep_their_symbol_or_are_made_constant() -> None:
    both = [cs.Variant(dynamic=True), cs.Variant(dynamic=True, cpp_wrapper=True)]
    for fn in (lambda x, by: x * by, lambda x, by: (x + by).sin().sum() / by):
        report = sources(Call(fn, (torch.randn(4), 1.5)), variants=both)
        assert [(variant.stage, variant.problems) for variant in report.variants] == [
            ("sources", [])
        ] * 2
        assert all(variant.compilations[0].kernels for variant in report.variants)


class Gated(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.linear(x)
        if x.mean().item() > 10:
            x = x + 1
        return x.relu()


def test_a_float_that_only_a_comparison_needs_is_made_constant() -> None:
    """The code behind the second block's break is traced with a float that may change."""
    report = sources(Call(torch.nn.Sequential(Gated(), Gated()), (torch.randn(2, 4),)))
    variant = report.variants[0]
    assert (variant.stage, variant.problems) == ("sources", [])


def test_a_capture_with_a_float_that_may_change_generates_no_code() -> None:
    def fn(x: torch.Tensor, by: float) -> torch.Tensor:
        return (x * by).sin()

    args = (torch.randn(4, requires_grad=True), 1.5)
    codes = CodeCopies(functions_of(fn, args, {}))
    with patched(GraphLowering, "run", lambda *_: pytest.fail("A graph was lowered.")):
        captured = capture(fn, args, {}, cs.Variant(dynamic=True), codes)
    assert captured.problem is None
    assert len(captured.graphs) == 1
