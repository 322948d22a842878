"""Cells, each in a process of its own: what is measured, and how they may end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.overview.sweep_verdicts import recommended
from compilescope.report.measurements.sweeps import SweepCell
from compilescope.sweep import memory

from . import subjects
from .conftest import Sweep

pytestmark = pytest.mark.slow

X = torch.ones(8)
EAGER = {"eager": cs.Variant(backend=None)}
DYNAMO = {"dynamo": cs.Variant(backend="eager")}
"""Compiles, but runs no C++ compiler."""


def only(result: Any) -> SweepCell:
    (cell,) = result.cells
    return cell


@pytest.mark.slow
def test_a_cell_is_compiled_cold_measured_and_compared(sweep: Sweep) -> None:
    calls: list[tuple[str, str]] = []
    result = sweep(
        subjects.double,
        (X,),
        variants="python",
        items=8,
        unit="numbers",
        progress=lambda sweep, cell: calls.append((cell.state, cell.step)),
    )
    cell = only(result)
    assert cell.state == "done", cell.problem
    assert cell.timing is not None
    assert cell.timing.ratio is not None
    assert cell.timing.initial_state == "unchanged"
    assert cell.compile_time is not None
    assert cell.compile_time.cold
    built_parts = {"code_generation", "cpp_build"}
    assert built_parts <= cell.compile_time.parts.keys(), "nothing was in its caches"
    assert cell.accurate
    assert cell.throughput_per_s == pytest.approx(8e6 / cell.timing.median_us)
    assert cell.arguments == ["x: float32[8] cpu"]
    assert cell.device.startswith("cpu")
    assert ("running", "measuring") in calls or ("running", "compiling") in calls
    assert calls[-1] == ("done", "")
    assert result.best is cell
    overall, shapes = recommended(result.sweep)
    assert result.code == ("compiled = torch.compile(double)" if overall else "")
    assert set(result.sweep.codes) == shapes == ({""} if overall else set())
    assert "double" in str(result)
    assert "1 cell" in result._repr_html_()
    loaded = cs.load(result.save(Path(result.sweep.folder) / "report.json"))
    assert loaded.sweep == result.sweep


def test_what_a_call_changes_is_put_back_and_said(sweep: Sweep) -> None:
    cell = only(sweep(factory=subjects.make, variants=DYNAMO))
    assert cell.state == "done", cell.problem
    assert cell.timing is not None
    assert cell.timing.initial_state == "restored"
    assert any("calls" in path for path in cell.timing.changes)
    assert cell.accurate, "both began with the same state"


def test_how_cells_may_end(sweep: Sweep, tmp_path: Path) -> None:
    failed = only(sweep(subjects.fails, (X,), variants=EAGER))
    assert failed.state == "failed"
    assert failed.problem is not None
    assert "LookupError: the subject's own" in failed.problem.what

    used_up = only(sweep(subjects.UsesUp(), (X,), variants=EAGER))
    assert used_up.problem is not None
    assert "went well at first" in used_up.problem.why

    crashed = only(sweep(subjects.aborts, (X,), variants=EAGER))
    assert crashed.state == "crashed"
    assert crashed.problem is not None
    assert crashed.problem.what == "Its process died: signal 6 (SIGABRT)."
    assert "in aborts" in crashed.problem.detail

    late = only(sweep(subjects.hangs, (X,), variants=EAGER, timeout_s=8))
    assert late.state == "timeout"
    assert late.took_s is not None
    assert 8 <= late.took_s < 600, "it was ended: it would sleep for 600 s"


@pytest.mark.parametrize("subject", [subjects.hoards, subjects.refuses])
def test_memory_that_runs_out_is_said(sweep: Sweep, subject: Any) -> None:
    cell = only(sweep(subject, (X,), variants=EAGER, memory_gb=1.5))
    assert cell.state == "memory", cell.problem
    assert cell.problem is not None


def test_the_memory_of_a_call_is_what_the_process_grows_by(sweep: Sweep) -> None:
    cell = only(sweep(subjects.grows, (torch.ones(1),), variants=EAGER))
    assert cell.memory_bytes is not None, cell.problem
    assert 64e6 <= cell.memory_bytes < 200e6


def test_memory_that_the_system_does_not_tell_is_not_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_RESET", tmp_path)  # a folder: nothing can be written to it
    monkeypatch.setattr(memory, "_can", lambda: True)
    assert memory.Memory("cpu").measure(lambda: None) is None


def test_modes_settings_and_functions_of_the_notebook_travel(sweep: Sweep) -> None:
    scale = 3.0
    space: dict[str, Any] = {"__name__": "__main__", "torch": torch, "scale": scale}
    exec(
        "def here(x):\n"
        "    assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()\n"
        "    assert torch.get_num_threads() == 1\n"
        "    assert not torch._inductor.config.epilogue_fusion\n"
        "    return x * scale",
        space,
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(), torch._inductor.config.patch(epilogue_fusion=False):
            cell = only(sweep(space["here"], (X,), variants=DYNAMO))
    finally:
        torch.set_num_threads(threads)
    assert cell.state == "done", cell.problem


def test_what_cannot_travel_or_be_called_is_refused_before_anything_runs(sweep: Sweep) -> None:
    def refused(*given: Any, **options: Any) -> str:
        with pytest.raises(cs.CompilescopeError) as error:
            sweep(*given, **{"variants": EAGER, **options})
        return str(error.value)

    said = refused(subjects.unpicklable(), (X,))
    assert "cannot be sent to another process" in said
    assert "compilescope.sweep(factory=make)" in said
    assert "Write sweep(double, (x,))." in refused(subjects.double)
    two = {"braces {}": ((X, X), {})}
    assert "Write shapes={'braces {}': (x,)}." in refused(subjects.double, shapes=two)
    assert "Write shapes={'braces {}': (x,)}." in refused(
        subjects.double, shapes={"one": (X,), **two}
    )
    assert "an instance: sweep(Counting(...), args)." in refused(subjects.Counting, shapes=two)
    assert "either a subject or a factory" in refused(subjects.double, (X,), factory=subjects.make)
    assert "shapes is empty" in refused(subjects.double, shapes={})
    assert "timeout_s is 0" in refused(subjects.double, (X,), timeout_s=0)
    assert "workers is 0" in refused(subjects.double, (X,), workers=0)
    assert "Arguments are given as a str" in refused(subjects.double, shapes={"a": "x"})


def test_a_factory_that_makes_no_call_is_a_row_that_says_so(sweep: Sweep) -> None:
    cell = only(sweep(factory=subjects.make_nothing, variants=EAGER))
    assert cell.state == "failed"
    assert cell.problem is not None
    assert cell.problem.what == "The factory returned a str."


def test_what_goes_wrong_before_there_is_a_call_names_the_factory(sweep: Sweep) -> None:
    faulty = only(sweep(factory=subjects.make_with_a_fault, variants=EAGER))
    assert faulty.state == "failed"
    assert faulty.problem is not None
    assert faulty.problem.what == "The factory raised LookupError: the factory's own."
    assert faulty.problem.where is not None
    assert faulty.problem.where.function == "make_with_a_fault"
    unfit = only(sweep(factory=subjects.make_too_much, variants=EAGER))
    assert unfit.problem is not None
    assert unfit.problem.remedy == "Write return double, (x,)."


def test_a_subject_that_cannot_be_unpickled_is_not_said_to_raise(sweep: Sweep) -> None:
    cell = only(sweep(subjects.Unrestorable(), (X,), variants=EAGER))
    assert cell.state == "failed"
    assert cell.problem is not None
    assert cell.problem.what == "The subject cannot be recreated in another process."
    assert cell.problem.why == "Unpickling it failed: LookupError: nothing to restore."
    assert cell.problem.remedy.startswith("Define it in a module that the other process can import")
    assert "__setstate__" in cell.problem.detail
    held = subjects.Unrestorable()
    result = only(sweep(factory=lambda: (held, (X,)), variants=EAGER))
    assert result.problem is not None
    assert result.problem.what == "The factory cannot be recreated in another process."
    assert "factory" not in result.problem.remedy


def test_a_function_of_arguments_that_raises_is_named(sweep: Sweep) -> None:
    cells = sweep(
        subjects.double,
        variants=EAGER,
        shapes={"here": (X,), "raises": subjects.make_with_a_fault, "unfit": lambda: (X, X)},
    ).cells
    what = "The function of the arguments raised LookupError: the factory's own."
    assert [cell.state for cell in cells] == ["done", "failed", "failed"]
    assert [cell.problem.what for cell in cells if cell.problem is not None] == [
        what,
        "double cannot be called with these arguments.",
    ]
