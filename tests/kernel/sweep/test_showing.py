"""How a sweep shows itself, in a cell and in a terminal."""

from __future__ import annotations

from compilescope.report import CompileTime, Effective, OutputError, Report, Subject, Timing
from compilescope.report.problem import Problem
from compilescope.report.sweeps import Sweep, SweepCell
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


def shown(*cells: SweepCell) -> SweepResult:
    sweep = Sweep(cells=list(cells), shapes=[""], state="done", unit="images", took_s=12.0)
    ranking.rank(sweep)
    sweep.code = "compiled = torch.compile(<b>)"
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
    order = [line.split()[0] for line in lines if line.split()[:1] and line[0] != " "]
    assert [one for one in order if one in ("slow", "dead", "quick", "wrong")] == [
        "wrong",
        "quick",
        "slow",
        "dead",
    ]
    assert "4 cells: 3 measured, 1 crashed, in 12 s" in text
    assert "crashed: Its process died: signal 11 (SIGSEGV)." in text
    assert "wrong, by 5.0e-01" in text
    assert "best trade" in next(line for line in lines if line.startswith("slow"))
    assert "Fastest: quick, 5.00\u00d7 faster than eager." in text
    assert "1.6 M images/s" in text
    assert "2.5 GB" in text


def test_html_shows_names_and_code_as_text() -> None:
    deviation = Effective(setting="CUDA graphs", requested="on", actual="<off>", differs=True)
    html = shown(cell("a<i>", 20.0, effective=[deviation]))._repr_html_()
    assert "<script>" not in html
    assert "a&lt;i&gt;" in html
    assert "torch.compile(&lt;b&gt;)" in html
    assert "CUDA graphs: &lt;off&gt;" in html


def test_nothing_measured_names_no_winner() -> None:
    result = shown(cell("dead", 1.0, state="timeout", timing=None))
    assert result.best is None
    assert "Fastest" not in str(result)
    assert "1 out of time" in str(result)
    assert repr(result) == "<sweep of net<script>: 0 of 1 done>"


def test_a_report_with_a_sweep_shows_it_too() -> None:
    report = shown(cell("quick", 20.0)).report
    assert "Fastest: quick" in str(report)
    assert "Fastest: quick" in report._repr_html_()
