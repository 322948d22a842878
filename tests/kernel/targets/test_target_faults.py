"""A target's process that crashes, is killed or canceled; subjects that cannot travel."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import psutil
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.processes import runner
from compilescope.progress.progress import Cancelled, Monitor
from compilescope.report import VariantReport
from compilescope.targets import known_devices
from compilescope.targets.worker_messages import Enter, write
from compilescope.targets.worker_pool import shared_pool

from .. import target_subjects as subjects
from ..world import unchanged

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]

X = torch.randn(8, 16)
H100 = cs.Variant(target="h100")


def test_an_abort_is_a_problem_and_the_next_request_works() -> None:
    report = _inspect(subjects.with_extra, (X, subjects.Aborts()))
    (problem,) = report.problems
    assert report.stage == "failed"
    assert problem.what == (
        "The process started to generate code for H100 SXM ended early: signal 6 (SIGABRT)."
    )
    assert "terminate called" in problem.detail
    assert _inspect(subjects.scaled, (X,)).stage == "sources"


def test_a_process_killed_while_nothing_is_asked_is_replaced_unseen() -> None:
    assert _inspect(subjects.scaled, (X,)).stage == "sources"
    before = shared_pool().pids()["h100"]
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: "h100" not in shared_pool().pids())
    assert _inspect(subjects.scaled, (X,)).problems == []
    assert shared_pool().pids()["h100"] != before


def test_a_process_that_died_with_a_message_unread_is_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    process.wait()
    assert process.stdin is not None
    with pytest.raises(BrokenPipeError):
        write(process.stdin, Enter(role="interpreter"))
    runner.end(process)
    assert process.stdin.closed


def test_cancelling_ends_the_process_with_its_children(tmp_path: Path) -> None:
    file = tmp_path / "begun"
    inspection = Inspection(subjects.with_extra, (X, subjects.Hangs(str(file))))
    monitor = Monitor()
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            inspection.sources.generate({"h": H100}, monitor)
        except Cancelled as error:
            ended.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(file.exists)
    processes = [psutil.Process(int(number)) for number in file.read_text().split()]
    monitor.cancel()
    asking.join(600)
    assert ended
    wait_for(lambda: not any(_is_alive(process) for process in processes))
    assert inspection.report.variants == []


def test_a_process_ends_with_the_kernel_even_if_a_fork_of_it_lives_on() -> None:
    kernel = subprocess.Popen(
        [sys.executable, "-c", _KERNEL], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert kernel.stdout is not None
    pids = [int(number) for number in kernel.stdout.readline().split()]
    worker, fork = (psutil.Process(pid) for pid in pids)
    try:
        kernel.kill()
        kernel.wait()
        wait_for(lambda: not _is_alive(worker))
        assert _is_alive(fork)
    finally:
        fork.kill()


_KERNEL = """
import os, pathlib, sys, time
from compilescope.targets.worker_process import WorkerProcess
worker = WorkerProcess("interpreter", None, pathlib.Path(os.devnull))
fork = os.fork()
if fork == 0:
    os.close(1)
    time.sleep(600)
print(worker.pid, fork, flush=True)
sys.stdin.read()
"""


def test_what_cannot_be_pickled_is_named() -> None:
    (problem,) = _inspect(subjects.Locked(), (X,)).problems
    assert problem.what == "The subject cannot be sent to the target's process."
    assert "lock" in problem.why


def test_a_module_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "compilescope_passing_module.py"
    file.write_text("def f(x):\n    return x + 1\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        module = importlib.import_module(file.stem)
    file.unlink()
    try:
        (problem,) = _inspect(module.f, (X,)).problems
    finally:
        del sys.modules[file.stem]
    assert file.stem in problem.what


def test_a_module_that_cannot_be_imported_again_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "compilescope_settled_module.py"
    file.write_text("import os\nROOT = os.environ['MODEL_ROOT']\ndef f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with monkeypatch.context() as patch:
        patch.setenv("MODEL_ROOT", "/")
        module = importlib.import_module(file.stem)
    try:
        (problem,) = _inspect(module.f, (X,)).problems
    finally:
        del sys.modules[file.stem]
    assert problem.what == "The call cannot be made again in the target's process."
    assert problem.why == "KeyError: 'MODEL_ROOT'."
    assert str(file) in problem.detail


def test_a_module_that_changed_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "compilescope_changing_module.py"
    monkeypatch.syspath_prepend(tmp_path)
    kernels = []
    for operation in ("sin", "cos"):
        file.write_text(f"def f(x):\n    return x.{operation}()\n")
        # Python takes a file of the same second and size for the same.
        os.utime(file, (1e9, 1e9 + 10 * len(kernels)))
        sys.modules.pop(file.stem, None)
        importlib.invalidate_caches()
        module = importlib.import_module(file.stem)
        variant = _inspect(module.f, (X,))
        kernels.append(variant.compilations[0].kernels[0].source)
    sys.modules.pop(file.stem, None)
    assert "sin" in kernels[0]
    assert "cos" in kernels[1]


def test_a_module_saved_during_a_request_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "compilescope_saved_module.py"
    monkeypatch.syspath_prepend(tmp_path)
    text = "def f(x, extra):\n    return x.{}()\n"
    file.write_text(text.format("sin"))
    os.utime(file, (1e9, 1e9))
    module = importlib.import_module(file.stem)
    try:
        before = _inspect(module.f, (X, subjects.Saves(str(file), text.format("cos"))))
        after = _inspect(importlib.reload(module).f, (X, None))
    finally:
        del sys.modules[file.stem]
    assert "sin" in before.compilations[0].kernels[0].source
    assert "cos" in after.compilations[0].kernels[0].source


def test_a_module_of_the_working_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared_pool().warm("h100")
    (tmp_path / "compilescope_local_module.py").write_text("def f(x):\n    return x.tanh()\n")
    monkeypatch.chdir(tmp_path)
    # As in a notebook, whose path begins with it.
    monkeypatch.syspath_prepend("")
    module = importlib.import_module("compilescope_local_module")
    try:
        variant = _inspect(module.f, (X,))
    finally:
        del sys.modules[module.__name__]
    assert "tanh" in variant.compilations[0].kernels[0].source


def test_the_users_process_stays_as_it_was() -> None:
    shared_pool().close()
    modules = set(sys.modules)
    with unchanged():
        cs.inspect(subjects.scaled, (X,), variants={"h": H100}, run=False)
        shared_pool().close()
    assert not torch.cuda.is_available()
    pretending = {name for name in set(sys.modules) - modules if "torch_api.targets." in name}
    assert not pretending


def _inspect(fn: Callable[..., Any], args: tuple[Any, ...]) -> VariantReport:
    return cs.inspect(fn, args, variants={"h": H100}, run=False).variants[0]


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 600.0) -> None:
    """Waits for what other processes do; the time is for a machine that does much else."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
