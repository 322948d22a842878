"""What goes wrong before the second tier is built: the first serves on, and a warning says why."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import compilescope as cs
import psutil
import pytest
import torch
from compilescope.processes import runner
from compilescope.subject import pickled_subject
from compilescope.tiers import (
    backend,
    background,
    graphs,
    tier_warning,
    tiered_graph,
    transient_errors,
)
from compilescope.tiers import builder as builders
from compilescope.tiers.builder import builder
from compilescope.tiers.tier_warning import TierWarning
from compilescope.tiers.tiered_graph import TieredGraph
from compilescope.torch_api.inductor.both_wrappers import compiling, requirements
from compilescope.torch_api.inductor.both_wrappers.packing import Packed
from compilescope.torch_api.process import caches
from compilescope.torch_api.trace import compile_calls
from torch._inductor import exc as inductor

from .faulty_tiers import X, output_of, problem_of, subject, swapped

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]


def test_a_killed_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    start = runner._start

    def noted(*args: Any) -> Any:
        started.append(start(*args))
        return started[-1]

    def kill(self: TieredGraph) -> None:
        os.kill(started[-1].pid, signal.SIGKILL)

    monkeypatch.setattr(runner, "_start", noted)
    monkeypatch.setattr(TieredGraph, "mark_building", kill)
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match=r"was killed: signal 9 \(SIGKILL\)\. The next process"):
        problem = problem_of(compiled, X)
    assert "could not be built" in problem.what
    assert "memory" in problem.remedy
    assert torch.equal(compiled(X), subject(X))

    # The next process finds the graph, packed as it was, and builds it.
    monkeypatch.undo()
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second)


def test_a_compiler_that_fails_in_the_builder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "g++"
    broken.parent.mkdir()
    broken.write_text(
        "#!/bin/sh\n"
        'case "$*" in -v|--version|-dump*) echo "g++ 14"; exit 0;; esac\n'
        'case "$LC_ALL" in C) error=error;; *) error=Fehler;; esac\n'
        'echo "x.cpp:1:2: $error: no room for this" >&2\n'
        "exit 1\n"
    )
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
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
        another = cs.tiered(subject, options={"epilogue_fusion": False})
        assert problem_of(another, X).why == problem.why
    assert not cs.tiers(another)[0].tiers[1].cached
    assert problem.why == "x.cpp:1:2: error: no room for this"

    # A new process finds that out without building, until the compiler is another.
    torch._dynamo.reset()
    monkeypatch.setattr(tier_warning, "_warned", {})
    second = cs.tiered(subject)
    with pytest.warns(TierWarning, match="compiled before: x.cpp:1:2: error: no room"):
        second(X)
    assert builder().wait(0)
    (graph,) = cs.tiers(second)
    assert (graph.tiers[1].state, graph.tiers[1].cached) == ("failed", True)
    assert "failed before, not built again" in str(cs.tiers(second))
    other = [*tiered_graph.decided_by()[:-1], "g++ 15"]
    monkeypatch.setattr(tiered_graph, "decided_by", lambda: other)
    monkeypatch.setattr(runner, "run", start)
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("x.cpp:1:2: error: expected ';'"), False),
        (NotImplementedError("no C++ for this operator"), False),
        (OSError(28, "No space left on device"), True),
        (RuntimeError("as: can't write x.o: No space left on device"), True),
        (RuntimeError("g++: fatal error: Killed signal terminated program cc1plus"), True),
        (subprocess.CalledProcessError(-signal.SIGKILL, ["g++"]), True),
        (subprocess.CalledProcessError(1, ["g++"]), False),
        (RuntimeError(f"ld: x.so: {os.strerror(errno.EDQUOT)}"), True),
        (inductor.InvalidCxxCompiler(), True),
        (RuntimeError("fatal error: Python.h: No such file or directory"), True),
        (MemoryError(), True),
    ],
)
def test_what_may_pass_by_itself_is_not_remembered(error: Exception, expected: bool) -> None:
    wrapped = RuntimeError("InductorError")
    wrapped.__cause__ = error
    assert transient_errors.is_transient(error) is expected
    assert transient_errors.is_transient(wrapped) is expected


def test_a_cache_folder_that_cannot_be_written(own_caches: Path) -> None:
    own_caches.mkdir()
    (own_caches / "compilescope").write_text("no folder")
    compiled = cs.tiered(subject)
    with pytest.warns(
        TierWarning, match="cannot be saved: .*Not a directory.*TORCHINDUCTOR_CACHE_DIR"
    ):
        assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)


def test_a_search_path_with_more_than_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Only once torch is done with the first tier: its own processes start with text alone.
    def submit(self: builders.Builder, graph: TieredGraph) -> None:
        monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])
        entry(self, graph)

    entry = builders.Builder.submit
    monkeypatch.setattr(builders.Builder, "submit", submit)
    compiled = cs.tiered(subject)
    compiled(X)
    assert swapped(compiled)
    assert tmp_path in sys.path
    assert tmp_path not in pickled_subject.header()["sys_path"]


def test_an_error_in_the_builders_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise TypeError("no such thing")

    compiled = cs.tiered(subject)
    with monkeypatch.context() as patch:
        patch.setattr(runner, "run", broken)
        with pytest.warns(TierWarning, match="Building it failed: TypeError: no such thing"):
            problem_of(compiled, X)
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second), "the next graph is built"


def test_a_thread_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def submit(self: builders.Builder, graph: TieredGraph) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuses)
            entry(self, graph)

    entry = builders.Builder.submit
    compiled = cs.tiered(subject)
    with monkeypatch.context() as patch:
        patch.setattr(builders.Builder, "submit", submit)
        with pytest.warns(TierWarning, match="No thread could be started for it: can't start"):
            assert torch.equal(compiled(X), subject(X))
    problem_of(compiled)
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second)


def test_a_temporary_folder_that_is_full_as_a_graph_is_submitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_submitted, start, replaced = threading.Event(), runner.run, Path.replace

    def run_later(*args: Any, **kwargs: Any) -> Any:
        has_begun.set()
        assert is_submitted.wait(600)
        return start(*args, **kwargs)

    def full(path: Path, target: Path) -> Path:
        if target.suffix == builders.ORDER:
            raise OSError(errno.ENOSPC, "No space left on device")
        return replaced(path, target)

    has_begun = threading.Event()
    monkeypatch.setattr(runner, "run", run_later)
    first = cs.tiered(subject)
    first(X)
    assert has_begun.wait(600)
    # Another graph, though of the same C++.
    second = cs.tiered(lambda x: subject(x), options={"epilogue_fusion": False})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        expected = second(X)
    is_submitted.set()
    assert swapped(first)
    builder().wait()
    assert torch.equal(second(X), expected)
    background.wait()
    assert cs.tiers(second)[0].serving == "cpp", "the next process has built it"


_Order = builders.Order


def test_a_disk_that_is_full_when_it_is_built(
    own_caches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[_Order] = []
    has_started, pipe, start = threading.Event(), tmp_path / "job", runner._start
    os.mkfifo(pipe)

    def order(job: str, result: str) -> _Order:
        orders.append(_Order(job, result))
        return _Order(str(pipe), result)

    def started(*args: Any) -> Any:
        process = start(*args)
        # Where the process is to write, there is no space, as on a full disk.
        Path(f"{orders[0].result}.{process.pid}").symlink_to("/dev/full")
        has_started.set()
        return process

    with monkeypatch.context() as patch:
        patch.setattr(builders, "Order", order)
        patch.setattr(runner, "_start", started)
        compiled = cs.tiered(subject)
        expected = compiled(X)
        assert has_started.wait(600)
        # The process waits for it.
        pipe.write_bytes(Path(orders[0].job).read_bytes())
        with pytest.warns(TierWarning, match="could not be built.*No space left on device"):
            problem = problem_of(compiled, X)
    assert problem.remedy == builders.FREE_SPACE.format(own_caches)
    assert torch.equal(compiled(X), expected)
    # The next process has space.
    torch._dynamo.reset()
    second = cs.tiered(subject)
    second(X)
    assert swapped(second)


def test_a_graph_that_cannot_be_sent() -> None:
    model = torch.nn.Linear(4, 4).eval()
    compiled = cs.tiered(model, options={"freezing": True})
    with torch.no_grad(), pytest.warns(TierWarning, match="freezing puts the parameters"):
        compiled(torch.ones(2, 4))
    assert "cannot be built in another process" in problem_of(compiled).what


def test_a_graph_that_cannot_be_packed_has_the_same_reason_in_the_next_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "pack", lambda *_: Packed(b"", "It holds a lock."))
        compiled = cs.tiered(subject)
        with pytest.warns(TierWarning, match="It holds a lock"):
            problem_of(compiled, X)
    # torch's caches have the graph now: it is not seen again.
    torch._dynamo.reset()
    monkeypatch.setattr(tier_warning, "_warned", {})
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match="It holds a lock"):
        problem_of(compiled, X)


def test_a_result_that_comes_during_an_inspection_is_loaded_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    monkeypatch.setattr(TieredGraph, "mark_building", lambda self: begun.set())
    compiled = cs.tiered(subject)
    compiled(X)
    (graph,) = graphs.graphs_of(compile_calls.context_of(compiled))
    assert begun.wait(600)
    with caches.only(tmp_path / "an inspection's"):
        while not graph.files.result.exists():
            assert builder().wait(0.01) is False
        assert builder().wait(0.5) is False
    assert swapped(compiled)


def test_an_interrupted_first_call_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    from torch._inductor.output_code import CompiledFxGraph

    entry = CompiledFxGraph.post_compile
    compiled = cs.tiered(subject)
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "pack", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compiled(X)
    assert len(cs.tiers(compiled)) == 0
    assert CompiledFxGraph.post_compile is entry
    assert torch.compiler.config.cache_key_tag == ""
    assert torch.equal(compiled(X), subject(X))
    assert len(cs.tiers(compiled)) == 1


def test_a_torch_without_what_tiers_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_is_warned", False)
    monkeypatch.setattr(requirements, "missing", lambda: "torch._inductor.compile_fx_subproc")
    compiled = cs.tiered(subject)
    with pytest.warns(TierWarning, match="lacks torch._inductor.compile_fx_subproc"):
        assert torch.equal(compiled(X), subject(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch._dynamo.reset()
        compiled(X)


_PROGRAM = """
import psutil, sys, torch
import torch._dynamo.backends.registry as registry
assert "compilescope" in torch.compiler.list_backends()
compiled = torch.compile(lambda x: x.exp() + 1, backend="compilescope")
print(compiled(torch.zeros(12)).sum().item())
from compilescope.tiers.builder import builder
while not (children := psutil.Process().children()):
    pass
print(children[0].pid, flush=True)
"""


def test_the_interpreter_ends_while_it_is_built(tmp_path: Path) -> None:
    # As the installed package names its backend to torch.
    import tomllib

    root = Path(__file__).parents[4]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["torch_dynamo_backends"]
    info = tmp_path / "named-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: named\nVersion: 1\n")
    lines = [f"{name} = {place}" for name, place in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[torch_dynamo_backends]", *lines]))
    output, errors = output_of(_PROGRAM, tmp_path, variables={})
    total, pid = output.split()
    assert float(total) == 24.0
    assert not psutil.pid_exists(int(pid)), signal.Signals(signal.SIGKILL)
    assert "Traceback" not in errors
