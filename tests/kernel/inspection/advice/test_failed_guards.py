"""Why a program recompiled: the guard that failed, the values, and what torch made dynamic."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from compilescope.analysis.guards.conditions import add_conditions
from compilescope.analysis.guards.reasons.recompile_words import describe
from compilescope.watching.running_code import watching

from .recompiling_programs import (
    COUNTER,
    COUNTER_AND_NUMBER,
    DTYPE,
    DUCK,
    EMPTIED,
    FILLED,
    GLOBAL,
    GROWING_CACHE,
    INTEGER,
    KEYWORD,
    LENGTH,
    LIMIT,
    MODE,
    NO_GRADIENT,
    OPTIMIZER,
    OPTIONAL,
    SIZES,
    STRIDE,
    TEXT,
    TO_EXCLUDED,
    TO_ONE,
    Program,
    advice_of,
    run,
    suggestions_of,
)

pytestmark = pytest.mark.usefixtures("settings_kept")


@pytest.mark.parametrize(
    ("program", "expected", "text"),
    [
        (SIZES, ("size", "L['x']", 0, "4", "5"), "x.size(0): 4 → 5"),
        (KEYWORD, ("size", "L['x']['image']", 0, "4", "5"), "x['image'].size(0): 4 → 5"),
        (TO_ONE, ("size", "L['x']", 0, "at least 2", "1"), "x.size(0): at least 2 → 1"),
        (TO_EXCLUDED, ("size", "L['x']", 0, "not 4", "4"), "x.size(0): not 4 → 4"),
        (INTEGER, ("value", "L['n']", None, "2", "3"), "n: 2 → 3"),
        (COUNTER, ("value", "L['self'].calls", None, "0", "1"), "self.calls: 0 → 1"),
        (GLOBAL, ("global", "G['scale']", None, "3", "4"), "scale: 3 → 4"),
        (STRIDE, ("stride", "L['x']", 0, "3", "1"), "x.stride(0): 3 → 1"),
        (DTYPE, ("dtype", "L['x']", None, "Float", "Double"), "x.dtype: float32 → float64"),
        (
            NO_GRADIENT,
            ("requires_grad", "L['x']", None, "False", "True"),
            "x.requires_grad: False → True",
        ),
        (MODE, ("grad_mode", "", None, "True", "False"), "grad mode: True → False"),
        (LENGTH, ("length", "L['xs']", None, "2", "3"), "len(xs): 2 → 3"),
        (FILLED, ("length", "L['xs']", None, "0", "2"), "len(xs): 0 → 2"),
        (EMPTIED, ("length", "L['xs']", None, "2", "0"), "len(xs): 2 → 0"),
        (TEXT, ("value", "L['mode']", None, "'sin'", "'cos'"), "mode: 'sin' → 'cos'"),
        (OPTIONAL, ("value", "L['mode']", None, "None", "'sin'"), "mode: None → 'sin'"),
    ],
)
def test_which_guard_failed_and_on_what(
    program: Program, expected: tuple[object, ...], text: str
) -> None:
    ran = run(program.define, program.compile, program.calls)
    recompiled = next(compilation for compilation in ran.compilations if compilation.recompile)
    assert recompiled.recompile is not None
    failure = recompiled.recompile.failures[0]
    result = (failure.kind, failure.source, failure.dimension, failure.old, failure.new)
    assert result == expected
    assert recompiled.recompile.causes[0].text == text
    assert failure.compilation == "0/0"
    assert recompiled.recompile.count == 2
    assert recompiled.recompile.limit == torch._dynamo.config.recompile_limit
    if expected[0] != "grad_mode":
        guards = {guard.expression for guard in ran.compilations[0].guards}
        assert failure.guard in guards
        assert failure.where is not None
        assert failure.where.function in ("f", "forward")
    first, second = ran.compilations[0].started_s, recompiled.started_s
    assert first is not None
    assert second is not None
    assert first < second
    assert recompiled.duration_s


def test_a_number_that_becomes_a_symbol_changed_since_every_compilation() -> None:
    """The last call changed the counter and the number: the latest compilation is nearest."""
    ran = run(COUNTER_AND_NUMBER.define, COUNTER_AND_NUMBER.compile, COUNTER_AND_NUMBER.calls)
    last = ran.compilations[-1].recompile
    assert last is not None
    assert last.reasons[0].startswith("0/2: n == 0")
    assert (last.failures[0].compilation, last.causes[0].text) == ("0/2", "n: 0 \u2192 1")


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("nullcontext()", "autocast('cpu')", "autocast (cpu): off \u2192 on"),
        (
            "autocast('cpu', torch.bfloat16)",
            "autocast('cpu', torch.float16)",
            "autocast dtype (cpu): bfloat16 \u2192 float16",
        ),
        ("nullcontext()", "default(torch.float64)", "default dtype: float32 \u2192 float64"),
    ],
)
def test_the_global_state_is_said_in_words(first: str, second: str, text: str) -> None:
    define = """\
from contextlib import contextmanager, nullcontext
from torch import autocast
@contextmanager
def default(dtype):
    torch.set_default_dtype(dtype)
    yield
    torch.set_default_dtype(torch.float32)
x = torch.ones(3)
def f(x):
    return x + 1"""
    calls = f"for mode in ({first}, {second}):\n    with mode:\n        compiled(x)"
    ran = run(define, SIZES.compile, calls)
    recompile = ran.compilations[-1].recompile
    assert recompile is not None
    assert [cause.text for cause in recompile.causes] == [text]


def test_two_sizes_that_are_not_equal_any_more_are_said_in_words() -> None:
    ran = run(DUCK.define, DUCK.compile, DUCK.calls)
    (suggestion,) = suggestions_of(ran)
    assert suggestion.what == "Avoid recompile 0/1 (x.size(1): the same as x.size(0) → 4)"
    assert suggestion.place.startswith("before the first call")
    (advice,) = advice_of(ran)
    assert advice.where is None


def test_the_state_that_an_optimizer_creates_is_not_there_before() -> None:
    (suggestion,) = suggestions_of(run(OPTIMIZER.define, OPTIMIZER.compile, OPTIMIZER.calls))
    assert suggestion.what.endswith(" (len(self.state[key 0]): 0 → at least 1)")


def test_code_without_source_has_the_same_failures_and_conditions() -> None:
    torch._dynamo.reset()
    text = "def f(x, n):\n    return (x.sin() * n).sum()\n"
    scope: dict[str, Any] = {}
    exec(compile(text, "<no source>", "exec"), scope)
    compiled = torch.compile(scope["f"], backend="eager")
    with watching() as watched:
        for n in (3, 4):
            compiled(torch.ones(3), n)
    first, second = watched.compilations("watched")
    add_conditions(first)
    conditions = {condition.name: condition.requirement for condition in first.conditions}
    assert (conditions["x"], conditions["n"]) == ("float32[3]", "3")
    assert second.recompile is not None
    (failure,) = second.recompile.failures
    assert (failure.old, failure.new) == ("3", "4")
    assert describe(failure).text == "n: 3 → 4"


def test_what_became_dynamic_is_said_once() -> None:
    ran = run(SIZES.define, SIZES.compile, SIZES.calls)
    (recompiled,) = [
        compilation.recompile for compilation in ran.compilations if compilation.recompile
    ]
    (became,) = recompiled.became_dynamic
    assert became.startswith("L['x'].size()[0] → s")


def test_an_empty_cache_differs_more_than_one_of_another_size() -> None:
    ran = run(GROWING_CACHE.define, GROWING_CACHE.compile, GROWING_CACHE.calls)
    second, third = (
        compilation.recompile for compilation in ran.compilations if compilation.recompile
    )
    assert second.failures[0].compilation == "0/0"
    assert third.previous == "0/1"
    assert third.causes[0].text == "cache[0].size(1): 4 → 5"


def test_a_number_out_of_a_symbols_range_is_said_with_the_range() -> None:
    ran = run(
        "def f(x, n):\n    return x * n if n > 0 else x",
        'compiled = torch.compile(f, backend="eager")',
        "for n in (5, 4, 0):\n    compiled(torch.ones(3), n)",
    )
    recompile = ran.compilations[-1].recompile
    assert recompile is not None
    causes = [(cause.subject, cause.was, cause.now) for cause in recompile.causes]
    assert causes == [("n", "at least 1", "0"), ("n", "5", "0")]


def test_a_frame_that_was_given_up_counts_what_was_compiled() -> None:
    ran = run(LIMIT.define, LIMIT.compile, LIMIT.calls)
    last = ran.compilations[-1].recompile
    assert last is not None
    assert (last.count, last.limit) == (8, 8)
    assert last.advice[-1].kind == "limit"
    states = [
        (compilation.recompile.at_limit, compilation.recompile.eager_fallback)
        for compilation in ran.compilations
        if compilation.recompile is not None
    ]
    assert states[-3:] == [(False, False), (True, False), (True, True)]
    assert last.limit_text == "compiled 8 times, torch's limit; new cases run in eager"
