"""What if: for each kind of guard the answer is what the real call then does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import compilescope as cs
import pytest
import torch
from compilescope.torch_api.guards.guard_managers import live_guards

from ..what_if_subjects import Counting, X, times

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

OFFSET = 3


class Thing:
    def __init__(self, size: int = 1) -> None:
        self.size = size


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
        self.scale = 2.5
        self.steps = 3

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) * self.scale * self.steps


def by_text(x: Any, mode: str) -> Any:
    return x.sin() if mode == "sin" else x.cos()


def by_flag(x: Any, on: bool) -> Any:
    return x.sin() if on else x.cos()


def optional(x: Any, y: Any) -> Any:
    return x.cos() if y is None else x * y


def total(x: Any, values: list[int]) -> Any:
    return x + sum(values)


def one_key(x: Any, named: dict[str, int]) -> Any:
    return x + named.get("a", 7)


def all_keys(x: Any, named: dict[str, int]) -> Any:
    for value in named.values():
        x = x + value
    return x


def attribute(x: Any, thing: Thing) -> Any:
    return x + thing.size


def applied(x: Any, f: Any) -> Any:
    return f(x)


def global_value(x: Any) -> Any:
    return x + OFFSET


def long_enough(x: Any) -> Any:
    return x + 1 if x.shape[0] > 3 else x - 1


class Case(NamedTuple):
    fn: Callable[..., Any]
    first: tuple[Any, ...]
    other: tuple[Any, ...]
    guard: str
    """A part of the failing guard's expression; empty when nothing fails."""
    expected: str = ""
    actual: str = ""
    options: dict[str, Any] = {}


NAMED = {"a": 1, "b": 2}
CASES = {
    "the same": Case(times, (X, 2), (X.clone(), 2), ""),
    "size": Case(times, (X, 2), (X[:2], 2), "check_tensor(L['x']", "size(0) = 4", "size(0) = 2"),
    "rank": Case(times, (X, 2), (X[0], 2), "check_tensor(L['x']", "2", "1"),
    "dtype": Case(times, (X, 2), (X.double(), 2), "check_tensor(L['x']", "float32", "float64"),
    "device": Case(times, (X, 2), (X.to("meta"), 2), "check_tensor(L['x']", "CPU", "Meta"),
    "stride": Case(
        times, (X, 2), (X.t().contiguous().t(), 2), "check_tensor(L['x']", "stride(0) = 8", "= 1"
    ),
    "requires_grad": Case(
        times,
        (X, 2),
        (X.clone().requires_grad_(), 2),
        "check_tensor(L['x']",
        "no requires_grad",
        "requires_grad",
    ),
    "not a tensor": Case(
        optional, (X, X + 1), (X, 2.0), "check_tensor(L['y']", "a plain tensor", "2.0"
    ),
    "a parameter": Case(
        times, (X, 2), (torch.nn.Parameter(X), 2), "Tensor, Disp", "a plain tensor", "Parameter fl"
    ),
    "no parameter": Case(
        times,
        (torch.nn.Parameter(X), 2),
        (X, 2),
        "Parameter, ",
        "a tensor of the class Parameter",
        "float32[",
    ),
    "int": Case(times, (X, 2), (X, 3), "L['k'] == 2", "2", "3"),
    "float": Case(times, (X, 2.5), (X, 3.5), "L['k'] == 2.5", "2.5", "3.5"),
    "str": Case(by_text, (X, "sin"), (X, "cos"), "L['mode'] == 'sin'", "'sin'", "'cos'"),
    "bool": Case(by_flag, (X, True), (X, False), "L['on'] == True", "True", "False"),
    "None": Case(optional, (X, None), (X, X + 1), "L['y'] is None", "None", "float32[4, 8] cpu"),
    "list's length": Case(total, (X, [1, 2]), (X, [1, 2, 3]), "len(L['values']) == 2", "2", "3"),
    "list's item": Case(total, (X, [1, 2]), (X, [1, 5]), "L['values'][1] == 2", "2", "5"),
    "list or tuple": Case(
        total, (X, [1, 2]), (X, (1, 2)), "___check_type_id(L['values']", "list", "tuple"
    ),
    "missing key": Case(
        one_key,
        (X, NAMED),
        (X, {"c": 1, "b": 2}),
        "L['named']['a'] == 1",
        "L['named']['a']",
        "is not there",
    ),
    "unused key": Case(one_key, (X, NAMED), (X, {"a": 1}), ""),
    "keys": Case(
        all_keys,
        (X, NAMED),
        (X, {"a": 1, "c": 2}),
        "list(dict.keys(L['named']))[1] == 'b'",
        "'b'",
        "'c'",
    ),
    "dict's length": Case(all_keys, (X, NAMED), (X, {"a": 1}), "", "2 items", "1"),
    "attribute": Case(attribute, (X, Thing(1)), (X, Thing(5)), "L['thing'].size == 1", "1", "5"),
    "function": Case(
        applied, (X, torch.sin), (X, torch.cos), "___check_obj_id(L['f']", " that was there"
    ),
    "duplicates": Case(
        optional, (X, X + 1), (X, X), "check_no_aliasing(L['x'], L['y'])", "different", "L['y'] is"
    ),
    "no duplicates": Case(optional, (X, X), (X, X + 1), "L['y'] is L['x']", "the same as"),
    "dynamic": Case(long_enough, (X,), (torch.randn(9, 8),), "", options={"dynamic": True}),
    "dynamic, too small": Case(
        long_enough,
        (X,),
        (torch.randn(2, 8),),
        "4 <= L['x'].size()[0]",
        "4 <= L['x'].size()[0]",
        "= 2",
        {"dynamic": True},
    ),
    "dynamic, one": Case(
        times, (X, 2.0), (X[:1], 2.0), "2 <= L['x'].size()[0]", "2 <=", "= 1", {"dynamic": True}
    ),
}
OTHER_COMPILATIONS = {"dict's length"}
"""Fails where torch prints no guard."""


def trees(fn: Any) -> list[tuple[str, int]]:
    function = getattr(fn, "forward", fn)
    code = getattr(function, "__func__", function).__code__
    return [
        (str(live_guard.manager), live_guard.manager.root.fail_count())
        for live_guard in live_guards(code)
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_what_the_call_then_does(name: str) -> None:
    case = CASES[name]
    call = Counting(case.fn, **case.options)
    assert call(*case.first)
    before = trees(case.fn)
    assert len(before) == 1

    same = cs.what_if(call.compiled, *case.first)
    assert (same.verdict, same.reuses) == ("reuse", "0/0"), str(same)
    answer = cs.what_if(call.compiled, *case.other)
    fails = bool(case.guard) or name in OTHER_COMPILATIONS
    assert answer.verdict == ("recompile" if fails else "reuse"), str(answer)
    if fails:
        (outcome,) = answer.outcomes
        assert case.expected in outcome.expected
        assert case.actual in outcome.actual
        assert not outcome.passes
        if case.guard:
            assert outcome.guard is not None
            assert case.guard in outcome.guard.expression
            assert outcome.place is not None
        assert outcome.expected
        assert outcome.expected in str(answer)

    # Asking has left no trace: no count, no order, and the cache still hits.
    assert trees(case.fn) == before
    assert not call(*case.first)
    assert call(*case.other) == fails


def test_the_answer_for_what_is_not_compiled_itself_says_so() -> None:
    said = "itself is not compiled: this is the answer for torch.compile of it."
    call = Counting(times)
    assert cs.what_if(times, X, 2).why.startswith(f"times {said} torch has compiled nothing")
    assert call(X, 2)
    plain = cs.what_if(times, X, 2)
    assert (plain.verdict, plain.why) == ("reuse", f"times {said}")
    assert cs.what_if(call.compiled, X, 2).why == ""
    layer = Layer()
    assert said in cs.what_if(layer, X).why
    layer.compile(backend="eager")
    assert said not in cs.what_if(layer, X).why


def test_modules_attributes_globals_and_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer()
    call = Counting(layer)
    assert call(X)

    def failing() -> str:
        answer = cs.what_if(call.compiled, X)
        assert answer.verdict == "recompile"
        (outcome,) = answer.outcomes
        assert outcome.guard is not None
        return f"{outcome.guard.expression}: {outcome.actual}"

    layer.scale = 3.5
    assert failing() == "L['self'].scale == 2.5: 3.5"
    layer.scale, layer.steps = 2.5, 4
    assert failing() == "L['self'].steps == 3: 4"
    layer.steps = 3
    weight = layer.inner[0].weight
    layer.inner[0].weight = torch.nn.Parameter(torch.randn(3, 8))
    assert "_parameters['weight']" in failing()
    layer.inner[0].weight = weight
    with torch.no_grad():
        assert "grad_mode = false" in failing()
    assert cs.what_if(call.compiled, X).verdict == "reuse"
    assert not call(X)

    plain = Counting(global_value)
    assert plain(X)
    monkeypatch.setitem(globals(), "OFFSET", 4)
    answer = cs.what_if(plain.compiled, X)
    assert answer.outcomes[0].expected == "3"
    assert answer.outcomes[0].actual == "4"
    assert plain(X)


def test_closures_and_methods_and_bare_library_modules() -> None:
    factor = 2.0

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * factor

    call = Counting(scaled)
    assert call(X)
    assert cs.what_if(call.compiled, X).verdict == "reuse"
    factor = 3.0
    answer = cs.what_if(call.compiled, X)
    assert (answer.outcomes[0].expected, answer.outcomes[0].actual) == ("2.0", "3.0")
    assert f"# {__file__}:" in answer.outcomes[0].message
    assert call(X)

    class Owner:
        k = 2

        def method(self, x: torch.Tensor, *more: int, **named: int) -> torch.Tensor:
            return x * self.k + sum(more) + sum(named.values())

    method = Counting(Owner().method)
    assert method(X, 1, z=2)
    assert cs.what_if(method.compiled, X, 1, z=2).verdict == "reuse"
    assert cs.what_if(method.compiled, X, 1, z=3).outcomes[0].actual == "3"
    assert method(X, 1, z=3)

    library = Counting(torch.nn.Sequential(torch.nn.Linear(8, 8)))
    assert library(X)
    assert cs.what_if(library.compiled, X).verdict == "reuse"
    assert cs.what_if(library.compiled, X[:2]).verdict == "recompile"
    assert library(X[:2])


def test_compilations_are_asked_in_the_order_of_torch_until_the_limit() -> None:
    call = Counting(times, dynamic=False)
    limit = torch._dynamo.config.recompile_limit
    for k in range(limit):
        answer = cs.what_if(call.compiled, X, k)
        assert (answer.verdict, answer.title) == ("recompile", "Recompiles" if k else "Compiles")
        assert call(X.repeat(1, k + 1), k)
    answer = cs.what_if(call.compiled, X.repeat(1, 3), 2)
    assert answer.verdict == "reuse"
    assert (answer.reuses, answer.title) == ("0/2", "Reuses 0/2")
    assert len(answer.outcomes) == limit - 2
    over = cs.what_if(call.compiled, X, 99)
    assert over.verdict == "limit"
    assert f"  Limit reached. {over.text}\n" in str(over)
    assert not call(X, 99)  # compiles nothing: it runs in eager
    assert cs.what_if(call.compiled, X, 99).verdict == "limit"
    assert cs.what_if(call.compiled, X.repeat(1, 3), 2).reuses == "0/2"
    # Another backend's compilations are in the same cache.
    other = Counting(times, dynamic=False)
    assert cs.what_if(other.compiled, X, 99).verdict == "limit"
    assert not other(X, 99)


def test_beyond_the_limit_a_call_with_fullgraph_is_an_error() -> None:
    call = Counting(times, dynamic=False, fullgraph=True)
    limit = torch._dynamo.config.recompile_limit
    for k in range(limit):
        assert call(X, k)
    for _ in range(2):
        over = cs.what_if(call.compiled, X, 99)
        assert over.verdict == "error"
        assert over.why.startswith("The recompile limit is reached: with fullgraph=True")
        with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
            call(X, 99)
    assert cs.what_if(call.compiled, X, 1).verdict == "reuse"
    assert not call(X, 1)


@pytest.mark.skipif(
    "recompile_limit" not in inspect.signature(torch.compile).parameters,
    reason="this torch has no limit of a wrapper",
)
def test_a_wrapper_has_its_own_limit() -> None:
    call = Counting(times, dynamic=False, recompile_limit=1)
    assert call(X, 1)
    assert cs.what_if(call.compiled, X, 2).verdict == "limit"
    assert not call(X, 2)


def broken(x: Any, n: int) -> Any:
    y = x + 1
    torch._dynamo.graph_break()
    return y * n


@pytest.mark.parametrize(("fn", "breaks"), [(broken, True), (times, False)])
def test_what_is_behind_a_graph_break_is_not_said_to_hold(fn: Any, breaks: bool) -> None:
    compiled = Counting(fn)
    compiled(X, 2)
    answer = cs.what_if(compiled.compiled, X, 2)
    assert answer.verdict == "reuse"
    names_later_code = "the code after it has guards of its own" in str(answer)
    assert names_later_code is breaks
    if breaks:
        assert cs.what_if(compiled.compiled, X, 3).verdict == "reuse"
        assert compiled(X, 3)
