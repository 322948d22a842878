"""Advice on numbers that torch compiles as constants, which ``dynamic=True`` does not change."""

from __future__ import annotations

import pytest
import torch

from .recompiling_programs import (
    COUNTER_AND_SIZE,
    CYCLED,
    POWER,
    REPEATED,
    ROWS,
    SCALED,
    SCHEDULED,
    TYPE_BEHIND_BREAK,
    UNROLLED,
    Program,
    Ran,
    advice_of,
    run,
    suggestions_of,
)

pytestmark = pytest.mark.usefixtures("settings_kept")

COMPILE = "net_compiled = torch.compile(net, backend='eager')"
WITH_DYNAMIC = ("')", "', dynamic=True)")


def ran(program: Program, *changes: tuple[str, str]) -> Ran:
    """The program with text replaced in its definition and its calls."""
    define, calls = program.define, program.calls
    for old, new in changes:
        define, calls = define.replace(old, new), calls.replace(old, new)
    return run(define, program.compile, calls)


def recompiles_with_dynamic(program: Program) -> int:
    return run(program.define, program.compile.replace(*WITH_DYNAMIC), program.calls).recompiles


@pytest.mark.parametrize("optimizer", ["SGD", "RMSprop", "Adadelta", "Muon"])
def test_a_scheduled_learning_rate_is_to_be_a_tensor(optimizer: str) -> None:
    named = ("SGD", optimizer)
    before = ran(SCHEDULED, named)
    assert {advice.kind for advice in advice_of(before)} == {"tensor_lr"}
    (suggestion,) = suggestions_of(before)
    assert suggestion.what.startswith(f"Avoid {before.recompiles} recompiles")
    assert "lr=torch.tensor(" in suggestion.why
    after = ran(SCHEDULED, named, ("lr=0.1", "lr=torch.tensor(0.1)"))
    assert (len(after.compilations) > 0, after.recompiles) == (True, 0)


def test_dynamic_does_not_avoid_the_recompiles_of_a_learning_rate() -> None:
    assert recompiles_with_dynamic(SCHEDULED) > 0


def test_a_scheduled_momentum_is_not_to_change() -> None:
    before = ran(CYCLED)
    assert {advice.kind for advice in advice_of(before)} == {"cycle_momentum"}
    after = ran(CYCLED, ("total_steps=20", "total_steps=20, cycle_momentum=False"))
    assert (len(after.compilations) > 0, after.recompiles) == (True, 0)


def test_dynamic_is_not_advised_where_another_number_stays_a_constant() -> None:
    first, *_ = advice_of(ran(CYCLED, ("lr=torch.tensor(0.1)", "lr=0.1")))
    assert first.kind == "other_guards"
    assert "self.param_groups[0]['betas'][0]: 0.95 \u2192 " in first.what


def test_dynamic_is_not_advised_where_an_attribute_of_a_module_changes_too() -> None:
    """torch reports the size alone; only both changes together avoid that recompile."""
    before = ran(COUNTER_AND_SIZE)
    assert before.recompiles == 2
    by_size, by_counter = (
        compilation.recompile for compilation in before.compilations if compilation.recompile
    )
    assert [cause.text for cause in by_size.causes] == ["x.size(0): 4 \u2192 5"]
    assert [advice.kind for advice in by_size.advice] == ["other_guards", "stance"]
    assert by_size.advice[0].what.startswith(
        "Other guards of 0/0 fail too: self.calls: 0 \u2192 1."
    )
    titles = [suggestion.what for suggestion in suggestions_of(before)]
    assert titles[-1] == "Avoid recompile 0/2 (self.calls: 1 \u2192 2)"
    assert recompiles_with_dynamic(COUNTER_AND_SIZE._replace(compile=COMPILE)) == 2

    in_tensor = by_counter.advice[0].code
    one = run(COUNTER_AND_SIZE.define, f"{COMPILE}\n{in_tensor}", COUNTER_AND_SIZE.calls)
    both = COMPILE.replace(*WITH_DYNAMIC)
    none = run(COUNTER_AND_SIZE.define, f"{both}\n{in_tensor}", COUNTER_AND_SIZE.calls)
    assert (one.recompiles, none.recompiles) == (1, 0)


@pytest.mark.parametrize("dynamic", [False, True])
def test_dynamic_is_not_advised_where_a_number_changes_its_type_behind_a_break(
    dynamic: bool,
) -> None:
    define, calls = TYPE_BEHIND_BREAK.define, TYPE_BEHIND_BREAK.calls
    compile_ = TYPE_BEHIND_BREAK.compile.replace('")', '", dynamic=True)' if dynamic else '")')
    before = run(define, compile_, calls)
    assert before.recompiles == 1
    (advice,) = advice_of(before)
    assert (advice.kind, advice.code) == ("tensor", "")
    assert advice.what.startswith("Use torch.tensor(float(n)) in every call.")
    assert run(define, compile_, calls.replace("n)", "torch.tensor(float(n)))")).recompiles == 0


@pytest.mark.parametrize(
    ("operator", "arithmetic", "name"),
    [
        ("torch.add(x, y, alpha=s)", "x + s * y", "torch.add"),
        ("x.sub(y, alpha=s)", "x - s * y", "Tensor.sub"),
        (
            "nn.functional.leaky_relu(x, s)",
            "torch.where(x > 0, x, s * x)",
            "torch.nn.functional.leaky_relu",
        ),
        (
            "nn.functional.dropout(x, s)",
            "x * (torch.rand_like(x) >= s) / (1 - s)",
            "torch.nn.functional.dropout",
        ),
    ],
)
def test_a_scalar_argument_becomes_arithmetic(operator: str, arithmetic: str, name: str) -> None:
    before = ran(SCALED, ("torch.add(x, y, alpha=s)", operator))
    assert {advice.kind for advice in advice_of(before)} == {"scalar_argument"}
    (suggestion,) = suggestions_of(before)
    assert suggestion.what == "Avoid 2 recompiles (s: 0.1 \u2192 0.2, \u2026)"
    assert suggestion.why.startswith(f"Replace {name} (<program-")
    assert f" by arithmetic: {arithmetic}, and pass s as a tensor." in suggestion.why
    after = ran(SCALED, ("torch.add(x, y, alpha=s)", arithmetic), ("x, s)", "x, torch.tensor(s))"))
    (compilation,) = after.compilations
    assert compilation.graphs
    assert not compilation.breaks


def test_a_scalar_argument_is_no_tensor_whatever_is_dynamic() -> None:
    fixed = run(SCALED.define, SCALED.compile.replace("')", "', dynamic=False)"), SCALED.calls)
    assert {advice.kind for advice in advice_of(fixed)} == {"scalar_argument"}
    derived = ran(SCALED, ("alpha=s", "alpha=-s"))
    assert {advice.kind for advice in advice_of(derived)} == {"scalar_argument"}
    # What is computed from the number is not the number: no example is given.
    assert "by arithmetic, and pass s" in suggestions_of(derived)[0].why


def test_a_size_of_a_new_tensor_is_no_tensor() -> None:
    assert {advice.kind for advice in advice_of(ran(ROWS))} == {"dynamic"}


@pytest.mark.parametrize(("program", "name"), [(REPEATED, "n"), (UNROLLED, "x.size(0)")])
def test_what_the_code_makes_a_constant_has_no_advice_but_its_cause(
    program: Program, name: str
) -> None:
    before = ran(program)
    assert {advice.kind for advice in advice_of(before)} == {"constant", "stance"}
    (suggestion,) = suggestions_of(before)
    assert (suggestion.code, suggestion.gain) == ("", "")
    assert suggestion.why.startswith(f"The code that torch traces makes {name} a constant")
    assert recompiles_with_dynamic(program) == before.recompiles


CUSTOM = SCALED._replace(
    define="""\
@torch.library.custom_op("advice::scale", mutates_args=())
def scale(x: torch.Tensor, s: float) -> torch.Tensor:
    return x * s
@scale.register_fake
def fake(x, s):
    return torch.empty_like(x)
def f(x, y, s):
    return scale(x, s)
x = torch.ones(4)""",
)


def test_a_number_of_a_custom_operator_is_to_be_a_tensor_of_its_schema() -> None:
    before = ran(CUSTOM)
    assert before.recompiles == 2
    for advice in advice_of(before):
        assert advice.kind == "scalar_argument"
        assert advice.what.startswith("torch.ops.advice.scale.default (<program-")
        assert "declare that parameter as a Tensor, and pass s as a tensor" in advice.what
    after = ran(CUSTOM, ("s: float", "s: torch.Tensor"), ("x, x, s", "x, x, torch.tensor(s)"))
    assert (len(after.compilations), after.recompiles) == (1, 0)


@pytest.mark.parametrize(("program", "kind"), [(CUSTOM, "scalar_argument"), (POWER, "tensor")])
def test_beyond_the_limit_the_graphs_before_it_show_what_takes_the_number(
    program: Program, kind: str
) -> None:
    fixed = program.compile.replace("')", "', dynamic=False)")
    with torch._dynamo.config.patch(recompile_limit=2):
        over = run(program.define, fixed, program.calls)
        assert over.compilations[-1].recompile is not None
        assert over.compilations[-1].recompile.eager_fallback
        kinds = [advice.kind for advice in over.compilations[-1].recompile.advice]
    assert kinds[0] == kind
    assert kinds[-1] == "limit"
