"""Calls with graph breaks that another process runs while the kernel is free."""

from __future__ import annotations

import importlib
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
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
    "fn",
    [
        subjects.writing,
        subjects.saving,
        subjects.deleting,
        subjects.moving,
        subjects.making_folder,
        subjects.running,
        subjects.connecting,
        subjects.asking,
        subjects.reading_input,
        subjects.limiting,
        subjects.binding,
        subjects.writing_in_c,
    ],
    ids=lambda fn: fn.__name__,
)
def test_what_changes_something_outside_happens_only_in_the_kernel(
    fn: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("before")
    inspection = inspected(fn, X, str(file))
    for changed in tmp_path.iterdir():
        changed.rmdir() if changed.is_dir() else changed.unlink()
    file.write_text("kept")
    assert not run_elsewhere(inspection)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "kept"
    assert run_elsewhere(inspection) is False
    assert inspection.sources.has_capture(DYNAMIC), "the second request is the kernel's"


def test_objects_are_not_deleted_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    cleaning = subjects.Cleaning(str(file))

    def fn(x: torch.Tensor) -> torch.Tensor:
        return subjects.printing(x) if cleaning is not None else x

    assert run_elsewhere(inspected(fn, X))
    assert file.read_text() == "kept"


def _with_history() -> torch.Tensor:
    return torch.ones(2, requires_grad=True) * 2


def _with_hook() -> torch.Tensor:
    tensor = torch.ones(2, requires_grad=True)
    tensor.register_hook(lambda grad: grad)
    return tensor


def _with_array() -> tuple[Any, torch.Tensor]:
    array = np.zeros(4)
    return array, torch.from_numpy(array)


@pytest.mark.parametrize(
    "held",
    [
        lambda: threading.Lock(),
        lambda: open(__file__),  # noqa: PTH123, SIM115
        lambda: tempfile.TemporaryFile("w+"),  # noqa: SIM115
        lambda: tempfile.TemporaryDirectory(),
        lambda: (number for number in range(3)),
        _with_history,
        _with_hook,
        _with_array,
        lambda: np.zeros(10_000_000),
        lambda: np.array([object()]),
        lambda: lambda y: eval("y"),
    ],
    ids=[
        "lock", "file", "temporary file", "temporary folder", "generator", "history", "hook",
        "shared memory", "large array", "array of objects", "eval",
    ],
)  # fmt: skip
def test_what_cannot_travel_stays_in_the_kernel(held: Callable[[], Any]) -> None:
    value = held()

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = subjects.printing(x)
        return y if value is not None else x

    inspection = Inspection(fn, (X,))
    inspection.sources.capture({"python": cs.Variant()}, Monitor())
    assert inspection.sources.capture_for_sources({NAME: DYNAMIC}, Monitor()) is None
    assert inspection.sources.has_capture(DYNAMIC)
    if isinstance(value, tempfile.TemporaryDirectory):
        assert Path(value.name).is_dir()


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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_elsewhere(inspected(subjects.limited, X))
    # The printed number is in no graph and no guard.
    monkeypatch.setattr(subjects, "LIMIT", 4)
    assert not run_elsewhere(inspected(subjects.limited, X))
    monkeypatch.undo()
    subjects.RANDOM.random()
    assert not run_elsewhere(inspected(subjects.limited, X))


def test_called_code_that_was_changed_since_its_import_stays_in_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_a_call_with_too_many_values_stays_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing_limits, "MOST_BYTES", 100)
    inspection = inspected(subjects.printing, X)
    assert local_sources.packed_with_values(inspection._call_packer) is None


def test_a_call_that_takes_too_long_there_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_sources, "_LIMIT", 0.0)
    monkeypatch.setattr(local_sources, "_LEAST_LIMIT_S", 0.0)
    assert not run_elsewhere(inspected(subjects.printing, X))


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
