"""Calls with graph breaks that another process runs while the kernel is free."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import compilescope as cs
import numpy as np
import pytest
import torch
from compilescope.builds import capture_fingerprint
from compilescope.capture.records import Record
from compilescope.comms import report_without_texts
from compilescope.inspection.inspection import Inspection
from compilescope.isolation.global_state import SavedRandomness
from compilescope.processes.free_memory import free_memory
from compilescope.progress.progress import Cancelled, Monitor
from compilescope.session.session import Session
from compilescope.targets import local_sources, packing_limits
from compilescope.targets.worker import forks, run_calls
from compilescope.targets.worker_pool import shared_pool

from ..compared_texts import everything
from . import run_subjects as subjects

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not local_sources._can_run(), reason="needs seccomp, and no accelerator"),
]

DYNAMIC = cs.Variant(dynamic=True)
NAME = "python dynamic"
X = torch.linspace(-1, 2, 48).reshape(6, 8)

count = 0


def counting(x: torch.Tensor) -> torch.Tensor:
    global count
    count += 1
    print(count)
    return x * count


Kept = Callable[[], str]


class _Messages(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Why the last call stayed in the kernel."""
    handler = _Messages()
    log = logging.Logger("kept", logging.DEBUG)
    log.addHandler(handler)
    monkeypatch.setattr(local_sources, "_log", log)
    return lambda: handler.messages[-1]


def nested(scale: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function that is pickled by value."""
    kept: list[float] = []

    def fn(x: torch.Tensor) -> torch.Tensor:
        kept.append(scale)
        print(len(kept))
        return subjects.branching(x * scale) + len(kept)

    return fn


def inspected(fn: Callable[..., Any], *args: Any) -> Inspection:
    """A call whose kernel has the capture of the usual variant."""
    inspection = Inspection(fn, args)
    inspection.sources.capture({"python": cs.Variant()}, Monitor())
    assert not inspection.sources.may_generate_elsewhere(DYNAMIC), "it has to run"
    return inspection


def run_elsewhere(inspection: Inspection, monitor: Monitor | None = None) -> bool:
    """Whether another process ran the call and generated its code."""
    wanted = {NAME: DYNAMIC}
    sent = inspection.sources.capture_for_sources(wanted, Monitor())
    if sent is None:
        assert inspection.sources.has_capture(DYNAMIC), "the kernel has captured it"
        return False
    try:
        return inspection.sources.generate_elsewhere(wanted, monitor or Monitor(), sent)
    finally:
        sent.close()


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (subjects.printing, ()),
        (subjects.branching, ()),
        (subjects.with_item, ()),
        (subjects.with_random_branch, ()),
        (subjects.with_numpy, ()),
        (subjects.with_loop, ()),
        (subjects.Nested(), ()),
        (subjects.trained, (subjects.Nested(),)),
        (counting, ()),
        (nested(0.5), ()),
        (nested(-0.5), ()),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_another_process_generates_what_the_kernel_would(
    fn: Callable[..., Any], args: Sequence[Any]
) -> None:
    modules = [each for each in (fn, *args) if isinstance(each, torch.nn.Module)]
    before = [{name: each.clone() for name, each in m.state_dict().items()} for m in modules]
    randomness = SavedRandomness()
    inspection = inspected(fn, X, *args)
    assert run_elsewhere(inspection)
    assert not inspection.sources.has_capture(DYNAMIC), "the kernel has captured nothing"
    assert count == 0
    assert not any(randomness.changed())
    for module, state in zip(modules, before, strict=True):
        torch.testing.assert_close(module.state_dict(), state, rtol=0, atol=0)
        assert all(parameter.grad is None for parameter in module.parameters())
    here = Inspection(fn, (X, *args))
    here.sources.capture({NAME: DYNAMIC}, Monitor())
    here.sources.generate({NAME: DYNAMIC}, Monitor())
    assert len(here.report.variant(NAME).compilations) > 1
    elsewhere = inspection.report.variant(NAME)
    assert everything(elsewhere) == everything(here.report.variant(NAME))
    with pytest.raises(cs.CompilescopeError, match="generated in another process"):
        inspection.what_if(NAME, "x", {"x": X})


def test_settings_of_the_call_are_reported() -> None:
    with torch._inductor.config.patch(max_fusion_size=3):
        inspection = inspected(subjects.printing, X)
        assert run_elsewhere(inspection)
        here = Inspection(subjects.printing, (X,))
        here.sources.capture({NAME: DYNAMIC}, Monitor())
        here.sources.generate({NAME: DYNAMIC}, Monitor())
    elsewhere = inspection.report.variant(NAME)
    assert elsewhere.config == {"max_fusion_size": "3"}
    assert everything(elsewhere) == everything(here.report.variant(NAME))


@pytest.mark.parametrize(
    ("fn", "why"),
    [
        (subjects.writing, "outside: open"),
        (subjects.saving, "SIGSYS"),
        (subjects.deleting, "outside: os.remove"),
        (subjects.moving, "outside: os.rename"),
        (subjects.making_folder, "outside: os.mkdir"),
        (subjects.running, "outside: subprocess.Popen"),
        (subjects.connecting, "outside: socket."),
        (subjects.asking, "outside: builtins.input"),
        (subjects.reading_input, "outside: sys.stdin.readline"),
        (subjects.writing_in_c, "SIGSYS"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_changes_something_outside_happens_only_in_the_kernel(
    fn: Callable[..., Any], why: str, tmp_path: Path, kept: Kept
) -> None:
    file = tmp_path / "file"
    file.write_text("before")
    inspection = inspected(fn, X, str(file))
    for changed in tmp_path.iterdir():
        changed.rmdir() if changed.is_dir() else changed.unlink()
    file.write_text("kept")
    assert not run_elsewhere(inspection)
    assert why in kept()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "kept"
    assert run_elsewhere(inspection) is False
    assert inspection.sources.has_capture(DYNAMIC), "the second request is the kernel's"


def test_code_of_the_users_that_inductor_calls_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    assert run_elsewhere(inspected(subjects.with_operator, X))
    file = tmp_path / "file"
    monkeypatch.setenv(subjects.FILE, str(file))
    assert not run_elsewhere(inspected(subjects.with_operator, X))
    assert "outside: open" in kept()
    assert not file.exists()


def test_what_the_call_holds_is_not_deleted_before_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    cleaning = subjects.Cleaning(str(file))

    def fn(x: torch.Tensor) -> torch.Tensor:
        return subjects.printing(x) if cleaning is not None else x

    assert run_elsewhere(inspected(fn, X))
    assert file.read_text() == "kept"


def test_what_cannot_travel_stays_in_the_kernel() -> None:
    lock = threading.Lock()

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = subjects.printing(x)
        return y if lock is not None else x

    inspection = inspected(fn, X)
    assert inspection.sources.capture_for_sources({NAME: DYNAMIC}, Monitor()) is None
    assert inspection.sources.has_capture(DYNAMIC)


def test_the_data_are_packed_once_for_all_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[object] = []
    inspection = inspected(subjects.printing, X)
    original = inspection._call_packer.packed_with_values
    monkeypatch.setattr(
        inspection._call_packer, "packed_with_values", lambda: packed.append(None) or original()
    )
    wanted = {
        NAME: DYNAMIC,
        "filtered": cs.Variant(dynamic=False, options={"max_fusion_size": 3}),
        "fullgraph": cs.Variant(fullgraph=True),
    }
    sent = inspection.sources.capture_for_sources(wanted, Monitor())
    assert sent is not None
    with closing(sent):
        assert packed == [None]
        assert inspection.sources.has_capture(wanted["fullgraph"]), "it ends at a graph break"
        del wanted["fullgraph"]
        assert inspection.sources.generate_elsewhere(wanted, Monitor(), sent)


def test_numbers_of_numpy_travel() -> None:
    low, high = np.float64(0.5), np.float64(2)

    def fn(x: torch.Tensor) -> torch.Tensor:
        return subjects.printing(x * float(low)) * float(high)

    assert run_elsewhere(inspected(fn, X))


def test_the_values_of_symbols_are_compared() -> None:
    symbols = [
        Record(
            event="create_symbol",
            metadata={"create_symbol": {"symbol": "u0", "source": "x", "val": value}},
        )
        for value in ("1", "2")
    ]
    assert len(set(map(capture_fingerprint._of_run, symbols))) == 2


def test_an_open_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("content")
    with file.open() as opened:

        def fn(x: torch.Tensor) -> torch.Tensor:
            y = x.relu()
            print(opened.read(1))
            return y + 1

        inspection = inspected(fn, X)
        at = opened.tell()
        assert local_sources.packed_with_values(inspection._call_packer) is None
        assert opened.tell() == at


def test_a_module_that_was_changed_since_its_import_stays_in_the_kernel(
    monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    assert run_elsewhere(inspected(subjects.limited, X))
    # The printed number is in no graph and no guard.
    monkeypatch.setattr(subjects, "LIMIT", 4)
    assert not run_elsewhere(inspected(subjects.limited, X))
    assert "what the call depends on is not the same" in kept()
    monkeypatch.undo()
    subjects.RANDOM.random()
    assert not run_elsewhere(inspected(subjects.limited, X))
    assert "what the call depends on is not the same" in kept()


def test_called_code_that_was_changed_since_its_import_stays_in_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    text = "def shaped(x):\n    return x.reshape(6, -1)\n"
    file = tmp_path / "plugin_of_test.py"
    file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, file.stem, importlib.import_module(file.stem))

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = subjects.printing(x)
        shaped: torch.Tensor = importlib.import_module("plugin_of_test").shaped(y)
        return shaped + 1

    assert run_elsewhere(inspected(fn, X))
    inspection = inspected(fn, X)
    # The graphs of the usual variant are the same.
    file.write_text(text.replace("(6,", "(x.shape[0],"))
    assert not run_elsewhere(inspection)
    assert "does not capture what the kernel has captured" in kept()


def test_a_call_with_too_many_values_stays_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing_limits, "MOST_BYTES", 100)
    inspection = inspected(subjects.printing, X)
    assert local_sources.packed_with_values(inspection._call_packer) is None


def test_a_call_that_takes_too_long_there_is_ended(
    monkeypatch: pytest.MonkeyPatch, kept: Kept
) -> None:
    monkeypatch.setattr(local_sources, "_LIMIT", 0.0)
    monkeypatch.setattr(local_sources, "_LEAST_LIMIT_S", 0.0)
    assert not run_elsewhere(inspected(subjects.printing, X))
    assert "a step took more than 0 s" in kept()


def test_a_fork_that_cannot_be_started_leaves_no_descriptor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(forks, "start", fail)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    with pytest.raises(OSError, match="no more processes"):
        run_calls.answer_of_fork(lambda: None, lambda tell, reply: "", lambda step: None, 1.0)
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208


def test_a_cancel_ends_the_process() -> None:
    inspection = inspected(subjects.printing, X)
    monitor = Monitor(lambda now: monitor.cancel() if "running" in now.step else None)
    with pytest.raises(Cancelled):
        run_elsewhere(inspection, monitor)
    assert inspection.report.variants == []
    assert "local_run" not in shared_pool().pids()
    assert run_elsewhere(inspection)


def requested(session: Session, subject: str) -> tuple[str, Any]:
    """The name of the variant and the job, as the panel requests it from another thread."""
    results: list[tuple[str, Any]] = []
    asking = threading.Thread(
        target=lambda: results.append(session.panel_jobs.sources(subject, DYNAMIC))
    )
    asking.start()
    asking.join()
    return results[0]


def test_a_flip_leaves_the_main_thread_while_the_call_runs_elsewhere() -> None:
    session = Session()
    steps: list[str] = []

    def note(kind: str, subject: str, job: Any, variants: object) -> None:
        if job is not None:
            steps.append(report_without_texts.job(job).step)

    report = session.inspect(subjects.printing, (X,), variants="python", run=False)
    name, job = requested(session, report.subject.id)
    assert (job.state, job.aside) == ("queued", False)
    session.observe(note)
    session.panel_jobs.run_pending()
    assert job.ended.wait(600)
    assert (job.state, job.needs_main_thread, job.aside) == ("done", False, True)
    assert report.variant(name).stage == "sources"
    assert "running the call in another process" in steps
    assert not [step for step in steps if "cells wait" in step]
    inspection = session.inspection(report.subject.id)
    assert isinstance(inspection, Inspection)
    assert not inspection.sources.has_capture(DYNAMIC)


def test_a_failure_there_leaves_the_work_to_the_kernel(tmp_path: Path) -> None:
    session = Session()
    file = tmp_path / "file"
    report = session.inspect(subjects.writing, (X, str(file)), variants="python", run=False)
    written = file.read_text()
    states = []
    for _ in range(2):
        name, job = requested(session, report.subject.id)
        session.panel_jobs.run_pending()
        assert job.ended.wait(600)
        states.append((job.state, job.needs_main_thread, file.read_text()))
    assert states == [("done", True, written), ("done", False, f"{written}x")]
    assert report.variant(name).stage == "sources"
    assert not report.variant(name).problems


def test_memory_of_control_groups_is_respected(tmp_path: Path) -> None:
    groups = tmp_path / "cgroup"
    groups.write_text("0::/pod/container\n")
    inner = tmp_path / "fs" / "pod" / "container"
    inner.mkdir(parents=True)
    for folder, most in ((inner, "max"), (inner.parent, "3000000")):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text("2500000\n")
        (folder / "memory.stat").write_text("anon 1000\ninactive_file 100000\n")
    assert free_memory(groups, tmp_path / "fs") == 600_000
    groups.write_text("5:cpu,memory:/container\n")
    old = tmp_path / "fs" / "memory" / "container"
    old.mkdir(parents=True)
    (old / "memory.limit_in_bytes").write_text("5000\n")
    (old / "memory.usage_in_bytes").write_text("4000\n")
    assert free_memory(groups, tmp_path / "fs") == 1000
