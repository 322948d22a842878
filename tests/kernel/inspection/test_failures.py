"""What goes wrong is a problem in the report, with its cause and what to do; never an exception."""

from __future__ import annotations

import asyncio
import builtins
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._inductor.config
from compilescope.builds import compare_with_eager
from compilescope.report import Problem, Report
from compilescope.session.session import Session
from compilescope.torch_api.failures import failures
from compilescope.torch_api.inductor import codegen
from torch._inductor import cpp_builder
from torch._inductor import exc as inductor
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.lowering import lowerings

from .. import subjects
from ..subjects import Call

pytestmark = pytest.mark.slow

HERE = str(Path(__file__))
X = torch.randn(4, 8)


def inspect(call: Call, **options: Any) -> Report:
    return Session().inspect(call.fn, call.args, call.kwargs, **options)


def the_problem(report: Report, stage: str = "failed") -> Problem:
    """The one problem that every variant has."""
    compiled = [variant for variant in report.variants if variant.requested.backend is not None]
    assert {one.stage for one in compiled} == {stage}
    problems = [one.problems for one in compiled]
    assert all(len(problem) == 1 for problem in problems), problems
    assert {problem[0].what for problem in problems} == {problems[0][0].what}
    assert problems[0][0].why
    assert problems[0][0].remedy
    return problems[0][0]


def fails(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    if len(x) == 4:
        raise LookupError("no such row\nat all")
    return y


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_of_the_subject_is_shown_as_its_own(run: bool) -> None:
    problem = the_problem(inspect(Call(fails, (X,)), run=run))
    assert problem.what == "The subject raised LookupError: no such row"
    assert problem.why == (
        "It is the subject's own exception, raised by the call that was inspected."
    )
    assert problem.where is not None
    assert (problem.where.file, problem.where.function) == (HERE, "fails")
    assert problem.where.code.startswith("raise LookupError(")
    lines = problem.detail.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.split('"')[1] for line in lines if line.startswith("  File")] == [HERE]
    assert lines[-2:] == ["LookupError: no such row", "at all"]


def leaves(x: torch.Tensor) -> torch.Tensor:
    sys.exit("enough")


def ends(x: torch.Tensor) -> torch.Tensor:
    raise GeneratorExit


def cancels(x: torch.Tensor) -> torch.Tensor:
    raise asyncio.CancelledError("timeout")


def ends_in_a_group(x: torch.Tensor) -> torch.Tensor:
    raise builtins.BaseExceptionGroup("both", [GeneratorExit(), ValueError("no row")])


ENDS = [
    (leaves, "SystemExit: enough"),
    (ends, "GeneratorExit."),
    (cancels, "CancelledError: timeout"),
]
if sys.version_info >= (3, 11):
    ENDS.append((ends_in_a_group, "BaseExceptionGroup: both (2 sub-exceptions)"))


@pytest.mark.parametrize(("fn", "raised"), ENDS)
@pytest.mark.parametrize("run", [False, True])
def test_a_subject_that_ends_the_program_does_not(
    fn: Callable[..., Any], raised: str, run: bool
) -> None:
    problem = the_problem(inspect(Call(fn, (X,)), run=run))
    assert problem.what == f"The subject raised {raised}"
    assert problem.where is not None
    assert (problem.where.file, problem.where.function) == (HERE, fn.__name__)


def test_an_interrupt_is_the_users() -> None:
    def interrupted(x: torch.Tensor) -> torch.Tensor:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        inspect(Call(interrupted, (X,)), run=False)


class Leave(BaseException):
    """Passes whatever catches errors, as its class says."""


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_of_the_users_that_is_no_error_passes_with_the_users_frames(
    run: bool,
) -> None:
    def leaves_at_once(x: torch.Tensor) -> torch.Tensor:
        raise Leave("here")

    with pytest.raises(Leave) as raised:
        cs.inspect(leaves_at_once, (X,), run=run)
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    # Where it was asked for, and where it was raised: nothing of how the call was made.
    assert frames[0] == raised.traceback[0].name
    assert frames[-1] == "leaves_at_once"
    assert not {"_build", "_run", "capture", "build_variants"} & set(frames)
    assert len(frames) <= 5, frames
    if sys.version_info >= (3, 11):
        (note,) = raised.value.__notes__
        assert note.startswith("The call that compilescope inspected raised this. Leave is no ")
    assert cs.inspect(looked_at, (X,), variants="eager", run=False).variants[0].stage != "failed"


def looked_at(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    looks(y)
    return y + 1


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_whose_text_fails_is_the_subjects_all_the_same(run: bool) -> None:
    def raises(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        raise Unspeakable

    variant = cs.Variant(backend="eager")
    problem = the_problem(inspect(Call(raises, (X,)), run=run, variants={"one": variant}))
    assert problem.what == "The subject raised Unspeakable."
    assert problem.where is not None
    assert problem.where.code == "raise Unspeakable"


LOOKED_AT = looked_at.__code__.co_code


@torch._dynamo.disable
def looks(_: torch.Tensor) -> None:
    frame = sys._getframe()
    while frame.f_code.co_code != LOOKED_AT:
        if frame.f_back is None:
            raise LookupError("not called by its caller's own code")
        frame = frame.f_back


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_under_torch_compile_alone_is_not_the_subjects(run: bool) -> None:
    variant = cs.Variant(backend="eager" if run else "inductor")
    problem = the_problem(inspect(Call(looked_at, (X,)), run=run, variants={"one": variant}))
    assert problem.what == "torch.compile failed: not called by its caller's own code"
    assert problem.why == "The call works without torch.compile; under it, it raises this."
    assert problem.where is not None
    assert problem.where.function == "looks"


def test_a_fault_of_ours_beside_the_eager_call_is_told_as_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slip() -> None:
        raise RuntimeError("a slip")

    monkeypatch.setattr(compare_with_eager, "_random_state", slip)
    problem = the_problem(inspect(Call(subjects.plain, (X,))))
    assert problem.what == "compilescope failed: RuntimeError: a slip"


def test_an_exception_of_the_subjects_backward_is_its_own() -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            raise LookupError("no such gradient")

    call = Call(Fails.apply, (X.clone().requires_grad_(),))
    problem = the_problem(inspect(call, variants=["python"]))
    assert problem.what == "The subject raised LookupError: no such gradient"


def test_full_graph_with_a_break() -> None:
    both = [cs.Variant(fullgraph=True), cs.Variant(fullgraph=True, cpp_wrapper=True)]
    problem = the_problem(inspect(Call(subjects.broken, (X,)), run=False, variants=both))
    assert problem.what == (
        "Graph break with fullgraph=True: Call to `torch._dynamo.graph_break()`"
    )
    assert "https://" in problem.remedy
    assert problem.where is not None
    assert problem.where.code == "torch._dynamo.graph_break()"


def test_a_frame_given_up_names_its_graph_break() -> None:
    def skipped(items: Iterator[torch.Tensor]) -> torch.Tensor:
        return sum((item.sin() for item in items), X)

    problem = the_problem(inspect(Call(skipped, (iter([X]),)), run=False), "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert problem.why.startswith("Dynamo gave the frame up and left it to eager: ")
    assert problem.where is not None
    # torch 2.11 says where in its own sum() it gave up.
    assert problem.where.file == HERE or torch.__version__.startswith("2.11.")


@pytest.mark.parametrize("run", [False, True])
def test_a_fault_of_ours_ends_no_call_and_is_told_as_ours(
    monkeypatch: pytest.MonkeyPatch, run: bool
) -> None:
    copied, asked = codegen._copied, []

    def faulty(graph: Any) -> Any:
        asked.append(graph)
        if len(asked) == 1:
            raise IndexError("a slip")
        return copied(graph)

    monkeypatch.setattr(codegen, "_copied", faulty)
    variant = cs.Variant(backend="eager" if run else "inductor")
    report = inspect(Call(subjects.broken, (X,)), run=run, variants={"one": variant})
    problem = the_problem(report, "built" if run else "failed")
    assert problem.what == "compilescope failed: IndexError: a slip"
    assert problem.why == "This is a fault of compilescope, not of your code."
    assert "report it" in problem.remedy
    assert "in faulty" in problem.detail
    # The call went on past the graph break, and the graph after that has its code.
    first, second, *_ = report.variant("one").compilations
    assert (first.code.python is None, second.code.python is None) == (True, run)


def test_an_operator_without_a_fake_implementation() -> None:
    @torch.library.custom_op("compilescope_tests::unfaked", mutates_args=())
    def unfaked(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    problem = the_problem(inspect(Call(lambda x: unfaked(x).sin(), (X,)), run=False))
    assert "no fake impl registered" in problem.why
    assert problem.where is not None
    assert (problem.where.file, problem.where.function) == (HERE, "<lambda>")


def test_arguments_that_are_not_tensors() -> None:
    report = inspect(Call(lambda a, b: a + b, (1, 2)), run=False)
    problem = the_problem(report, "sources")
    assert problem.severity == "warning"
    assert problem.what == "torch.compile compiled nothing."
    assert report.subject.arguments == ["a: 1", "b: 2"]


def test_a_module_of_torchs_own_that_was_compiled_in_place() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()).requires_grad_(False)
    module.compile()
    x = torch.randn(2, 4)
    problem = the_problem(inspect(Call(module, (x,)), run=False), "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert problem.why.startswith("Sequential is a class of torch's own")
    # What the remedy says compiles it.
    module.forward = torch.compile(module.forward)  # type: ignore[method-assign]
    assert inspect(Call(module.forward, (x,)), run=False).compilation("0/0").graphs


@pytest.mark.parametrize("run", [False, True])
def test_a_graph_without_work(run: bool) -> None:
    report = inspect(Call(lambda x: x, (X,)), run=run)
    problem = the_problem(report, "built" if run else "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert report.compilation("0/0").absent["dynamo"]


def test_an_operator_without_lowering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(lowerings, torch.ops.aten.sin.default)
    with torch._inductor.config.patch(implicit_fallbacks=False):
        report = inspect(Call(subjects.plain, (X,)), run=False)
    problem = the_problem(report)
    assert problem.what == "Inductor has no code for the operator aten.sin.default."
    assert "lowering" in problem.remedy
    assert problem.where is not None
    assert problem.where.code == "return (x.sin() + 1).sum(1)"
    graphs = report.compilation("0/0", "python").graphs
    assert "dynamo" in graphs, "what came before the failure is there to be read"


def test_a_fault_in_code_generation_is_not_the_subject_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise LookupError("no such loop")

    monkeypatch.setattr(CppScheduling, "flush", fail)
    for run in (False, True):
        report = inspect(Call(subjects.plain, (X,)), run=run, variants=["python"])
        problem = the_problem(report)
        assert problem.what.startswith("torch.compile failed: ")
        assert "no such loop" in problem.what + problem.detail
        compilation = report.compilation("0/0")
        assert not compilation.guards, "torch installs none"
        assert "failed" in compilation.absent["guards"]


@pytest.fixture
def opaque() -> Iterator[Any]:
    """A custom operator of which torch knows nothing but how to run it."""
    with torch.library._scoped_library("compilescope_test", "FRAGMENT") as library:
        library.define("opaque(Tensor x) -> Tensor")
        library.impl("opaque", lambda x: x + 1, "CPU")
        yield torch.ops.compilescope_test.opaque.default


def test_a_custom_operator_without_a_fake(opaque: Any) -> None:
    full = [cs.Variant(fullgraph=True)]
    problem = the_problem(inspect(Call(lambda x: opaque(x) * 2, (X,)), run=False, variants=full))
    assert "fake tensors" in problem.what
    assert "compilescope_test.opaque" in problem.why
    assert "https://" in problem.remedy


def test_no_compiler() -> None:
    cpp_builder.cpp_compiler_search.cache_clear()
    try:
        with torch._inductor.config.patch({"cpp.cxx": (None, "/nonexistent/g++")}):
            report = inspect(Call(subjects.plain, (X,)))
    finally:
        cpp_builder.cpp_compiler_search.cache_clear()
    problem = the_problem(report)
    assert problem.what == "No working C++ compiler was found."
    assert "apt-get install g++" in problem.remedy
    assert report.environment.compiler == ""


def test_a_cpp_compile_error_shows_the_generated_line(monkeypatch: pytest.MonkeyPatch) -> None:
    real = CppScheduling.define_kernel

    def spoil(self: Any, source: str, *args: Any, **kwargs: Any) -> Any:
        return real(self, source.replace(".sin()", ".no_such_thing()"), *args, **kwargs)

    monkeypatch.setattr(CppScheduling, "define_kernel", spoil)
    report = inspect(Call(subjects.plain, (X,)))
    for variant in (report.variant("python"), report.variant("cpp")):
        (problem,) = variant.problems
        assert variant.stage == "failed"
        assert problem.what.startswith("The generated C++ does not compile: ")
        assert "no_such_thing" in problem.what
        assert problem.where is not None
        assert ".no_such_thing()" in problem.where.code
        assert problem.where.line > 1
        assert "error:" in problem.detail
        assert variant.compilations[0].guards, "what the sources told stays"
        assert all(kernel.nodes for kernel in variant.compilations[0].kernels)
        code = variant.compilations[0].code
        assert ".no_such_thing()" in (code.python or code.cpp or "")


def test_a_planted_wrong_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        lowerings, torch.ops.aten.sin.default, lowerings[torch.ops.aten.cos.default]
    )
    report = inspect(Call(subjects.plain, (X,)), variants=["python"])
    problem = the_problem(report, "built")
    assert problem.severity == "error"
    assert problem.what == "output differs from eager's by more than its tolerance."
    (error,) = report.variant("python").accuracy
    expected = ((X.cos() - X.sin()).sum(1)).abs().max().item()
    assert not error.ok
    assert error.max_abs == pytest.approx(expected, rel=1e-3)
    assert f"off by {error.max_abs:.3g}" in problem.why


def test_a_planted_wrong_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        lowerings, torch.ops.aten.cos.default, lowerings[torch.ops.aten.sin.default]
    )
    x = X.clone().requires_grad_()
    report = inspect(Call(lambda x: x.sin(), (x,)), variants=["python"])
    problem = the_problem(report, "built")
    assert problem.what == "args[0].grad differs from eager's by more than its tolerance."
    assert {error.path: error.ok for error in report.variant("python").accuracy} == {
        "output": True,
        "args[0].grad": False,
    }
    assert x.grad is None


class TestCacheFolder:
    """Of the folder that torch keeps its builds in."""

    @pytest.mark.parametrize("run", [False, True])
    def test_a_file_in_its_way(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: bool
    ) -> None:
        file = tmp_path / "cache"
        file.write_text("not a folder")
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(file))
        problem = the_problem(inspect(Call(subjects.plain, (X,)), run=run))
        assert problem.what == f"{file} cannot be made: a file is in its way."
        assert "TORCHINDUCTOR_CACHE_DIR" in problem.remedy

    @pytest.mark.parametrize(
        ("number", "told"),
        [
            (errno.ENOSPC, "is full"),
            (errno.EROFS, "is on a read-only file system"),
            (errno.EACCES, "may not be written to"),
        ],
    )
    def test_full_or_read_only(
        self, monkeypatch: pytest.MonkeyPatch, number: int, told: str
    ) -> None:
        def refuse(*_: Any, **options: Any) -> str:
            raise OSError(number, os.strerror(number), "/cache")

        monkeypatch.setattr(tempfile, "mkdtemp", refuse)
        problem = the_problem(inspect(Call(subjects.plain, (X,))))
        assert "/cache" in problem.what
        assert told in problem.what
        assert "TORCHINDUCTOR_CACHE_DIR" in problem.remedy

    def test_full_while_code_is_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from torch._inductor import codecache

        def refuse(path: Any, *_: Any, **__: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/cache/code.py")

        monkeypatch.setattr(codecache, "write_atomic", refuse)
        problem = the_problem(inspect(Call(subjects.plain, (X,))))
        assert "is full" in problem.what


def test_dropout_says_why_it_is_not_compared() -> None:
    report = inspect(Call(lambda x: torch.nn.functional.dropout(x), (X,)), variants=["python"])
    variant = report.variant("python")
    assert variant.stage == "built"
    assert variant.accuracy == []
    assert "random" in variant.absent["accuracy"]
    assert variant.problems == []


def test_every_kind_of_failure_is_told_apart_by_its_type() -> None:
    output = (
        "In file included from a.cpp:1:\n"
        "/tmp/generated.cpp:12:9: error: 'nothing' was not declared in this scope\n"
    )
    problem = failures.explain(inductor.CppCompileError(["g++", "x.cpp"], output))
    assert problem.what == (
        "The generated C++ does not compile: 'nothing' was not declared in this scope"
    )
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == ("/tmp/generated.cpp", 12)
    assert "x.cpp" in problem.detail


class TestFullDisk:
    """The folder that is named is the one that is full."""

    @pytest.mark.parametrize(
        ("output", "file", "variable"),
        [
            (
                "x.cpp:3:63: fatal error: error writing to {tmp}/ccZ.s: No space left on device",
                "{tmp}/ccZ.s",
                "TMPDIR",
            ),
            (
                (
                    "{tmp}/ccB.s: Assembler messages:\n"
                    "{tmp}/ccB.s: Fatal error: can't write 3887 bytes to section .debug_str of "
                    "{cache}/x.o: 'No space left on device'"
                ),
                "{cache}/x.o",
                "TORCHINDUCTOR_CACHE_DIR",
            ),
            (
                (
                    "/usr/bin/ld: final link failed: No space left on device\n"
                    "collect2: error: ld returned 1 exit status"
                ),
                "{cache}/x.so",
                "TORCHINDUCTOR_CACHE_DIR",
            ),
        ],
        ids=["compiler", "assembler", "linker"],
    )
    def test_of_the_compiler(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        output: str,
        file: str,
        variable: str,
    ) -> None:
        folders = {"tmp": str(tmp_path / "tmp"), "cache": str(tmp_path / "tmp" / "cache")}
        monkeypatch.setattr(tempfile, "tempdir", folders["tmp"])
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", folders["cache"])
        command = ["g++", "x.cpp", "-o", folders["cache"] + "/x.so"]
        error = inductor.CppCompileError(command, output.format(**folders))
        problem = failures.explain(error)
        assert problem.what == f"The disk of {file.format(**folders)} is full."
        assert variable in problem.remedy
        assert "too old" not in problem.why

    def test_of_an_open_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        free = {tmp_path / "tmp": 0, tmp_path / "cache": 10**9}
        for folder in free:
            folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
        usage = {folder: SimpleNamespace(free=most) for folder, most in free.items()}
        monkeypatch.setattr(shutil, "disk_usage", usage.__getitem__)
        problem = failures.explain(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        assert problem.what == f"The disk of {tmp_path / 'tmp'} is full."
        assert "TMPDIR" in problem.remedy


def test_a_failure_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    inspect(Call(fails, (X,)))
    assert threading.active_count() == before


def test_a_file_in_the_way_of_the_cache_folder_when_torch_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.write_text("in the way")
    code = """
import compilescope as cs
try:
    cs.inspect(len, ([],))
except cs.CompilescopeError as error:
    print(error.problem.what, error.problem.remedy)
"""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"{folder} cannot be used. Remove what is in its way, or set TORCHINDUCTOR_CACHE_DIR to a "
        "folder, and restart.\n"
    )


def test_a_break_shows_the_subjects_frames_and_not_ours() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1

    report = cs.inspect(broken, (torch.randn(3),), variants="python", run=False)
    (found,) = [
        graph_break for compilation in report.compilations for graph_break in compilation.breaks
    ]
    assert [frame.function for frame in found.stack] == ["broken"]


def test_a_call_that_returns_nothing_says_that_nothing_was_compared() -> None:
    def nothing(x: torch.Tensor) -> None:
        x.add(1)

    report = cs.inspect(nothing, (torch.randn(3),), variants="python")
    variant = report.variant("python")
    assert variant.accuracy == []
    assert "returns nothing" in variant.absent["accuracy"]


def test_a_value_that_is_no_tensor_is_said_to_equal_eager_s() -> None:
    variants = {"one": cs.Variant(backend="eager")}
    for call in (lambda x: x.shape[0], lambda x: x.to("meta")):
        variant = cs.inspect(call, (torch.randn(3),), variants=variants).variant("one")
        assert variant.stage == "built"
        assert variant.accuracy == []
        assert variant.absent["accuracy"].startswith("What the call gives holds no tensor")


class Uses(torch.nn.Module):
    """Can be called once."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        del self.layer
        return y


def test_a_call_that_cannot_be_made_again_is_built_and_compared_but_not_timed() -> None:
    module = Uses()
    report = cs.inspect(module, (X,), variants={"one": cs.Variant(backend="aot_eager")})
    variant = report.variant("one")
    assert variant.stage == "built"
    assert all(error.ok for error in variant.accuracy)
    assert variant.timing is None
    assert "later call failed" in variant.absent["timing"]
    (problem,) = report.problems
    assert "The subject raised AttributeError" in problem.what
    assert "The call went well at first" in problem.why
    assert list(dict(module.named_children())) == ["layer"], "the module is as it was"


def test_what_torch_compile_refuses_at_once_is_its_own_failure() -> None:
    with pytest.warns(DeprecationWarning, match="jit.script"):
        scripted = torch.jit.script(torch.nn.Linear(8, 8))
    report = cs.inspect(scripted, (X,), variants={"one": cs.Variant(backend="eager")})
    assert report.problems == []
    (problem,) = report.variant("one").problems
    assert "does not support compiling torch.jit.script" in problem.what


def test_another_type_is_no_difference_that_is_measured() -> None:
    def gives(x: torch.Tensor) -> Any:
        return x.float() if torch.compiler.is_compiling() else x.double()

    report = cs.inspect(gives, (X,), variants={"one": cs.Variant(backend="eager")})
    (problem,) = report.variant("one").problems
    assert problem.what == (
        "output (dtype torch.float32 instead of torch.float64) is not what eager gives."
    )
    assert "off by" not in problem.why


def test_nested_tensors_are_compared_part_by_part() -> None:
    parts = [torch.randn(2, 3), torch.randn(4, 3)]
    nested = torch.nested.nested_tensor(parts, layout=torch.jagged)
    variants = {"one": cs.Variant(backend="aot_eager")}
    report = cs.inspect(lambda x: x.sin(), (nested,), variants=variants)
    assert report.problems == []
    accuracy = report.variant("one").accuracy
    assert [(error.path, error.ok) for error in accuracy] == [
        ("output[0]", True),
        ("output[1]", True),
    ]
