"""Symbolic shapes in traces of torch 2.13: symbols, decisions, and the trees of expressions."""

from __future__ import annotations

import json
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.cli import main
from compilescope.readers.lazy_trace import Trace
from compilescope.report import Compilation, ShapeDecision, ShapeExpression
from compilescope.views.text.shapes import shapes

TRACES = Path(__file__).parents[2] / "data" / "traces"
COMPILED = TRACES / "cpu-torch2.13-shapes.log.gz"
DRAFT = TRACES / "cpu-torch2.13-draft_export.log.gz"


def _only(path: Path) -> Compilation:
    (compilation,) = cs.read_trace(path).compilations
    return compilation


def test_symbols_have_their_source_value_and_line() -> None:
    symbols = {symbol.name: symbol for symbol in _only(COMPILED).symbols}
    assert symbols["s77"].source == "L['x'].size()[0]"
    assert symbols["s77"].value == "8"
    assert symbols["s77"].range == "[2, int_oo]"
    assert symbols["s17"].range == "[7, 7]"
    assert symbols["s77"].stack[-1].code == "total = x.shape[0] * 2 + y.shape[0]"
    unbacked, _ = _only(DRAFT).symbols
    assert (unbacked.name, unbacked.source, unbacked.value) == ("u0", "", "")
    assert unbacked.stack[-1].code == "count = n.item()"


def test_guards_and_specializations_stand_in_torchs_order_with_their_lines() -> None:
    decisions = _only(COMPILED).shape_decisions
    assert [(decision.kind, decision.expression, decision.result) for decision in decisions] == [
        ("guard", "s33 > 2", ""),
        ("guard", "s17 + 2*s77 > 16", ""),
        ("guard", "Eq(s17, 7)", ""),
        ("specialization", "s17", "7"),
    ]
    assert decisions[1].sources == {"s17": "L['y'].size()[0]", "s77": "L['x'].size()[0]"}
    assert decisions[1].stack[-1].code == "if total > 16:"
    assert decisions[3].reason == "range_refined_to_singleton"
    assert decisions[3].stack[-1].code == "if y.shape[0] == 7:"


def test_draft_export_tells_what_each_expression_was_computed_from() -> None:
    compilation = _only(DRAFT)
    assumption, guard = compilation.shape_decisions
    assert (assumption.kind, assumption.result) == ("assumption", "False")
    assert assumption.locals == {"half": "((s77 + u0)//2)"}
    assert guard.locals["y"].startswith("Tensor(shape: torch.Size([s17, 4])")
    chain = []
    place = assumption.provenance
    while place is not None:
        expression = compilation.expressions[place]
        chain.append((expression.method, expression.text))
        place = next(iter(expression.operands), None)
    assert chain == [
        ("gt", "2*(((s77 + u0)//2)) > 12"),
        ("mul", "2*(((s77 + u0)//2))"),
        ("int_floordiv", "((s77 + u0)//2)"),
        ("add", "s77 + u0"),
        ("", "u0"),
    ]


def test_operators_without_a_right_fake_kernel_are_problems_in_every_reader() -> None:
    whole = cs.read_trace(DRAFT).variants[0].problems
    assert [problem.what for problem in whole] == [
        "torch.ops.mine.rows.default has no fake kernel",
        "The fake kernel of torch.ops.mine.wide.default is wrong",
    ]
    assert "register_fake('mine::rows')" in whole[0].remedy
    assert "fake value 4 and real value 8" in whole[1].why
    with Trace(DRAFT) as trace:
        (variant,) = trace.report().variants
    assert variant.problems == whole


def test_one_decision_that_torch_logs_twice_stands_once(tmp_path: Path) -> None:
    ids = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    events = (
        {"guard_added": {"expr": "Eq(s0, 3)", "expr_node_id": 1, "prefix": "eval"}},
        {"guard_added_fast": {"expr": "Eq(s0, 3)"}},
        {"propagate_real_tensors": {"expr": "u0 > 1", "result": "True"}},
        {"propagate_real_tensors_provenance": {"expr": "u0 > 1", "result": "True"}},
        {"guard_added_fast": {"expr": "s0 > 1"}},
        {"guard_added_fast": {"expr": "s0 > 1"}},
    )
    path = tmp_path / "x.log"
    path.write_text(
        "".join(f"V1124 10:00:01.000000 7 torch/x.py:1] {json.dumps(e | ids)}\n" for e in events)
    )
    decisions = _only(path).shape_decisions
    assert [decision.expression for decision in decisions] == [
        "Eq(s0, 3)",
        "u0 > 1",
        "s0 > 1",
        "s0 > 1",
    ]
    assert decisions[0].reason == "eval"


def test_a_terminal_shows_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(DRAFT), "--shapes"]) == 0
    text = capsys.readouterr().out
    assert (
        "u0: unbacked, in [-int_oo, int_oo]  # program.py:99 in forward: count = n.item()" in text
    )
    assert "assumed: 2*(((s77 + u0)//2)) > 12 = False" in text
    assert "  local half: ((s77 + u0)//2)" in text
    tree = text.partition("computed from:\n")[2].splitlines()
    assert [len(line) - len(line.lstrip()) for line in tree[:5]] == [4, 6, 8, 10, 12]
    assert tree[4].strip().startswith("u0: unbacked")
    assert main(["show", str(TRACES / "cpu-torch2.13-limit.log.gz"), "--shapes"]) == 0
    assert capsys.readouterr().out == "No size of 0/0 is dynamic.\n"


def test_an_expression_that_is_used_twice_is_shown_once() -> None:
    compilation = Compilation(
        id="0/0",
        expressions=[
            ShapeExpression("u0"),
            ShapeExpression("2*u0", "add", ["u0", "u0"], [0]),
            ShapeExpression("2*u0 > u0", "gt", ["2*u0", "u0"], [1, 0]),
        ],
        shape_decisions=[ShapeDecision(kind="guard", expression="2*u0 > u0", provenance=2)],
    )
    assert shapes(compilation).splitlines() == [
        "guard: 2*u0 > u0",
        "  computed from:",
        "    2*u0 > u0: gt(2*u0, u0)",
        "      2*u0: add(u0, u0)",
        "        u0: unbacked",
    ]


def test_redaction_leaves_out_the_values_of_locals(tmp_path: Path) -> None:
    path = tmp_path / "x.compilescope.json"
    cs.read_trace(DRAFT).save(path, redact=True)
    text = path.read_text()
    assert "Tensor(shape" not in text
    assert "if half * 2 > 12" not in text
    assert "Eq(s17, 3)" in text
