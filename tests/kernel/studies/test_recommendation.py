"""Which way to deploy a call is recommended, and what the recommendation shows and does."""

from __future__ import annotations

import ast
import threading
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.analysis.figures.intervals import Ratio
from compilescope.analysis.figures.speedups import speedup
from compilescope.report import Problem, Report, Subject, VariantReport
from compilescope.report.measurements.deployment import (
    BLOCKS,
    PACKAGE,
    WAY_STUDIES,
    WAYS_SLOWER,
    WAYS_UNDECIDED,
    WRITTEN,
    DeployWay,
)
from compilescope.report.measurements.recommendation import counts, judge, paste_code
from compilescope.report.measurements.way_remarks import remarks_on
from compilescope.report.problem import STUDY_FAILED
from compilescope.report.references import refer
from compilescope.report.saving.storage import complete
from compilescope.studies.table import STUDIES
from compilescope.views.html import report as html
from compilescope.views.rows import deploy as rows
from compilescope.views.text import report as text
from torch import nn

from .. import views_report


def measured(name: str, cold: float, shipped: float | None, us: float, **more: Any) -> DeployWay:
    settings = {"accurate": True, "eager_us": 100.0, "memory_bytes": 1e9, "ship_code": "pass"}
    settings["code"] = f"compiled = {name!r}"
    faster = Ratio(100 / us, (100 / (us + 1), 100 / (us - 0.9)), abs(us - 100) > 1)
    return DeployWay(
        name=name,
        cold_s=cold,
        shipped_s=shipped,
        call_us=us,
        speedup=speedup(faster, "eager"),
        **{**settings, **more},
    )


def report_of(*deploy_ways: DeployWay) -> Report:
    variant = VariantReport(name="python", requested=cs.Variant(), ways=list(deploy_ways))
    variant.best_way, variant.ways_remarks = judge(deploy_ways), remarks_on(deploy_ways)
    return Report(subject=Subject(id="1", name="model"), variants=[variant])


EAGER = measured("eager", 0.01, None, 100.0, ship_code="")
FAST = measured("fast", 60.0, 20.0, 10.0)
AS_FAST = measured("as fast", 50.0, 30.0, 11.0)
SOON = measured("soon", 2.0, 0.5, 50.0, memory_bytes=2e9)
UNSAFE = measured("unsafe", 1.0, 0.1, 1.0, safe=False)
WRONG = measured("wrong", 1.0, 0.1, 1.0, accurate=False)
WRONG_SHIPPED = measured("wrong shipped", 1.0, 0.1, 1.0, shipped_accurate=False)
SLOW = measured("slow", 0.1, 0.05, 120.0)


def test_the_objective_decides_which_way_is_recommended() -> None:
    report = report_of(EAGER, FAST, AS_FAST, SOON, UNSAFE, WRONG, WRONG_SHIPPED, SLOW)
    assert report.best("latency").way is FAST, "of two that are alike, what starts sooner"
    assert report.best("cold").way is SOON
    assert report.best("balanced").way is SOON
    assert report.best("balanced", memory_gb=1.5).way is FAST
    only_slower = report_of(EAGER, SLOW)
    assert only_slower.best("latency").way is EAGER
    assert only_slower.variants[0].best_way == WAYS_SLOWER


def test_a_recommendation_says_which_latencies_had_not_settled() -> None:
    doubt = "Latencies had not settled when the warm-up ended: unsettled."
    unsettled = measured("unsettled", 0.4, 0.2, 80.0, settled=False)
    report = report_of(EAGER, FAST, unsettled)
    assert report.best("latency").reason.endswith(doubt)
    assert report.variants[0].best_way.endswith(doubt)
    slower = measured("unsettled", 0.1, 0.05, 120.0, settled=False)
    assert judge([slower, SLOW]).endswith(doubt)
    settled = report_of(EAGER, FAST)
    assert "settled" not in settled.best("latency").reason + settled.variants[0].best_way


def test_noise_does_not_choose_a_way() -> None:
    noisy = measured("noisy", 1.0, 0.1, 5.0)
    assert noisy.speedup is not None
    noisy.speedup.standing, noisy.speedup.text = "noisy", "too noisy to judge"
    assert report_of(EAGER, noisy, SOON).best("latency").way is SOON
    report = report_of(EAGER, noisy)
    only_noise = report.best("latency")
    assert only_noise.way is EAGER
    assert only_noise.reason.endswith(f"{WAYS_UNDECIDED} Not judged: noisy.")
    assert [way.best_for for way in report.variants[0].ways] == [[], []]
    assert WAYS_UNDECIDED in rows.remarks(report.variants[0])
    without_eager = report_of(noisy).best("cold")
    assert without_eager.way is noisy, "nothing else was measured"
    assert WAYS_UNDECIDED in str(without_eager)
    assert report_of(EAGER, SLOW, WRONG).variants[0].ways[0].best_for, "nothing is undecided"


def test_each_way_says_what_it_is_best_for() -> None:
    ways = report_of(EAGER, FAST, SOON, UNSAFE).variants[0].ways
    assert [way.name for way in ways if way.is_pareto] == ["eager", "fast", "soon"]
    assert {way.name: way.best_for for way in ways if way.best_for} == {
        "fast": ["latency"],
        "soon": ["cold", "balanced"],
    }
    assert [way.first_s for way in ways] == [0.01, 20.0, 0.5, 0.1]
    for way in ways:
        ast.parse(way.paste_code)
    judge(ways[:1])
    assert EAGER.best_for == ["latency", "cold", "balanced"], "there is nothing else yet"


@pytest.mark.parametrize(
    ("accurate", "shipped", "as_eager", "word"),
    [
        (True, None, True, "yes"),
        (True, True, True, "yes"),
        (True, False, False, "NO"),
        (False, None, False, "NO"),
        (None, None, None, ""),
        (None, False, False, "NO"),
    ],
)
def test_results_with_the_shipped_files_count_too(
    accurate: bool | None, shipped: bool | None, as_eager: bool | None, word: str
) -> None:
    way = measured("way", 1.0, 0.1, 1.0, accurate=accurate, shipped_accurate=shipped)
    report = report_of(way)
    assert way.as_eager is as_eager
    assert counts(way) is (as_eager is not False)
    (row,) = rows.rows(report.variants[0])
    assert row[-1] == word
    way.as_eager = None
    complete(report)
    assert way.as_eager is as_eager, "a file of an earlier version"


def test_files_with_wrong_results_are_not_in_the_code_to_paste() -> None:
    judge([SOON, WRONG_SHIPPED])
    assert "writes what is shipped" in SOON.paste_code
    assert "writes what is shipped" not in WRONG_SHIPPED.paste_code


def test_a_recommendation_compiles_and_shows_itself() -> None:
    best = report_of(EAGER, msgspec.structs.replace(SOON, ship_bytes=2048)).best("cold")
    assert best.apply(nn.Identity()) == "soon"
    assert "500 ms with the 2.00 KiB it ships" in str(best)
    slow = report_of(EAGER, measured("minutes", 90.0, None, 50.0, eager_us=39_000.0)).best()
    assert "in eager 39.0 ms" in str(slow)
    assert "# In each process that serves:" in best.code
    ast.parse(best.code)


def test_what_cannot_be_recommended_says_why() -> None:
    with pytest.raises(cs.CompilescopeError, match="No way to deploy the call was measured"):
        report_of().best()
    with pytest.raises(cs.CompilescopeError, match="no objective 'speed'"):
        report_of(EAGER).best("speed")  # type: ignore[arg-type]
    with pytest.raises(cs.CompilescopeError, match="No way needs less than"):
        report_of(EAGER).best(memory_gb=0.5)
    for memory in ("1", -1, float("nan"), True):
        with pytest.raises(cs.CompilescopeError, match=f"memory_gb is {memory!r}"):
            report_of(EAGER).best(memory_gb=memory)  # type: ignore[arg-type]
    broken = DeployWay(name="broken", problem=Problem("error", "It died.", remedy="Mend it."))
    with pytest.raises(cs.CompilescopeError, match="broken failed: It died"):
        report_of(broken).best()
    # The study `blocks` measures no eager.
    only_slow = report_of(SLOW)
    with pytest.raises(cs.CompilescopeError, match="is faster than eager"):
        only_slow.best()
    assert only_slow.variants[0].ways[0].best_for == []
    assert WAYS_SLOWER in rows.remarks(only_slow.variants[0])


def test_a_failed_study_is_why_nothing_can_be_recommended() -> None:
    lock = threading.Lock()
    report = cs.inspect(lambda x: x + lock.locked(), (torch.ones(2),), variants="python", run=False)
    report = cs.study(report, "deploy")
    with pytest.raises(cs.CompilescopeError) as raised:
        report.best()
    problem = raised.value.problem
    assert problem.what == "No way to deploy the call was measured."
    assert problem.why.startswith(STUDY_FAILED.format("deploy"))
    assert "The subject cannot be sent to another process." in problem.why
    assert problem.remedy == (
        'Pass a factory instead: compilescope.study(report, "deploy", factory=make), where make() '
        "returns (fn, args)."
    )


def test_the_studies_of_ways_exist() -> None:
    assert set(WAY_STUDIES) <= set(STUDIES)


def test_the_table_is_in_the_text_and_in_the_page() -> None:
    failed = DeployWay(name="AOTInductor", why="torch.export takes a module.")
    report = views_report.report()
    variant = report.variants[0]
    variant.ways = [EAGER, FAST, SOON, failed]
    variant.best_way = judge(variant.ways)
    shown = text.render(report, width=100)
    assert f"{report.variants[0].name}: ways to deploy" in shown
    assert "fast *" in shown
    assert (
        "Lowest latency: fast. Shortest time to the first result among the ways faster than eager: "
        "soon. Best product of first result and call time: soon."
    ) in " ".join(shown.split())
    assert "Not measured: AOTInductor. torch.export takes a module." in shown
    assert "ways to deploy" in html.render(report)


def test_a_machine_that_was_not_as_fast_for_each_way_is_named() -> None:
    (even,) = report_of(EAGER, FAST).variants
    slowed = measured("slowed", 2.0, 0.5, 50.0, eager_us=210.0)
    (uneven,) = report_of(EAGER, slowed).variants
    said = "the machine was faster for some ways than for others"
    assert not any(said in line for line in rows.remarks(even))
    assert any(said in line for line in rows.remarks(uneven))


def doubles(value: float) -> float:
    return 2 * value


def test_code_with_a_function_of_the_users_is_applied() -> None:
    reference = refer(doubles)
    assert reference.endswith(".doubles>")
    way = measured("own", 2.0, 0.5, 50.0, code=f"compiled = {doubles.__module__}.doubles")
    assert report_of(EAGER, way).best("cold").apply(nn.Identity()) is doubles


def test_a_way_that_compiles_ahead_of_time_needs_arguments_and_overwrites_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "model.pt2"
    kept.write_text("precious")
    code = 'Path("model.pt2").write_text(str(args))\ncompiled = Path("model.pt2").read_text()'
    best = report_of(EAGER, measured("ahead", 2.0, 0.5, 50.0, code=code)).best("cold")
    with pytest.raises(cs.CompilescopeError, match="ahead compiles for the arguments of a call"):
        best.apply(nn.Identity())
    assert best.apply(nn.Identity(), (1, 2)) == "(1, 2)"
    assert kept.read_text() == "precious"


def test_what_is_no_model_and_no_arguments_is_refused_in_words() -> None:
    best = report_of(EAGER, SOON).best("cold")
    model, x = nn.Identity(), torch.ones(2)
    for given, what in (
        ((model, x), r"args is tensor.*\. It takes the positional arguments of the call: \(x,\)"),
        ((model, (x,), 3), r"kwargs is 3\. It takes the call's keyword arguments"),
        ((3, (x,)), r"model is 3\. It takes a function or a module"),
    ):
        with pytest.raises(cs.CompilescopeError, match=what):
            best.apply(*given)  # type: ignore[arg-type]


def test_blocks_of_another_model_are_missed_in_words() -> None:
    code = "for block in model.layers:\n    block.compile()\ncompiled = model"
    way = measured(BLOCKS, 2.0, 0.5, 50.0, code=code)
    with pytest.raises(cs.CompilescopeError, match="no such blocks: 'Identity'"):
        report_of(EAGER, way).best("cold").apply(nn.Identity())


def test_each_part_of_the_code_runs_by_itself() -> None:
    way = measured("way", 2.0, 0.5, 50.0, code="compiled = torch.compile(model, backend='eager')")
    way.ship_code = 'Path("caches.bin").name'
    way.load_code = f'os.fspath("caches.bin")\n{way.code}'
    judge([EAGER, way])
    parts = way.paste_code.split("# In each process that serves:")
    for part, imported in zip(parts, ("pathlib", "os"), strict=True):
        assert imported in part
        names = {"model": nn.Identity(), "args": (torch.ones(2),), "kwargs": {}}
        exec(part, names)
        assert "functools" not in part
    # Only the first part calls it.
    assert ["# args and kwargs: the arguments of a call" in part for part in parts] == [True, False]


def test_what_differs_and_what_was_not_compared_is_said() -> None:
    wrong = measured("wrong", 1.0, 0.1, 1.0, accurate=False, comparison="n is another.")
    drawn = measured("drawn", 1.0, 0.1, 1.0, accurate=None, comparison="results are not compared.")
    (variant,) = report_of(EAGER, wrong, drawn).variants
    remarks = rows.remarks(variant)
    assert "wrong differs from eager: n is another." in remarks
    assert "drawn: results are not compared." in remarks


def test_a_lower_latency_within_noise_is_named() -> None:
    later = measured("later", 60.0, 20.0, 10.0)
    sooner = measured("sooner", 9.0, 2.0, 10.5)
    report = report_of(EAGER, later, sooner)
    best = report.best("latency")
    assert best.way is sooner
    assert best.reason.startswith(
        "the fastest first call among ways with no clear difference (later): a call takes 10.5 µs"
    )
    assert "Lowest latency: sooner (later: no clear difference)." in report.variants[0].best_way
    assert report.best("balanced").reason.startswith("the best product")


def test_noise_beats_no_way() -> None:
    noisy = measured("noisy", 0.02, 0.01, 5.0)
    assert noisy.speedup is not None
    noisy.speedup.standing = "noisy"
    ways = report_of(EAGER, noisy, SOON).variants[0].ways
    assert [way.name for way in ways if way.is_pareto] == ["eager", "soon"]


def test_what_is_said_of_several_ways_is_said_once() -> None:
    again = ["compiles again"]
    caches = {"ships": ["caches.bin"], "cached_s": 2.0}
    report = report_of(
        EAGER,
        measured("a", 60.0, 50.0, 10.0, restrictions=again, **caches),
        measured("b", 60.0, 3.0, 10.0, restrictions=again, **caches),
        measured("c", 60.0, None, 10.0, restrictions=["one graph"]),
        measured("f", 60.0, 50.0, 10.0, ships=["compiled.bin"], cached_s=2.0),
        measured("g", 60.0, 50.0, 10.0, ships=[PACKAGE], cached_s=2.0),
        DeployWay(name="d", why="No GPU.", restrictions=again),
        DeployWay(name="e", why="No GPU."),
    )
    (variant,) = report.variants
    lines = rows.remarks(variant)
    assert variant.best_way in lines
    assert [line for line in lines[1:] if line != variant.best_way] == [
        (
            "As shipped, the C++ compiler runs again: the files do not contain the libraries that "
            "it built (a, f). Shipping the folder of torch's caches, too "
            "(TORCHINDUCTOR_CACHE_DIR), avoids that."
        ),
        "Restrictions of a, b: compiles again.",
        "Restrictions of c: one graph.",
        "Not measured: d, e. No GPU.",
    ]
    variant.ways_remarks = []
    complete(report)
    assert variant.ways_remarks == lines[2:3], "a file of an earlier version"


def test_a_package_is_written_by_the_way_itself() -> None:
    way = measured("AOTInductor", 9.0, 1.0, 50.0, load_code="compiled = load()")
    assert "# Once, after a first call" in paste_code(way)
    way.ship_code = WRITTEN
    assert paste_code(way) == (
        "import torch\n\ncompiled = 'AOTInductor'\n\n# In each process that serves:\n"
        "import torch\n\ncompiled = load()"
    )


def test_a_recommendation_among_some_ways_says_which() -> None:
    report = report_of(EAGER, FAST, UNSAFE)
    assert "Compared" not in report.best().reason
    report.variants[0].ways_not_tried = ["soon", "lite"]
    assert report.best().reason.endswith(". Compared: eager, fast. Not tried: soon, lite.")
    only_eager = report_of(EAGER)
    only_eager.variants[0].ways_not_tried = ["fast"]
    reason = only_eager.best().reason
    assert reason.startswith("no compiled way was measured; a call takes 100 µs, the first result")
    assert reason.endswith("Compared: eager. Not tried: fast.")
    only_slow = report_of(SLOW)
    only_slow.variants[0].ways_not_tried = ["fast"]
    with pytest.raises(cs.CompilescopeError, match=r"Compared: slow\. Not tried: fast\."):
        only_slow.best()
    report.variants.append(VariantReport(name="cpp", requested=cs.Variant(), ways=[SOON]))
    assert report.best().reason.endswith("Not tried: soon (python), lite (python).")
