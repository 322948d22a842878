"""The user's state is sacred: after an inspection everything is as before, however it ended."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import signal
import subprocess
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import compilescope as cs
import psutil
import pytest
import torch
from compilescope.builds.capture_graphs import capture
from compilescope.isolation.code_swap import CodeCopies
from compilescope.session.session import Session
from compilescope.subject.functions import functions_of
from compilescope.torch_api.dynamo import process_state
from compilescope.torch_api.inductor import codegen, workers
from torch._dynamo.convert_frame import compile_lock, register_bytecode_hook
from torch._dynamo.symbolic_convert import TensorifyState
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.graph import GraphLowering

from .. import subjects
from ..compiled_entries import compiled_entries
from ..subjects import Call
from ..world import unchanged

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo")]

_LEFT_BY_TORCH = ("__import_torch_",)


@contextmanager
def compiled_frames() -> Iterator[list[str]]:
    """The functions for which Dynamo makes new code in the block."""
    names: list[str] = []

    def hook(code: types.CodeType, _: types.CodeType) -> None:
        names.append(code.co_name)

    handle = register_bytecode_hook(hook)
    try:
        yield names
    finally:
        handle.remove()


class Mine:
    """What a user has at hand before an inspection: state, and functions that are compiled."""

    def __init__(self) -> None:
        self.net = subjects.Net()
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.x = torch.randn(4, 8)
        self.y = torch.randn(4, 4)
        self.net.inner.weight.grad = torch.ones_like(self.net.inner.weight)
        self.net.inner.bias.requires_grad_(False)
        self.compiled: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        for fn, args in (
            (subjects.plain, (self.x,)),
            (subjects.broken, (self.x[0],)),
            (self.net, (self.x,)),
        ):
            compiled = torch.compile(fn, backend="aot_eager")
            compiled(*args)
            self.compiled.append((compiled, args))

    def step(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss

    def state(self) -> list[Any]:
        tensors = [*self.net.parameters(), *self.net.buffers(), self.x, self.y]
        return [
            [(id(t), t.tolist(), t.requires_grad, t._version) for t in tensors],
            [None if t.grad is None else (id(t.grad), t.grad.tolist()) for t in tensors],
            self.optimizer.state_dict()["state"],
            [fn.__code__ for fn in (subjects.plain, subjects.broken, subjects.shout)],
            [type(self).step.__code__, subjects.Net.forward.__code__],
        ]

    @contextmanager
    def untouched(self) -> Iterator[None]:
        before = self.state()
        names = set(vars(subjects))
        try:
            with unchanged():
                yield
        finally:
            assert self.state() == before
            gc.collect()
            new = set(vars(subjects)) - names
            # torch itself leaves these two behind when it starts a frame over.
            assert [name for name in new if not name.startswith(_LEFT_BY_TORCH)] == []
            with compiled_frames() as frames:
                for compiled, args in self.compiled:
                    compiled(*args)
            assert frames == [], "the user's compiled functions were compiled again"


@pytest.fixture
def mine() -> Mine:
    return Mine()


def calls(mine: Mine) -> dict[str, Call]:
    return {
        "plain": Call(subjects.plain, (mine.x,)),
        "broken": Call(subjects.broken, (mine.x[0],)),
        "once broken": Call(subjects.once_broken, (mine.x[0],)),
        "module": Call(mine.net, (mine.x,)),
        "step": Call(mine.step, (mine.x, mine.y)),
        "compiled": Call(mine.compiled[0][0], (mine.x,)),
        "compiled module": Call(mine.compiled[2][0], (mine.x,)),
    }


def inspect(call: Call, **options: Any) -> cs.Report:
    return Session().inspect(call.fn, call.args, call.kwargs, **{"run": False, **options})


def stages(report: cs.Report) -> list[str]:
    return [variant.stage for variant in report.variants if variant.requested.backend is not None]


@pytest.mark.parametrize(
    "kind", ["plain", "broken", "module", "step", "compiled", "compiled module"]
)
def test_sources_leave_everything_as_it_was(mine: Mine, kind: str) -> None:
    call = calls(mine)[kind]
    with mine.untouched():
        report = inspect(call)
    # What is compiled already has a variant more, as written.
    count = 3 if kind.startswith("compiled") else 2
    assert [variant.stage for variant in report.variants] == ["sources"] * count


def test_a_build_leaves_everything_as_it_was(mine: Mine) -> None:
    with mine.untouched():
        report = inspect(calls(mine)["once broken"], run=True)
    assert {variant.stage for variant in report.variants} == {"built"}
    assert all(variant.timing is not None for variant in report.variants)


def test_a_training_step_that_is_built_leaves_everything_as_it_was(mine: Mine) -> None:
    with mine.untouched():
        report = inspect(calls(mine)["step"], run=True, variants=["python"])
    variant = report.variant("python")
    assert variant.stage == "built", variant.problems


def test_four_inspections_in_a_row(mine: Mine) -> None:
    call = calls(mine)["broken"]
    with mine.untouched():
        for number in range(4):
            inspect(call, variants=[cs.Variant(dynamic=bool(number % 2))])


@pytest.mark.parametrize("run", [False, True])
def test_after_an_error_of_the_subject(mine: Mine, run: bool) -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        mine.net.norm.running_mean.add_(1)
        y = subjects.broken(x[0])
        return y @ torch.ones(3, 3)

    with mine.untouched():
        report = inspect(Call(fails, (mine.x,)), run=run)
    assert stages(report) == ["failed", "failed"]


@pytest.mark.parametrize("run", [False, True])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_after_a_failure_in_the_middle_of_a_compile(
    mine: Mine, monkeypatch: pytest.MonkeyPatch, run: bool, error: type[BaseException]
) -> None:
    def fail(*_: Any) -> None:
        raise error("in the middle")

    call = calls(mine)["module"]
    session = Session()
    with monkeypatch.context() as patch:
        patch.setattr(CppScheduling, "flush", fail)
        with mine.untouched():
            if error is KeyboardInterrupt:
                with pytest.raises(KeyboardInterrupt):
                    session.inspect(*call, run=run)
            else:
                report = session.inspect(*call, run=run)
                assert stages(report) == ["failed", "failed"]
    assert session.jobs.current is None
    report = session.inspect(*call, run=False)
    assert stages(report) == ["sources", "sources"]


@pytest.fixture
def endless_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which a C++ compiler that never ends says its process, once it compiles a source.

    Like the real one it runs another program and waits for it: the file names that one's process.
    Headers it has the real compiler precompile.
    """
    process, before = tmp_path / "process", os.environ["PATH"]
    shutil.copy(str(shutil.which("sleep")), tmp_path / "cc1plus")
    script = tmp_path / "g++"
    script.write_text(
        f"""#!/bin/sh
PATH='{before}'
case "$*" in
*.cpp*)
    '{tmp_path}/cc1plus' infinity &
    echo $! > '{process}.partial'
    mv '{process}.partial' '{process}'
    wait
    exit 1 ;;
esac
exec g++ "$@"
""",
        encoding="utf-8",
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{before}")
    return process


def test_ctrl_c_while_the_cpp_compiler_runs(mine: Mine, endless_compiler: Path) -> None:
    """The compiler and what it runs end with it, and nobody waits: here that would take forever.

    It is pressed while the wrapper is compiled: while torch precompiles headers, it may swallow it.
    """

    def press() -> None:
        while not endless_compiler.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=press, daemon=True)
    session = Session()
    with mine.untouched():
        watcher.start()
        with pytest.raises(KeyboardInterrupt):
            session.inspect(*calls(mine)["module"], variants=["cpp"])
        watcher.join()
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(int(endless_compiler.read_text(encoding="utf-8"))).wait()
    assert session.jobs.current is None


def test_an_interrupt_ends_no_process_but_compilers(tmp_path: Path) -> None:
    # One like a data loader's worker, which a cell starts while a job runs in its own thread.
    names = ["worker", "x86_64-linux-gnu-g++-12"]
    for name in names:
        shutil.copy(str(shutil.which("sleep")), tmp_path / name)
    started: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        with workers.temporary():
            started.extend(subprocess.Popen([tmp_path / name, "600"]) for name in names)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    worker, compiler = started
    assert compiler.wait() == -signal.SIGKILL
    assert worker.poll() is None
    worker.kill()
    worker.wait()


def test_toggling_consumes_no_recompile_limit() -> None:
    session = Session()
    report = session.inspect(
        subjects.two, (torch.randn(4),), {"shift": 1}, variants="python", run=False
    )
    for number in range(10):  # more than torch's limit
        variant = cs.Variant(dynamic=bool(number % 2), fullgraph=bool(number // 2 % 2))
        session.forget(report.subject.id)
        report = session.inspect(
            subjects.two, (torch.randn(4),), {"shift": 1}, variants=[variant], run=False
        )
        assert report.variants[0].stage == "sources", report.variants[0].problems
    with compiled_frames() as frames:
        mine_again = torch.compile(subjects.two, backend="eager")
        for size in (4, 5, 6):
            mine_again(torch.randn(size), shift=1.0)
    assert frames == ["two", "two"]  # the second with a symbol, the third not at all


def test_sizes_seen_in_an_inspection_are_not_remembered() -> None:
    seen: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        seen.append(next(iter(graph.graph.nodes)).meta["example_value"].shape)
        return graph.forward

    inspect(Call(subjects.plain, (torch.randn(4, 8),)))
    torch.compile(subjects.plain, backend=backend)(torch.randn(5, 8))
    assert [[type(size) for size in shape] for shape in seen] == [[int, int]]


def test_floats_that_became_constants_do_so_in_no_other_compilation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variants = {"dynamic": cs.Variant(dynamic=True)}
    earlier = {f"zf{number}" for number in range(99)}
    monkeypatch.setattr(TensorifyState, "force_specializations", set(earlier))
    call = (lambda x, by: x * by), (torch.randn(4), 1.5)
    report = cs.inspect(*call, variants=variants, run=False)
    assert "1.5" not in report.compilations[0].code.python
    assert earlier == TensorifyState.force_specializations
    TensorifyState.clear()
    # The epsilon of a layer norm becomes a constant.
    cs.inspect(torch.nn.LayerNorm(4), (torch.randn(2, 4),), variants=variants, run=False)
    assert TensorifyState.empty()


def test_code_generation_in_another_thread_keeps_its_constant_floats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fn(x: torch.Tensor, eps: float) -> torch.Tensor:
        return torch.nn.functional.layer_norm(x, (4,), eps=eps)

    args = (torch.randn(2, 4), 1e-5)
    codes = CodeCopies(functions_of(fn, args, {}))
    (captured,) = capture(fn, args, {}, cs.Variant(dynamic=True), codes).graphs
    assert captured.constants
    begun, may_go_on, copied = threading.Event(), threading.Event(), codegen._copied

    class Lock:
        def __enter__(self) -> None:
            may_go_on.set()
            compile_lock.acquire()

        def __exit__(self, *_: object) -> None:
            compile_lock.release()

    def copied_later(graph: Any) -> Any:
        begun.set()
        assert may_go_on.wait(600)
        return copied(graph)

    monkeypatch.setattr(codegen, "_copied", copied_later)
    monkeypatch.setattr(process_state, "compile_lock", Lock())
    with ThreadPoolExecutor() as pool:
        generated = pool.submit(codegen.generate, captured, {})
        assert begun.wait(600)
        with process_state.isolated():
            process_state.begin()
            may_go_on.set()
            generated.result()
    assert TensorifyState.empty()


def test_sizes_that_the_user_s_code_saw_do_not_reach_an_inspection() -> None:
    compiled = torch.compile(subjects.plain, backend="eager")
    for size in (4, 5):
        compiled(torch.randn(size, 8))
    nodes = inspect(Call(subjects.plain, (torch.randn(6, 8),))).compilation("0/0").graphs["dynamo"]
    assert {size for node in nodes.nodes for size in node.shape or ()} <= {"6", "8"}


def test_patches_are_gone_when_several_threads_generated_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compilescope.session.panel_jobs.PATIENCE_S", 600.0)
    session = Session()
    report = session.inspect(subjects.plain, (torch.randn(4, 8),), run=False)
    before = vars(GraphLowering)["compile_to_module"]
    options: list[dict[str, Any]] = [{"max_fusion_size": 10 + number} for number in range(4)]
    threads = [
        threading.Thread(
            target=session.panel_jobs.sources, args=(report.subject.id, cs.Variant(options=option))
        )
        for option in options
    ]
    with unchanged():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert vars(GraphLowering)["compile_to_module"] is before
    assert len(report.variants) == 6
    assert all(
        variant.compilations[0].code.python for variant in report.variants if variant.name != "cpp"
    )


def test_a_forgotten_subject_lets_go_of_its_arguments() -> None:
    session = Session()
    net, x = subjects.Net(), torch.randn(4, 8)
    report = session.inspect(net, (x,), run=False)
    references = [weakref.ref(net), weakref.ref(x), weakref.ref(net.inner.weight)]
    del net, x
    session.forget(report.subject.id)
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]


class Tool:
    def run(self, x: torch.Tensor) -> torch.Tensor:
        print("run")
        return x.sin()

    @staticmethod
    def still(x: torch.Tensor) -> torch.Tensor:
        print("still")
        return x.cos()

    @property
    def chosen(self) -> Callable[..., torch.Tensor]:
        return by_property


def by_property(x: torch.Tensor) -> torch.Tensor:
    print("property")
    return x * 5


def by_table(x: torch.Tensor) -> torch.Tensor:
    print("table")
    return x * 2


def by_partial(x: torch.Tensor, k: int) -> torch.Tensor:
    print("partial")
    return x * k


TABLE = {"a": by_table}
PARTIAL = functools.partial(by_partial, k=3)


def many_ways(tool: Tool, x: torch.Tensor) -> torch.Tensor:
    print("begin")
    return tool.run(x) + tool.still(x) + TABLE["a"](x) + PARTIAL(x) + tool.chosen(x)


def test_functions_behind_breaks_keep_their_entries_however_they_are_reached() -> None:
    tool, x = Tool(), torch.randn(3)
    functions = (many_ways, Tool.run, Tool.still, by_property, by_table, by_partial)
    compiled = torch.compile(many_ways, backend="aot_eager")
    compiled(tool, x)
    before = [compiled_entries(function) for function in functions]
    assert before == [1] * len(functions)
    with unchanged():
        report = inspect(Call(many_ways, (tool, x)), variants=["python"])
    assert [compiled_entries(function) for function in functions] == before
    frames = [
        compilation.frame.function
        for compilation in report.variant("python").compilations
        if compilation.frame
    ]
    assert {"many_ways", "run", "still", "by_property", "by_table", "by_partial"} <= set(frames)
    with compiled_frames() as again:
        compiled(tool, x)
    assert again == []
