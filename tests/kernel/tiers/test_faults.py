"""What goes wrong behind the calls: the Python wrapper serves on, and it is said once."""

from __future__ import annotations

import builtins
import gc
import importlib.util
import os
import platform
import signal
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import psutil
import pytest
import torch
from compilescope.processes import runner
from compilescope.report.problem import Problem
from compilescope.tiers import backend, background, passing_errors, tier_warning, tiered_graph
from compilescope.tiers import builder as builders
from compilescope.tiers.builder import builder
from compilescope.tiers.tier_warning import TierWarning
from compilescope.tiers.tiered_graph import TieredGraph
from compilescope.torch_api.inductor import both_wrappers
from compilescope.torch_api.inductor.graph_recording import Loaded
from compilescope.torch_api.process import caches
from torch._inductor import cpu_vec_isa
from torch._inductor.runtime import compile_tasks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]

X = torch.linspace(-1, 1, 12)


def subject(x: torch.Tensor) -> torch.Tensor:
    """The same in every test, so that its C++ is compiled once."""
    return x.exp() + 1


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing was built before, and nothing said."""
    monkeypatch.setattr(tier_warning, "_warned", {})
    with caches.only(tmp_path / "inductor"):
        yield tmp_path / "inductor"
        builder().wait()
        background.wait()


def problem_of(compiled: Any, *args: Any) -> Problem:
    """Why the second tier failed, after a call with these; the first still serves."""
    if args:
        compiled(*args)
    builder().wait()
    background.wait()
    (graph,) = cs.tiers(compiled)
    assert graph.serving == "python"
    problem = graph.tiers[1].problem
    assert problem is not None, graph
    assert graph.tiers[1].state == "failed"
    return problem


def swapped(compiled: Any) -> bool:
    """Whether the second tier serves after a call that is compared."""
    builder().wait()
    assert torch.equal(compiled(X), subject(X))
    background.wait()
    return cs.tiers(compiled)[0].serving == "cpp"


def test_a_killed_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    start = runner._start

    def noted(*args: Any) -> Any:
        started.append(start(*args))
        return started[-1]

    def kill(self: TieredGraph) -> None:
        os.kill(started[-1].pid, signal.SIGKILL)

    monkeypatch.setattr(runner, "_start", noted)
    monkeypatch.setattr(TieredGraph, "begin", kill)
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match=r"signal 9 \(SIGKILL\)"):
        problem = problem_of(compiled, X)
    assert "could not be built" in problem.what
    assert "doctor" in problem.remedy
    assert torch.equal(compiled(X), subject(X))

    # The next process finds the graph, packed as it was, and builds it.
    monkeypatch.undo()
    torch._dynamo.reset()
    again = cs.tiered(subject)
    again(X)
    assert swapped(again)


def test_a_compiler_that_fails_in_the_builder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "g++"
    broken.parent.mkdir()
    broken.write_text(
        "#!/bin/sh\n"
        'case "$*" in -v|--version|-dump*) echo "g++ 14"; exit 0;; esac\n'
        "echo 'x.cpp:1:2: error: no room for this' >&2\n"
        "exit 1\n"
    )
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    start = runner.run

    def with_broken_compiler(*args: Any, variables: dict[str, str], **kwargs: Any) -> Any:
        path = os.pathsep.join([str(broken.parent), os.environ["PATH"]])
        return start(*args, variables={**variables, "PATH": path}, **kwargs)

    monkeypatch.setattr(runner, "run", with_broken_compiler)
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match="no room for this"):
        problem = problem_of(compiled, X)
    # Another graph fails in the same way: it is said once.
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem_of(cs.tiered(subject), X[:5]).why == problem.why
    assert problem.why == "x.cpp:1:2: error: no room for this"

    # A new process finds that out without building, until the compiler is another.
    torch._dynamo.reset()
    monkeypatch.setattr(tier_warning, "_warned", {})
    again = cs.tiered(subject)
    with pytest.warns(TierWarning, match="An earlier process found out: x.cpp:1:2: error: no room"):
        again(X)
    assert builder().wait(0)
    (graph,) = cs.tiers(again)
    assert (graph.tiers[1].state, graph.tiers[1].cached) == ("failed", True)
    assert "failed in an earlier process, not built again" in str(cs.tiers(again))
    other = [*tiered_graph.decided_by()[:-1], "g++ 15"]
    monkeypatch.setattr(tiered_graph, "decided_by", lambda: other)
    monkeypatch.setattr(runner, "run", start)
    torch._dynamo.reset()
    again = cs.tiered(subject)
    again(X)
    assert swapped(again)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("x.cpp:1:2: error: expected ';'"), False),
        (NotImplementedError("no C++ for this operator"), False),
        (OSError(28, "No space left on device"), True),
        (RuntimeError("as: can't write x.o: No space left on device"), True),
        (RuntimeError("g++: fatal error: Killed signal terminated program cc1plus"), True),
        (RuntimeError("fatal error: Python.h: No such file or directory"), True),
        (MemoryError(), True),
    ],
)
def test_what_may_pass_by_itself_is_not_remembered(error: Exception, expected: bool) -> None:
    wrapped = RuntimeError("InductorError")
    wrapped.__cause__ = error
    assert passing_errors.may_pass(error) is expected
    assert passing_errors.may_pass(wrapped) is expected


def test_what_torch_leaves_uninitialised_is_not_compared_in_the_next_process_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as first:
        first.setattr(both_wrappers, "undefined_outputs", lambda graph: frozenset({0}))
        cs.tiered(subject)(X)
        builder().wait()
    load = both_wrappers.load

    def uninitialised(*args: Any, **options: Any) -> Any:
        wrapper = load(*args, **options).wrapper
        return Loaded(lambda inputs: [wrapper(inputs)[0] + 0.25])

    def not_seen(graph: Any) -> frozenset[int]:
        raise AssertionError("torch has it in its caches")

    # Built, and not checked: the next process checks it, and does not see the graph.
    monkeypatch.setattr(tiered_graph, "load", uninitialised)
    monkeypatch.setattr(both_wrappers, "undefined_outputs", not_seen)
    torch._dynamo.reset()
    again = cs.tiered(subject)
    again(X)
    builder().wait()
    again(X)
    background.wait()
    (graph,) = cs.tiers(again)
    assert (graph.serving, graph.tiers[1].problem) == ("cpp", None)


def test_a_wrong_result(own_caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = both_wrappers.load

    def planted(*args: Any, **options: Any) -> Any:
        wrapper = load(*args, **options).wrapper
        return Loaded(lambda inputs: [wrapper(inputs)[0] + 0.25])

    monkeypatch.setattr(tiered_graph, "load", planted)
    compiled = cs.tiered(subject)
    compiled(X)
    builder().wait()
    # The background finds it, and a call makes sure; both give what the first tier gives.
    assert torch.equal(compiled(X), subject(X))
    background.wait()
    assert cs.tiers(compiled)[0].tiers[1].state == "checks"
    with pytest.warns(TierWarning, match="gives another result.* off by 0.25"):
        assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)
    assert torch.equal(compiled(X), subject(X))

    # It is no result for the next process either, which says so and does not build it.
    monkeypatch.undo()
    monkeypatch.setattr(tier_warning, "_warned", {})
    torch._dynamo.reset()
    again = cs.tiered(subject)
    with pytest.warns(TierWarning, match="gives another result.*earlier process.*off by 0.25"):
        assert torch.equal(again(X), subject(X))
    problem = problem_of(again)
    # Whoever wants it built again deletes what the warning names.
    (file,) = own_caches.rglob("rejected.json")
    assert str(file) in problem.remedy
    file.unlink()
    torch._dynamo.reset()
    again = cs.tiered(subject)
    again(X)
    assert swapped(again)


def test_what_fails_while_it_is_compared_is_tried_again_by_the_next_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(inputs: list[Any]) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(tiered_graph, "load", lambda *args, **options: Loaded(exhausted))
    compiled = cs.tiered(subject)
    compiled(X)
    builder().wait()
    compiled(X)
    background.wait()
    with pytest.warns(TierWarning, match="raised an exception .*out of memory"):
        assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)
    monkeypatch.undo()
    torch._dynamo.reset()
    again = cs.tiered(subject)
    again(X)
    assert swapped(again)


def test_a_graph_that_goes_away_while_it_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    load = both_wrappers.load
    began, goes_on = threading.Event(), threading.Event()

    def held(*args: Any, **options: Any) -> Any:
        wrapper = load(*args, **options).wrapper

        def call(inputs: list[Any]) -> Any:
            began.set()
            assert goes_on.wait(600)
            return wrapper(inputs)

        return Loaded(call)

    monkeypatch.setattr(tiered_graph, "load", held)
    compiled = cs.tiered(subject)
    compiled(X)
    builder().wait()
    compiled(X)
    assert began.wait(600)
    # It may be pinned meanwhile, too.
    cs.pin_tier(compiled, "python")
    del compiled
    torch._dynamo.reset()
    gc.collect()
    goes_on.set()
    assert background.wait(600)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="torch tries nothing")
def test_a_library_is_loaded_without_trying_vector_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = both_wrappers.load

    def tried() -> None:
        raise AssertionError("torch would start processes that import torch")

    def load_untried(*args: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(cpu_vec_isa, "valid_vec_isa_list", tried)
            return load(*args, **options)

    monkeypatch.setattr(tiered_graph, "load", load_untried)
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)


def test_a_library_is_loaded_without_compiling_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    load = both_wrappers.load
    compiled_here: list[str] = []

    def compile_noted(source: str, path: str, *args: Any, **options: Any) -> Any:
        compiled_here.append(path)
        return builtins.compile(source, path, *args, **options)

    def load_noted(*args: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(compile_tasks, "compile", compile_noted, raising=False)
            return load(*args, **options)

    monkeypatch.setattr(tiered_graph, "load", load_noted)
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)
    assert compiled_here == []
    # Another Python does not read what this one wrote.
    monkeypatch.setattr(importlib.util, "MAGIC_NUMBER", b"none")
    torch._dynamo.reset()
    again = cs.tiered(subject)
    again(X)
    assert cs.tiers(again)[0].serving == "cpp"
    assert len(compiled_here) == 1


def test_a_cache_folder_that_cannot_be_written(own_caches: Path) -> None:
    own_caches.mkdir()
    (own_caches / "compilescope").write_text("no folder")
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match="cannot be saved: .*Not a directory"):
        assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)


def test_a_disk_that_is_full_when_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    # /dev/full takes nothing: what the process writes is lost there.
    monkeypatch.setattr(builders, "Order", lambda job, result: _Order(job, "/dev/full/built"))
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match="could not be built.*Not a directory"):
        problem_of(compiled, X)
    assert torch.equal(compiled(X), subject(X))


_Order = builders.Order


def test_a_library_that_is_gone_is_built_anew_and_not_at_a_call(own_caches: Path) -> None:
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)
    for library in own_caches.rglob("*.main.so"):
        library.unlink()
    torch._dynamo.reset()
    with caches.only(own_caches):  # as a new process: it has loaded none
        again = cs.tiered(subject)
        again(X)
        assert cs.tiers(again)[0].serving == "python"
        assert swapped(again)


def test_a_graph_that_cannot_be_sent() -> None:
    model = torch.nn.Linear(4, 4).eval()
    compiled = cs.tiered(model, options={"freezing": True})
    with torch.no_grad(), pytest.warns(TierWarning, match="freezing puts the parameters"):
        compiled(torch.ones(2, 4))
    assert "cannot be built in another process" in problem_of(compiled).what


def test_an_interrupted_first_call_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    from torch._inductor.output_code import CompiledFxGraph

    entry = CompiledFxGraph.post_compile
    compiled = cs.tiered(subject)
    with monkeypatch.context() as patch:
        patch.setattr(both_wrappers, "_pack", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compiled(X)
    assert len(cs.tiers(compiled)) == 0
    assert CompiledFxGraph.post_compile is entry
    assert torch.compiler.config.cache_key_tag == ""
    assert torch.equal(compiled(X), subject(X))
    assert len(cs.tiers(compiled)) == 1


def test_a_torch_without_what_tiers_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_is_told", False)
    monkeypatch.setattr(both_wrappers, "missing", lambda: "torch._inductor.compile_fx_subproc")
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match="lacks torch._inductor.compile_fx_subproc"):
        assert torch.equal(compiled(X), subject(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(X[:7])


def test_a_wrapper_for_a_gpu_is_given_its_context_once_in_each_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared: list[int] = []
    note = lambda: prepared.append(threading.get_ident())  # noqa: E731
    monkeypatch.setattr(torch.cuda, "mem_get_info", note)
    wrapper = both_wrappers._in_any_thread(lambda inputs: [*inputs])
    calls = lambda: [wrapper([number]) for number in range(3)]  # noqa: E731
    assert calls() == [[0], [1], [2]]
    thread = threading.Thread(target=calls)
    thread.start()
    thread.join()
    assert len(prepared) == len(set(prepared)) == 2


_PROGRAM = """
import psutil, sys, torch
import torch._dynamo.backends.registry as registry
assert "compilescope" in torch.compiler.list_backends()
compiled = torch.compile(lambda x: x.exp() + 1, backend="compilescope")
print(compiled(torch.zeros(12)).sum().item())
from compilescope.tiers.builder import builder
while not (found := psutil.Process().children()):
    pass
print(found[0].pid, flush=True)
"""


def test_the_interpreter_ends_while_it_is_built(tmp_path: Path) -> None:
    # As the installed package names its backend to torch.
    import tomllib

    root = Path(__file__).parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["torch_dynamo_backends"]
    info = tmp_path / "named-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: named\nVersion: 1\n")
    lines = [f"{name} = {place}" for name, place in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[torch_dynamo_backends]", *lines]))
    paths = [str(tmp_path), str(root / "kernel")]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    total, pid = done.stdout.split()
    assert float(total) == 24.0
    assert not psutil.pid_exists(int(pid)), signal.Signals(signal.SIGKILL)
    assert "Traceback" not in done.stderr


_CHECKING = """
import threading, time, torch
import compilescope as cs
from compilescope.tiers import tiered_graph
from compilescope.tiers.builder import builder
from compilescope.torch_api.inductor.graph_recording import Loaded

began = threading.Event()
load = tiered_graph.load

def slow(*args, **options):
    wrapper = load(*args, **options).wrapper

    def call(inputs):
        began.set()
        threading.main_thread().join()  # until the interpreter is about to end
        return wrapper(inputs)

    return Loaded(call)

tiered_graph.load = slow
compiled = cs.tiered(lambda x: x.exp() + 1)
compiled(torch.zeros(12))
builder().wait()
print(compiled(torch.zeros(12)).sum().item(), flush=True)
assert began.wait(600)
assert cs.tiers(compiled)[0].tiers[1].state == "checks"
"""


def test_the_interpreter_ends_while_it_is_compared(tmp_path: Path) -> None:
    caches_folder = tmp_path / "own"
    done = subprocess.run(
        [sys.executable, "-c", _CHECKING],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[3] / "kernel"),
            "TORCHINDUCTOR_CACHE_DIR": str(caches_folder),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) == 24.0
    assert done.stderr == ""
    # Whatever it came to was noted, and the next process starts with it.
    assert len(list(caches_folder.rglob("checked"))) == 1
