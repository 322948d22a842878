"""What the Overview counts: compilations of a cell or a watch, recompiles, breaks and launches."""

from __future__ import annotations

import compilescope as cs
import pytest
from compilescope.analysis.contents.summaries import filled
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.analysis.overview.overview import overview
from compilescope.cli import files
from compilescope.report import (
    Compilation,
    Graph,
    Launch,
    Node,
)

from .overview_reports import REPORTS, look, make_report, suggestion_of


def test_what_is_watched_is_counted() -> None:
    report = make_report(eager=100.0, python=50.0)
    report.subject.kind = "watch"
    result = overview(report)
    assert result.headline == "1 compilation: 0 recompiles and 0 graph breaks."
    assert (result.results, result.wrapper, result.limit) == ([], None, None)


def test_kernels_that_a_watch_dropped_are_counted() -> None:
    report = make_report(eager=100.0, python=50.0)
    report.subject.kind = "watch"
    dropped = Compilation(id="0/1", counts={"kernels": 3, "guards": 5})
    report.variant("python").compilations.append(dropped)
    texts = {counted.view: counted.text for counted in overview(report).counts}
    assert (texts["kernels"], texts["guards"]) == ("4 kernels", "5 guards")
    saved = files.summary(report).variants[1]
    assert (saved.kernels, saved.guards) == (4, 5)


def test_compilations_without_a_graph_are_counted_apart() -> None:
    report = make_report(eager=100.0, python=50.0)
    report.variant("python").compilations.append(Compilation(id="1/0"))
    texts = {counted.view: counted.text for counted in overview(report).counts}
    assert texts["graph"] == "0 graphs in 2 compilations"


def test_recompiles_of_the_cell_itself_are_counted_and_lead_to_what_avoids_them() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    (count,) = [counted for counted in overview(report).counts if counted.view == "recompiles"]
    assert (count.text, count.of) == ("3 recompiles in the cell", "in the cell")
    size = suggestion_of(report, "Avoid recompile 0/1")
    assert size.what == "Avoid recompile 0/1 (x.size(0): 8 → 12)"
    assert (size.code, size.of) == ("torch._dynamo.mark_dynamic(batch, 0)", "in the cell")


def test_what_the_cell_compiled_counts_until_its_call_is_compiled() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    report.variants = [report.variant("in the cell")]
    waiting = overview(report)
    assert waiting.headline.startswith("4 compilations: 3 recompiles and 0 graph breaks")
    assert [counted.text for counted in waiting.counts if counted.warning] == ["3 recompiles"]


def test_breaks_in_what_the_cell_compiled_are_counted_where_the_call_has_fewer() -> None:
    report = cs.load(REPORTS / "recompiles.compilescope.json")
    cell = report.variant("in the cell")
    (none,) = [counted for counted in overview(report).counts if counted.view == "breaks"]
    assert (none.text, none.of, none.warning) == ("0 graph breaks", "python", False)
    cell.breaks = cs.load(REPORTS / "breaks.compilescope.json").variants[0].breaks
    (count,) = [counted for counted in overview(report).counts if counted.view == "breaks"]
    assert count.text.startswith(f"{len(cell.breaks)} graph breaks")
    assert count.text.endswith("in the cell")
    assert (count.number, count.of, count.warning) == (len(cell.breaks), "in the cell", True)


def test_what_the_cell_recompiled_comes_first_where_the_timing_decides_nothing() -> None:
    cell = cs.load(REPORTS / "recompiles.compilescope.json").variant("in the cell")
    breaks = cs.load(REPORTS / "breaks.compilescope.json").variants[0].breaks
    cell.breaks = [graph_break for graph_break in breaks if graph_break.count == 2]
    faster, same = make_report(eager=100.0, python=50.0), make_report(eager=100.0, python=100.0)
    verdict = overview(same).headline
    for report in (faster, same):
        report.variants.append(cell)
    happened = "3 recompiles and 1 graph break (2 occurrences) in the cell. "
    assert overview(same).headline == happened + verdict
    assert "in the cell" not in overview(faster).headline
    cell.breaks = []
    assert overview(same).headline == f"3 recompiles in the cell. {verdict}"


def test_where_every_call_recompiles_neither_wrapper_is_judged() -> None:
    # On purpose far apart, and noisy: neither counts.
    report = make_report(eager=60.0, python=100.0, cpp=50.0)
    noisy = make_report(spread=2.0, eager=60.0, python=100.0)
    assert overview(report).wrapper is not None
    assert overview(noisy).longer_s > 0
    for variant in (*report.variants[1:], *noisy.variants[1:]):
        assert variant.timing is not None
        variant.timing.recompiles, variant.timing.changes = "self.calls", ["F.calls", "F.mean"]
    summary = overview(report)
    assert summary.headline.startswith(
        "Every call recompiles, up to torch's limit: it changes self.calls, which a guard checks."
    )
    assert (summary.wrapper, summary.limit) == (None, None)
    (suggestion,) = summary.suggestions
    assert suggestion.what.startswith("Change self.calls outside the compiled code")
    (count,) = [counted for counted in summary.counts if counted.view == "recompiles"]
    assert (count.text, count.warning) == ("1 recompile in every call", True)
    assert overview(noisy).longer_s == 0
    # The view that the count leads to has something to say.
    assert "recompile" in filled(report.variant("python"))


def test_a_variant_that_recompiles_in_every_call_is_named_where_another_does_not() -> None:
    report = make_report(eager=60.0, python=20.0, cpp=30.0)
    timing = report.variant("python").timing
    assert timing is not None
    timing.recompiles = "self.calls"
    assert overview(report).headline.startswith(
        "Every call of the Python wrapper recompiles: it changes self.calls, which a guard "
        "checks. The C++ wrapper is fastest: "
    )


@pytest.mark.parametrize(
    ("operator", "runs"),
    [
        ("cond", "a call runs one branch of torch.cond"),
        ("while_loop", "a call repeats those of while_loop"),
    ],
)
def test_launches_of_control_flow_are_those_in_the_code(operator: str, runs: str) -> None:
    report = make_report(eager=100.0, python=50.0)
    variant = report.variant("python")
    (compilation,) = variant.compilations
    look(report, "python", wrapper=95.0, kernels=5.0)
    compilation.kernels[0].launches = [
        Launch(variant="python", artifact="python", line=line, end=line, text="", key=str(line))
        for line in (1, 2, 3)
    ]
    target = f"torch.ops.higher_order.{operator}"
    plain = verdict(variant, report)
    assert plain is not None
    assert "around 3 kernels" in plain.evidence
    nodes = [Node(name=operator, op="call_function", target=target)]
    compilation.graphs = {"dynamo": Graph(stage="dynamo", text="", nodes=nodes)}
    (count,) = [counted for counted in overview(report).counts if counted.view == "kernels"]
    assert count.text == f"3 launches of 1 kernel (1 C++) in the code; {runs}"
    flowing = verdict(variant, report)
    assert flowing is not None
    assert "around the kernels" in flowing.evidence
