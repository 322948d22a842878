"""What would make a call recompile, in plain words."""

from __future__ import annotations

from pathlib import Path

import compilescope as cs
import msgspec
import pytest
from compilescope.analysis.guards.conditions import add_conditions, find_conditions
from compilescope.analysis.guards.origin import Files, split
from compilescope.report import (
    Compilation,
    Condition,
    Guard,
    GuardManager,
    Report,
    SourceLine,
    Subject,
    VariantReport,
)
from compilescope.report.variant import Variant

REPORTS = Path(__file__).parents[3] / "data" / "reports"
TENSOR = Condition(name="1 other tensor", requirement="the same type, shape, strides and device")


def tensor(source: str, rest: str) -> Guard:
    expression = (
        f"check_tensor({source}, Tensor, DispatchKeySet(CPU), torch.float32, device=None, {rest})"
    )
    return Guard(expression, type="TENSOR_MATCH", source=source)


def condition_titles(guards: list[Guard]) -> list[tuple[str, str, int | None]]:
    return [
        (condition.name, condition.requirement, condition.guard)
        for condition in find_conditions(guards)
    ]


def test_inputs_come_first_then_values_then_groups() -> None:
    weight = "L['self']._modules['up']._parameters['weight']"
    guards = [
        Guard("state", type="GLOBAL_STATE"),
        tensor(weight, "requires_grad=False, size=[8], stride=[1]"),
        Guard("L['rate'] == 0.1", type="EQUALS_MATCH", source="L['rate']"),
        Guard("id", type="ID_MATCH", source="G['f']"),
        Guard("2 <= L['x'].size()[0]", type="LAMBDA_GUARD", source="L['x'].size()[0]"),
        tensor("L['x']", "requires_grad=True, size=[None, 16], stride=[16, 1]"),
        tensor("L['y']", "requires_grad=False, size=[4, 3], stride=[1, 4]"),
        Guard("len(L['xs']) == 2", type="LENGTH_CHECK", source="L['xs']"),
        Guard("not L['ys']", type="SEQUENCE_LENGTH", source="L['ys']"),
        Guard("not math.isnan(L['rate'])", type="LAMBDA_GUARD", source="L['rate']"),
        Guard("no mark", type="DIMENSION_DYNAMIC_MARKING_GUARD", source="L['x']"),
    ]
    assert condition_titles(guards) == [
        ("x", "float32[*, 16], * is any size, requires_grad=True", 5),
        ("y", "float32[4, 3], strides 1, 4", 6),
        ("rate", "0.1", 2),
        ("sizes", "2 <= x.size(0)", 4),
        ("xs", "2 items", 7),
        ("ys", "0 items", 8),
        ("rate", "not math.isnan(rate)", 9),
        ("1 weight", "the same type, shape, strides and device", None),
        ("torch's state", "gradient mode, autocast, default device and the like", None),
        ("1 marking guard", "the same sizes of tensors are marked as dynamic or static", None),
        ("1 other guard", "the same modules, functions, types and hooks", None),
    ]


@pytest.mark.parametrize(
    ("source", "value", "shown"),
    [
        ("G['torch'].bfloat16", "torch.bfloat16", False),
        ("G['t'].bfloat16", "torch.bfloat16", False),
        ("G['options'].dtype", "torch.bfloat16", True),
    ],
)
def test_a_constant_of_torchs_own_is_no_condition(source: str, value: str, shown: bool) -> None:
    guard = Guard(f"{source} == {value}", type="EQUALS_MATCH", source=source)
    names = [name for name, _, _ in condition_titles([guard])]
    assert names == (["options.dtype"] if shown else ["1 other guard"])


def test_a_value_on_the_stack_at_a_graph_break_is_no_weight() -> None:
    guards = [tensor("L['___stack0']", "requires_grad=False, size=[3], stride=[1]")]
    assert condition_titles(guards) == [
        ("a value that was on the stack at the graph break", "float32[3]", 0)
    ]


def test_code_without_source_leaves_nothing_behind_its_guards() -> None:
    texts = [
        "L['n'] == 3                                                   #   # <stdin>:2 in f",
        "L['text'] == 'a #'   # ",
        "L['text'] == ' #'",
    ]
    assert [split(text, Files(()))[0] for text in texts] == [
        "L['n'] == 3",
        "L['text'] == 'a #'",
        "L['text'] == ' #'",
    ]
    _, origin, _ = split(texts[0], Files(()))
    assert origin == SourceLine(file="<stdin>", line=2, function="f")


def test_a_relation_of_two_sizes_is_one_condition() -> None:
    expression = "L['x'].size()[0] == L['y'].size()[0]"
    guards = [
        Guard(expression, type="SYMBOLIC_SHAPE_GUARD", source="L['x'].size()[0]"),
        Guard(expression, type="SYMBOLIC_SHAPE_GUARD", source="L['y'].size()[0]", failed=True),
    ]
    assert find_conditions(guards) == [
        Condition(name="sizes", requirement="x.size(0) == y.size(0)", guard=0, failed=True)
    ]


@pytest.mark.parametrize(
    "guard",
    [
        Guard("check_tensor(odd)", type="TENSOR_MATCH"),
        tensor("L['x'].__dict__", "requires_grad=False, size=[8], stride=[1]"),
    ],
)
def test_no_guard_is_left_out(guard: Guard) -> None:
    assert find_conditions([guard]) == [TENSOR]


def test_a_failure_that_torch_counts_at_a_node_is_of_the_guards_there() -> None:
    tree = [
        GuardManager("RootGuardManager", fails=4),
        GuardManager("GuardManager", parent=0, fails=1),
        GuardManager("GuardManager", parent=0, fails=3),
        GuardManager("GuardManager", parent=2, fails=3),
    ]
    guards = [Guard("a", manager=place) for place in range(4)]
    guards += [Guard("b", manager=3, fails=0), Guard("c")]
    compilation = Compilation("0/0", guards=guards, guard_tree=tree)
    add_conditions(compilation)
    assert [guard.failed for guard in guards] == [False, True, False, True, False, False]
    assert [condition.failed for condition in compilation.conditions] == [True]


def test_a_file_of_an_earlier_version_gets_them_as_it_is_loaded(tmp_path: Path) -> None:
    raw = msgspec.json.decode((REPORTS / "recompiles.compilescope.json").read_bytes())
    compilations = [
        compilation for variant in raw["variants"] for compilation in variant["compilations"]
    ]
    for compilation in compilations:
        compilation.pop("conditions", None)
    file = tmp_path / "earlier.compilescope.json"
    file.write_bytes(msgspec.json.encode(raw))
    report = cs.load(file)
    assert len(compilations) == len(report.compilations) > 1
    assert all(compilation.conditions for compilation in report.compilations)
    again = cs.load(report.save(tmp_path / "now.compilescope.json"))
    assert again.compilations == report.compilations


def test_a_redacted_report_quotes_no_values() -> None:
    guard = Guard("L['key'] == 'secret'", type="EQUALS_MATCH", source="L['key']")
    compilation = Compilation("0/0", guards=[guard])
    add_conditions(compilation)
    variant = VariantReport("python", Variant(), compilations=[compilation])
    report = Report(subject=Subject("1", "f"), variants=[variant])
    assert "secret" in report.to_json()
    redacted = report.redacted()
    assert "secret" not in redacted.to_json()
    assert [condition.name for condition in redacted.compilations[0].conditions] == ["key"]


@pytest.mark.parametrize("show", [str, Report._repr_html_], ids=["text", "html"])
def test_the_report_shows_them(show) -> None:
    shown = show(cs.load(REPORTS / "recompiles.compilescope.json"))
    assert "Any change to these makes the call recompile" in shown
    assert "2 &lt;= x.size(0) &lt;= 4096" in shown or "2 <= x.size(0) <= 4096" in shown
