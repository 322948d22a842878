"""Ranking, keys, the kept cells and the code to paste: nothing is run."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.analysis.overview.sweep_verdicts import is_candidate, latency_us
from compilescope.analysis.settings.variant_code import code_of
from compilescope.processes.executors import lost, not_started
from compilescope.processes.runner import Ended, Limits
from compilescope.report import CompileTime, Problem, Timing
from compilescope.report.measurements.sweeps import Sweep, SweepCell
from compilescope.report.problem import FAULT
from compilescope.sweep import cell_ids, ranking
from compilescope.sweep.store import FILE, Store, StoredCell
from compilescope.sweep.worker import CellTask, _unfinished
from compilescope.torch_api.dynamo import compile_variant
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

pytestmark = pytest.mark.slow


def cell(key: str, us: float | None, compile_s: float, **more: Any) -> SweepCell:
    return SweepCell(
        key=key,
        name=more.pop("name", key),
        variant=cs.Variant(),
        state=more.pop("state", "done"),
        timing=Timing(median_us=us, interval_us=(us, us)) if us is not None else None,
        compile_time=CompileTime(total_s=compile_s),
        **more,
    )


TASK = CellTask(
    cell=cell("a", None, 1.0),
    data=b"",
    header={},
    seconds=1.0,
    items=1.0,
    limits=Limits(),
    scratch="",
    attempt="",
)

STATES = st.sampled_from(["done", "done", "done", "failed", "timeout", "cancelled"])
FEW = st.integers(1, 5).map(float)  # so that there are ties


@st.composite
def swept(draw: st.DrawFn) -> Sweep:
    shapes = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
    names = draw(st.lists(st.sampled_from("vwxyz"), min_size=1, max_size=5, unique=True))
    cells = [
        cell(
            f"{name}{shape}",
            draw(FEW),
            draw(FEW),
            name=name,
            shape=shape,
            state=draw(STATES),
            accurate=draw(st.sampled_from([True, True, None, False])),
        )
        for shape in shapes
        for name in names
    ]
    return Sweep(cells=cells, shapes=shapes)


def test_a_grid_holds_the_combinations_of_what_is_named_and_no_mode_besides() -> None:
    result = cs.grid(dynamic=(None, True), options=({}, {"max_autotune": True}))
    assert len(result) == 8
    assert {variant.mode for variant in result.values()} == {None}
    assert set(compile_variant.modes()) >= {"default", "max-autotune", "reduce-overhead"}
    with pytest.raises(cs.CompilescopeError, match=r"^dynamic is empty\. .*\[None, True\]"):
        cs.grid(dynamic=())
    with pytest.raises(cs.CompilescopeError, match="takes a function, called with the sweep and a"):
        cs.sweep(abs, (1,), progress=3)  # type: ignore[arg-type]
    assert len(cs.grid(modes=compile_variant.modes())) == 2 * len(compile_variant.modes())


@given(swept())
def test_the_pareto_set_is_what_none_beats_and_holds_every_winner(sweep: Sweep) -> None:
    ranking.rank(sweep)
    for shape in sweep.shapes:
        rivals = [
            candidate
            for candidate in sweep.cells
            if candidate.shape == shape and is_candidate(candidate)
        ]
        best = [rival for rival in rivals if rival.key in sweep.pareto]
        points = {(latency_us(candidate), ranking.compile_s(candidate)) for candidate in best}
        for item in rivals:
            point = latency_us(item), ranking.compile_s(item)
            no_worse = [p for p in points if p[0] <= point[0] and p[1] <= point[1]]
            assert no_worse, "every cell is in the set, or one of the set is no worse"
            assert (point in points) == (no_worse == [point])
        assert bool(rivals) == (shape in sweep.winners)
        if rivals:
            fastest = min(map(latency_us, rivals))
            winner = next(rival for rival in rivals if rival.key == sweep.winners[shape])
            assert latency_us(winner) == fastest
    assert bool(sweep.winner) == any(map(is_candidate, sweep.cells))


@given(swept())
def test_no_variant_is_faster_on_every_shape_than_the_winner(sweep: Sweep) -> None:
    ranking.rank(sweep)
    by_name: dict[str, dict[str, float]] = {}
    for cell in filter(is_candidate, sweep.cells):
        by_name.setdefault(cell.name, {})[cell.shape] = latency_us(cell)
    winner = next((candidate for candidate in sweep.cells if candidate.key == sweep.winner), None)
    if winner is None:
        assert not by_name
        return
    own = by_name[winner.name]
    for other in by_name.values():
        assert len(other) <= len(own)
        assert other.keys() != own.keys() or any(other[shape] >= own[shape] for shape in own)


def test_keys_go_by_code_shapes_and_settings_and_not_by_identity_or_numbers() -> None:
    def make(body: str) -> Any:
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(body, space)
        return space["f"]

    text = "def g(x):\n    return x in {'a', 'b'}\ndef f(x):\n    return g(x) + 1"
    same = cell_ids.identity(make(text))
    assert cell_ids.identity(make(text)) == same
    assert cell_ids.identity(make("\n\n" + text)) == same, "where it stands does not count"
    assert cell_ids.identity(make(text.replace("'b'", "'c'"))) != same, "what it calls does"
    assert cell_ids.identity((torch.zeros(3),)) == cell_ids.identity((torch.ones(3),))
    assert cell_ids.identity((torch.zeros(3),)) != cell_ids.identity((torch.zeros(4),))
    assert cell_ids.identity(nn.Linear(2, 2)) == cell_ids.identity(nn.Linear(2, 2))
    assert cell_ids.identity(nn.Linear(2, 2)) != cell_ids.identity(nn.Linear(2, 2).eval())
    settings = [
        cell_ids.key(same, variant, "", []) for variant in cs.grid(dynamic=(None, True)).values()
    ]
    assert len(set(settings)) == len(settings)


def test_kept_cells_survive_a_line_that_was_cut_off(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(StoredCell(cell=cell("a", 1.0, 1.0)))
    with (tmp_path / FILE).open("ab") as file:
        file.write(msgspec.json.encode(StoredCell(cell=cell("b", 1.0, 1.0)))[:50])
    assert list(store.load()) == ["a"]
    store.add(StoredCell(cell=cell("c", 3.0, 1.0)))
    store.add(StoredCell(cell=cell("a", 2.0, 1.0)))
    report = store.load()
    assert list(report) == ["a", "c"]
    assert report["a"].cell.timing is not None
    assert report["a"].cell.timing.median_us == 2.0, "the last one counts"
    assert store.problem is None


def test_kept_cells_of_an_earlier_version_have_its_names(tmp_path: Path) -> None:
    stored = StoredCell(cell=cell("a", 1.0, 1.0))
    assert stored.cell.timing is not None
    stored.cell.timing.initial_state = "restored"
    line = msgspec.json.encode(stored).replace(b'"initial_state"', b'"keeping"')
    (tmp_path / FILE).write_bytes(line + b"\n")
    assert Store(tmp_path).load() == {"a": stored}


def test_what_was_ended_is_tried_again_only_with_more() -> None:
    late = StoredCell(cell=cell("a", None, 1.0, state="timeout"), timeout_s=10)
    assert late.serves(10, None)
    assert late.serves(5, None)
    assert not late.serves(20, None)
    assert not late.serves(None, None)
    full = StoredCell(cell=cell("a", None, 1.0, state="memory"), memory_bytes=1e9)
    assert full.serves(99, 1e9)
    assert not full.serves(99, 2e9)
    assert not StoredCell(cell=cell("a", None, 1.0, state="cancelled")).serves(1, 1)
    ours = cell(
        "a", None, 1.0, state="failed", problem=Problem(severity="error", what=f"{FAULT}KeyError")
    )
    assert not StoredCell(cell=ours).serves(1, 1)


@pytest.mark.parametrize(
    "problem",
    [
        not_started(OSError(28, "No space left on device"), "sweep again"),
        lost(RuntimeError("broken"), "sweep again"),
        lost(BrokenProcessPool("a child died"), "sweep again"),
        _unfinished(TASK, Ended(how="crashed", exit_code=-9)).problem,
    ],
    ids=["start", "lost", "broken", "killed"],
)
def test_a_failure_of_the_machine_is_tried_again(problem: Problem) -> None:
    stored = StoredCell(cell=cell("a", None, 1.0, state="crashed", problem=problem))
    assert not stored.serves(None, None)
    own = _unfinished(TASK, Ended(how="crashed", exit_code=-6)).problem
    assert StoredCell(cell=cell("a", None, 1.0, state="crashed", problem=own)).serves(None, None)


def test_a_short_measurement_does_not_serve_for_a_longer_one() -> None:
    stored = StoredCell(cell=cell("a", 1.0, 1.0), seconds=2.0)
    assert stored.serves(None, None, 2.0)
    assert stored.serves(None, None, 0.5)
    assert not stored.serves(None, None, 30.0)
    assert StoredCell(cell=cell("a", None, 1.0, state="failed")).serves(None, None, 30.0)


def test_a_measured_cell_of_any_file_counts_more_than_a_failed_one(tmp_path: Path) -> None:
    Store(tmp_path, "1-of-2").add(StoredCell(cell=cell("a", 1.0, 1.0)))
    Store(tmp_path, "2-of-2").add(StoredCell(cell=cell("a", None, 1.0, state="failed")))
    Store(tmp_path, "2-of-2").add(StoredCell(cell=cell("b", None, 1.0, state="failed")))
    assert {key: kept.cell.state for key, kept in Store(tmp_path).load().items()} == {
        "a": "done",
        "b": "failed",
    }
    Store(tmp_path, "1-of-2").add(StoredCell(cell=cell("a", None, 1.0, state="crashed")))
    assert Store(tmp_path).load()["a"].cell.state == "failed", "of a file the last one counts"


@pytest.mark.parametrize("way", ["full", "in the way"])
def test_a_disk_that_takes_nothing_is_a_problem_once(tmp_path: Path, way: str) -> None:
    folder = tmp_path / "kept"
    if way == "full":
        if not Path("/dev/full").exists():
            pytest.skip("there is no /dev/full here")
        folder.mkdir()
        (folder / FILE).symlink_to("/dev/full")
    else:
        folder.write_text("a file")
    store = Store(folder)
    store.add(StoredCell(cell=cell("a", 1.0, 1.0)))
    assert store.problem is not None
    assert store.problem.what == "Finished cells cannot be kept on disk."
    before = store.problem
    store.add(StoredCell(cell=cell("b", 1.0, 1.0)))
    assert store.problem is before


@pytest.mark.parametrize(
    ("variant", "code"),
    [
        (cs.Variant(backend=None), "compiled = fn  # eager: no torch.compile"),
        (cs.Variant(), "compiled = torch.compile(fn)"),
        (
            cs.Variant(mode="max-autotune", dynamic=True),
            "compiled = torch.compile(fn, mode='max-autotune', dynamic=True)",
        ),
        (
            cs.Variant(cpp_wrapper=True, fullgraph=True),
            "compiled = torch.compile(fn, fullgraph=True, options={'cpp_wrapper': True})",
        ),
    ],
)
def test_the_code_to_paste(variant: cs.Variant, code: str) -> None:
    assert code_of(variant) == code


def test_every_code_of_the_grid_is_what_torch_takes_and_means_the_same() -> None:
    for variant in cs.grid(options=({}, {"epilogue_fusion": False})).values():
        space: dict[str, Any] = {"torch": torch, "fn": lambda x: x}
        exec(code_of(variant), space)
        config = space["compiled"].get_compiler_config()
        assert config["cpp_wrapper"] == variant.cpp_wrapper
        assert config["epilogue_fusion"] is not bool(variant.options)
        modes = torch._inductor.list_mode_options(variant.mode) if variant.mode else {}
        for name, value in modes.items():
            assert config[name] == value
