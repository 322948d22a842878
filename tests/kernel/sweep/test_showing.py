"""How a sweep shows itself, in a cell and in a terminal."""

from __future__ import annotations

import msgspec
import pytest
from compilescope.analysis.overview.sweep_verdicts import recommended
from compilescope.report import CompileTime, Effective, OutputError, Report, Subject, Timing
from compilescope.report.measurements.sweeps import Sweep, SweepCell
from compilescope.report.problem import Problem
from compilescope.report.saving.storage import from_json
from compilescope.report.variant import Variant
from compilescope.sweep import ranking
from compilescope.sweep.result import SweepResult


def cell(name: str, us: float, **more: object) -> SweepCell:
    timing = Timing(
        median_us=us,
        interval_us=(us, us),
        ratio=100 / us,
        ratio_interval=(100 / us - 0.1, 100 / us + 0.1),
        differs=True,
    )
    given = {
        "key": name,
        "variant": Variant(),
        "state": "done",
        "timing": timing,
        "throughput_per_s": 32e6 / us,
        "compile_time": CompileTime(total_s=2.5),
        "memory_bytes": 2.5e9,
        **more,
    }
    return SweepCell(name=name, **given)  # type: ignore[arg-type]


CODE = "compiled = torch.compile(<b>)"


def shown(*cells: SweepCell) -> SweepResult:
    shapes = list(dict.fromkeys(cell.shape for cell in cells))
    sweep = Sweep(cells=list(cells), shapes=shapes, state="done", unit="images", took_s=12.0)
    ranking.rank(sweep)
    sweep.code = CODE if recommended(sweep)[0] else ""
    subject = Subject(id="s", name="net<script>")
    return SweepResult(Report(subject=subject, sweep=sweep))


WRONG = OutputError(
    path="output",
    dtype="float32",
    max_abs=0.5,
    max_rel=1.0,
    tolerance_abs=1e-5,
    tolerance_rel=1e-5,
    ok=False,
)
DEAD = Problem(severity="error", what="Its process died: signal 11 (SIGSEGV).")


def test_the_fastest_comes_first_and_what_failed_says_why() -> None:
    result = shown(
        cell("slow", 80.0, compile_time=CompileTime(total_s=0.5)),
        cell("dead", 1.0, state="crashed", timing=None, problem=DEAD),
        cell("quick", 20.0),
        cell("wrong", 5.0, accuracy=[WRONG], accurate=False),
    )
    assert result.best is not None
    assert result.best.name == "quick"
    text = str(result)
    lines = text.splitlines()
    table = lines[: lines.index("")]
    order = [line.split()[0] for line in table if line.split()[:1] and line[0] != " "]
    assert [name for name in order if name in ("slow", "dead", "quick", "wrong")] == [
        "wrong",
        "quick",
        "slow",
        "dead",
    ]
    assert "All 4 cells are done \u00b7 in 12.0 s \u00b7 1 crashed\n" in text
    dead = next(line for line in table if line.startswith("dead"))
    assert "crashed" in dead
    assert dead.endswith("Its process died: signal 11 (SIGSEGV).")
    assert "wrong, by 0.50" in text
    assert "Pareto-optimal" in next(line for line in lines if line.startswith("slow"))
    assert "quick is fastest: 20.0 \u00b5s per call. It is 5.00\u00d7 faster than eager." in text
    assert "1.6 M images/s" in text
    assert "2.33 GiB" in text


def test_html_shows_names_and_code_as_text() -> None:
    deviation = Effective(setting="CUDA graphs", requested="on", actual="<off>", differs=True)
    html = shown(cell("a<i>", 20.0, effective=[deviation]))._repr_html_()
    assert "<script>" not in html
    assert "a&lt;i&gt;" in html
    assert "torch.compile(&lt;b&gt;)" in html
    assert "CUDA graphs: &lt;off&gt;" in html


def verdicts(*cells: SweepCell) -> dict[str, str]:
    sweep = shown(*cells).report.sweep
    assert sweep is not None
    return sweep.verdicts


def with_interval(name: str, us: float, low: float, high: float, *, few: bool = False) -> SweepCell:
    sweep_cell = cell(name, us)
    assert sweep_cell.timing is not None
    sweep_cell.timing.interval_us, sweep_cell.timing.few = (low, high), few
    return sweep_cell


def test_the_winner_is_clear_as_far_as_the_intervals_allow() -> None:
    near = with_interval("near", 21.0, 20.5, 21.5)
    data = verdicts(with_interval("quick", 20.0, 19.0, 20.4), near)
    assert data[""].startswith("quick is fastest: 20.0 \u00b5s per call.")
    assert data[""].endswith("Its first call takes 2.50 s.")
    data = verdicts(with_interval("quick", 20.0, 19.0, 20.6), near)
    assert data[""].startswith("No clear winner: the 95 % intervals of quick and near overlap.")
    data = verdicts(with_interval("quick", 20.0, 19.0, 20.4, few=True), near)
    assert data[""].startswith("Too few samples to tell quick from near.")
    eager = cell("eager", 10.0, variant=Variant(backend=None), compile_time=None)
    assert verdicts(eager, near) == {"": "No variant is faster than eager: 10.0 \u00b5s per call."}


def test_a_sweep_without_a_variant_faster_than_eager_says_so_first() -> None:
    data = verdicts(cell("slow", 150.0), cell("slower", 200.0))
    assert data[""].startswith("Every variant is slower than eager. ")
    assert "It is 1.50\u00d7 slower than eager." in data[""]
    unclear = cell("unclear", 104.0)
    assert unclear.timing is not None
    unclear.timing.differs = False
    assert "Every variant" not in verdicts(unclear, cell("slower", 200.0))[""]


WAITING = cell("later", 1.0, state="waiting", timing=None)
CANCELLED = cell("later", 1.0, state="cancelled", timing=None)
FAILED = cell("dead", 1.0, state="crashed", timing=None, problem=DEAD)
WRONG_AND_QUICK = cell("wrong", 5.0, accurate=False)


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([CANCELLED], "Only slow is measured: 150 \u00b5s per call. It is 1.50\u00d7 slower than"),
        ([cell("slower", 200.0), WAITING], "Every measured variant is slower than eager. slow is"),
        ([cell("slower", 200.0), FAILED], "Every measured variant is slower than eager. slow is"),
        (
            [cell("slower", 200.0), WRONG_AND_QUICK],
            "Every variant with correct results is slower than eager. slow is fastest: 150",
        ),
        ([WRONG_AND_QUICK], "Only slow has correct results: 150 \u00b5s per call."),
    ],
)
def test_a_verdict_on_every_variant_needs_all_of_them(
    others: list[SweepCell], verdict: str
) -> None:
    assert verdicts(cell("slow", 150.0), *others)[""].startswith(verdict)


def test_the_fastest_is_so_only_so_far_while_cells_can_still_be_measured() -> None:
    near, eager = cell("near", 21.0), cell("eager", 10.0, variant=Variant(backend=None))
    for later in (WAITING, CANCELLED):
        assert "quick is fastest so far: 20.0" in verdicts(cell("quick", 20.0), near, later)[""]
        assert "No variant is faster than eager so far" in verdicts(eager, near, later)[""]
    assert "quick is fastest: 20.0" in verdicts(cell("quick", 20.0), near, FAILED)[""]
    unclear = on("", 104, differs=False)
    assert shown(unclear, WAITING).sweep.overall == (
        "No variant is clearly faster than eager so far."
    )
    later = cell("python", 1.0, shape="d", key="later", state="waiting", timing=None)
    result = shown(on("a", 20), on("b", 20), later)
    assert result.sweep.overall == "Over all shapes so far: python"


def on(shape: str, us: float, *, name: str = "python", differs: bool | None = True) -> SweepCell:
    sweep_cell = cell(name, us, shape=shape, key=f"{name} {shape}")
    assert sweep_cell.timing is not None
    sweep_cell.timing.differs = differs
    if not differs:
        sweep_cell.timing.ratio_interval = (0.5, 1.5)
    return sweep_cell


@pytest.mark.parametrize(
    ("cells", "overall"),
    [
        ([on("a", 200), on("d", 90, differs=False)], "no variant is clearly faster than eager."),
        ([on("a", 200), on("d", 150)], "no variant is faster than eager."),
        (
            [on("a", 200), on("d", 90, differs=None)],
            "too few samples to tell whether a variant is faster than eager.",
        ),
        (
            [on("a", 90), on("d", 200)],
            "python has the lowest median, but is not clearly faster than eager.",
        ),
    ],
)
def test_a_variant_that_is_not_faster_than_eager_has_no_code_to_paste(
    cells: list[SweepCell], overall: str
) -> None:
    result = shown(*cells)
    for text in (str(result), result._repr_html_()):
        assert f"Over all shapes: {overall}" in text
        assert "torch.compile" not in text
    assert result.best is not None, "the lowest median is shown"


def test_a_variant_that_is_faster_over_all_shapes_has_code_to_paste() -> None:
    result = shown(on("a", 20), on("d", 110))
    assert recommended(result.sweep) == (True, {"a"})
    assert str(result).splitlines()[-2:] == ["Over all shapes: python", CODE]
    (line,) = [line for line in str(shown(on("", 90, differs=False))).splitlines() if "No " in line]
    assert line == "No variant is clearly faster than eager."
    assert shown(on("", 200)).sweep.overall == "", "the verdict says it"


def test_no_rival_that_is_wrong_counts() -> None:
    data = verdicts(cell("quick", 20.0), cell("wrong", 5.0, accurate=False))
    assert data[""].startswith("Only quick has correct results")


def test_a_wrong_variant_that_is_faster_than_eager_is_not_left_out() -> None:
    eager = cell("eager", 10.0, variant=Variant(backend=None), compile_time=None)
    assert verdicts(eager, cell("wrong", 5.0, accurate=False)) == {
        "": "No variant with correct results is faster than eager: 10.0 \u00b5s per call."
    }
    failed = cell("dead", 5.0, state="crashed")
    assert verdicts(eager, failed) == {"": "Only eager is measured: 10.0 \u00b5s per call."}


def test_each_shape_has_its_own_verdict() -> None:
    cells = [cell("quick", 20.0, shape="small"), cell("quick", 40.0, shape="large", key="2")]
    text = str(shown(*cells))
    assert "small: Only quick is measured: 20.0 \u00b5s per call." in text
    assert "large: Only quick is measured: 40.0 \u00b5s per call." in text
    assert "Over all shapes: quick" in text


def test_a_sweep_of_an_earlier_file_gets_its_words() -> None:
    report = shown(cell("quick", 20.0)).report
    assert report.sweep is not None
    known = report.sweep
    report.sweep = msgspec.structs.replace(known, verdicts={}, status="", status_detail="")
    assert from_json(report.to_json()).sweep == known


def test_a_running_sweep_says_what_runs_what_is_left_and_what_is_reused() -> None:
    sweep = Sweep(
        cells=[
            cell("python", 30.0, started_s=10.0),
            cell("cpp", 1.0, state="running", step="compiling", timing=None),
            cell("dynamic", 1.0, state="waiting", timing=None),
        ],
        shapes=[""],
        state="running",
        started_s=1000.0,
        left="about 20 s",
    )
    ranking.rank(sweep)
    assert sweep.status == "Sweeping: 1 of 3 cells"
    assert sweep.status_detail == (
        "now cpp (compiling) \u00b7 about 20 s left \u00b7 1 of 3 cells is reused"
    )
    assert sweep.fraction == 1 / 3
    assert [cell.reused for cell in sweep.cells] == [True, False, False]


def test_a_cancelled_sweep_counts_cells_without_a_result_but_not_cancelled_ones() -> None:
    cells = [cell("a", 1.0, state="crashed"), cell("b", 1.0, state="cancelled")]
    sweep = Sweep(cells=cells, shapes=[""], state="cancelled", took_s=600.0)
    ranking.rank(sweep)
    assert sweep.status == "Canceled after 1 of 2 cells; you can resume"
    assert sweep.status_detail == "in 10 min \u00b7 1 crashed"


def test_nothing_measured_names_no_winner() -> None:
    result = shown(cell("dead", 1.0, state="timeout", timing=None))
    assert result.best is None
    assert "fastest" not in str(result)
    assert "1 timed out" in str(result)
    assert repr(result) == "<sweep of net<script>: 0 of 1 done>"


def test_a_report_with_a_sweep_shows_it_too() -> None:
    report = shown(cell("quick", 20.0)).report
    assert "Only quick is measured: 20.0 \u00b5s per call." in str(report)
    assert "Only quick is measured: 20.0 \u00b5s per call." in report._repr_html_()
