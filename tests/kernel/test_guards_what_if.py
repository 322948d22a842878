"""What if: for each kind of guard the answer is what the real call then does."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import compilescope as cs
import pytest
import torch
from compilescope.compiler.call_text import evaluate_arguments
from compilescope.compiler.what_if_result import WhatIf
from compilescope.torch_api.guard_keeping import live_guards

X = torch.randn(4, 8)
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


class Counting:
    """A compiled callable that counts its compilations; each has a function of its own."""

    def __init__(self, fn: Callable[..., Any], **options: Any) -> None:
        self.count = 0
        self.plain = fn
        self.compiled = torch.compile(fn, backend=self._backend, **options)

    def _backend(self, graph: torch.fx.GraphModule, inputs: Any) -> Any:
        self.count += 1
        return graph.forward

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        """Makes a call, and says whether it compiled."""
        before = self.count
        self.compiled(*args, **kwargs)
        return self.count > before


def times(x: Any, k: Any) -> Any:
    return x * k


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
    found: str = ""
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
    "not a tensor": Case(optional, (X, X + 1), (X, 2.0), "check_tensor(L['y']", "a tensor", "2.0"),
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


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def trees(fn: Any) -> list[tuple[str, int]]:
    function = getattr(fn, "forward", fn)
    code = getattr(function, "__func__", function).__code__
    return [(str(one.manager), one.manager.root.fail_count()) for one in live_guards(code)]


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
        assert case.found in outcome.found
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


def test_modules_attributes_globals_and_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer()
    call = Counting(layer)
    assert call(X)

    def failing() -> str:
        answer = cs.what_if(call.compiled, X)
        assert answer.verdict == "recompile"
        (outcome,) = answer.outcomes
        assert outcome.guard is not None
        return f"{outcome.guard.expression}: {outcome.found}"

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
    assert answer.outcomes[0].found == "4"
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
    assert (answer.outcomes[0].expected, answer.outcomes[0].found) == ("2.0", "3.0")
    assert call(X)

    class Owner:
        k = 2

        def method(self, x: torch.Tensor, *more: int, **named: int) -> torch.Tensor:
            return x * self.k + sum(more) + sum(named.values())

    method = Counting(Owner().method)
    assert method(X, 1, z=2)
    assert cs.what_if(method.compiled, X, 1, z=2).verdict == "reuse"
    assert cs.what_if(method.compiled, X, 1, z=3).outcomes[0].found == "3"
    assert method(X, 1, z=3)

    library = Counting(torch.nn.Sequential(torch.nn.Linear(8, 8)))
    assert library(X)
    assert cs.what_if(library.compiled, X).verdict == "reuse"
    assert cs.what_if(library.compiled, X[:2]).verdict == "recompile"
    assert library(X[:2])


def test_compilations_are_asked_in_the_order_of_torch_until_the_limit() -> None:
    call = Counting(times, dynamic=False)
    limit = torch._dynamo.config.recompile_limit
    assert cs.what_if(call.compiled, X, 0).verdict == "recompile"
    for k in range(limit):
        assert cs.what_if(call.compiled, X, f"{k}" and k).verdict == "recompile"
        assert call(X.repeat(1, k + 1), k)
    answer = cs.what_if(call.compiled, X.repeat(1, 3), 2)
    assert answer.verdict == "reuse"
    assert answer.reuses == "0/2"
    assert len(answer.outcomes) == limit - 2
    over = cs.what_if(call.compiled, X, 99)
    assert over.verdict == "limit"
    assert "eager" in str(over)
    assert not call(X, 99)  # compiles nothing: it runs in eager


def inspected(fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
    from compilescope.session import get_session

    options = {"run": False, "variants": "python", **options}
    report = cs.inspect(fn, args, **options)
    return report, get_session().inspection(report.subject.id)


def helper(x: torch.Tensor) -> torch.Tensor:
    return x * OFFSET


def with_helper(x: torch.Tensor, scale: float = 2.0, *, flag: bool = True) -> torch.Tensor:
    y = helper(x) * scale
    return y.relu() if flag else y


def plain_tensor(x: Any) -> Any:
    return x * 2 if type(x) is torch.Tensor else x


def test_an_inspection_knows_what_dynamo_put_into_the_globals() -> None:
    # type(x) has Dynamo install torch under a name of its own, and take it away with the code.
    _, inspection = inspected(plain_tensor, X, run=False)
    guards = inspection.what_if("python", "x", {})
    assert guards.reuses == "0/0", guards
    assert inspection.what_if("python", "x[:2]", {}).verdict == "recompile"


@pytest.mark.parametrize("run", [False, True])
def test_an_inspection_answers_about_its_own_guards(run: bool) -> None:
    report, inspection = inspected(with_helper, X, run=run)

    def ask(text: str, **names: Any) -> WhatIf:
        return inspection.what_if("python", text, names)

    code = helper.__code__
    assert ask("x").reuses == "0/0"
    assert ask("y", y=X + 1).verdict == "reuse"
    sliced = ask("x[:2], 3.0")
    assert sliced.arguments == ["x: float32[2, 8] cpu", "scale: 3.0"]
    assert sliced.verdict == "recompile"
    guards = report.compilation("0/0", "python").guards
    place = sliced.outcomes[0].place
    assert place is not None
    assert guards[place] == sliced.outcomes[0].guard
    assert ask("x, scale=3.0").outcomes[0].found == "3.0"
    assert ask("flag=False, *(x,)").outcomes[0].found == "False"
    # A report's answer is about the modes of the inspection.
    with torch.no_grad():
        assert ask("x").verdict == "reuse"
        assert not torch.is_grad_enabled()
    assert cs.what_if(report, X[:2]).verdict == "recompile"
    assert helper.__code__ is code
    assert not live_guards(code)


def test_behind_a_graph_break_nothing_is_claimed() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    report, inspection = inspected(broken, X)
    assert len(report.compilations) == 2
    answer = inspection.what_if("python", "x", {})
    assert answer.reuses == "0/0"
    assert [one.compilation for one in answer.outcomes] == ["0/0"]
    assert "1/0 is not asked" in answer.why


def test_only_called_from_eager_cannot_be_told() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x.sin() + 1

    def outer(x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):  # a break in a loop leaves the frame to eager
            torch._dynamo.graph_break()
            x = inner(x)
        return x

    report, inspection = inspected(outer, X)
    assert "inner" in [one.frame.function for one in report.compilations if one.frame]
    answer = inspection.what_if("python", "x", {})
    assert (answer.verdict, answer.outcomes) == ("unknown", [])
    assert "no frame of" in answer.why
    assert "cannot be told" in str(answer)


WRONG = {
    "x) + (x": "more than the arguments of one call",
    "x; x": "invalid syntax",
    "import os": "invalid syntax",
    "a := 1": "assigns or awaits",
    "await x": "assigns or awaits",
    "(yield)": "assigns or awaits",
    "unknown, other": "other, unknown are not in the notebook",
    "1 / 0": "ZeroDivisionError",
    "x.nothing": "AttributeError",
    "x, 1, 2, 3": "Too many positional arguments",
    "scale=1": "Missing a required argument: 'x'",
    "(" * 300: "cannot be read",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_arguments_are_refused_with_a_reason(text: str) -> None:
    _, inspection = inspected(with_helper, X)
    with pytest.raises(cs.CompilescopeError) as raised:
        inspection.what_if("python", text, {})
    problem = raised.value.problem
    assert WRONG[text] in f"{problem.what} {problem.why}"
    assert problem.remedy


def test_typed_arguments_change_nothing() -> None:
    names: dict[str, Any] = {"torch": torch, "x": X, "random": random}
    before = dict(names)
    state, python = torch.get_rng_state(), random.getstate()
    args, kwargs = evaluate_arguments(
        "torch.randn(2), random.random(), [y for y in range(3)], key=(lambda z: z)(x)", names
    )
    assert len(args) == 3
    assert kwargs["key"] is X
    assert names == before
    assert torch.equal(torch.get_rng_state(), state)
    assert random.getstate() == python
    evaluate_arguments("torch.set_grad_enabled(False)", names)
    assert torch.is_grad_enabled()


def test_kept_guards_hold_no_values_and_know_when_they_are_void() -> None:
    class Big:
        def __init__(self) -> None:
            self.values = torch.ones(3)

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.values.sum()

    def fn(x: torch.Tensor, f: Any) -> torch.Tensor:
        return f(x).sin()

    def adder(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    from compilescope.torch_api.guard_keeping import KeptGuards, keeping

    kept: list[KeptGuards] = []
    big, tensor = Big(), torch.randn(3)
    compiled = torch.compile(fn, backend="eager")
    with keeping(kept.append):
        compiled(tensor, big)
        compiled(tensor, adder)
    assert [one.invalid() for one in kept] == ["", ""]
    gone = weakref.ref(big), weakref.ref(tensor)
    torch._dynamo.reset()
    del big, tensor
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_while_a_cell_runs_the_kernel_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    from compilescope import questions
    from compilescope.compiler import notebook_names
    from compilescope.session import get_session

    report, _ = inspected(with_helper, X)
    asked: list[Any] = []

    def ask() -> None:
        try:
            asked.append(
                questions.ask_text(get_session(), report.subject.id, "python", "x", "").verdict
            )
        except cs.CompilescopeError as error:
            asked.append(error.problem.what)

    def in_thread() -> Any:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(60)
        return asked.pop()

    assert in_thread() == "reuse"
    code = compile("def run_code(work):\n    return work()\n", "/x/interactiveshell.py", "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["run_code"](in_thread) == "The kernel is busy."
    assert not notebook_names.is_cell_running()


def test_what_is_not_in_the_kernel_is_refused() -> None:
    report, inspection = inspected(with_helper, X)
    with pytest.raises(cs.CompilescopeError, match="no variant 'cpp'"):
        inspection.what_if("cpp", "x", {})
    report.subject.id = "elsewhere"
    with pytest.raises(cs.CompilescopeError, match="not in the kernel any more"):
        cs.what_if(report, X)


def test_what_was_watched_is_asked_by_compilation() -> None:
    from compilescope import questions
    from compilescope.session import get_session

    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    def scaled(x: torch.Tensor, k: int = 2) -> torch.Tensor:
        return (x * k).sin()

    with cs.watch() as report:
        call, other = Counting(scaled), Counting(broken)
        assert call(X)
        assert call(X[:2])
        assert other(X)
    places = {(one.frame.function if one.frame else ""): one.id for one in report.compilations}

    def ask(text: str, compilation: str) -> WhatIf:
        session, subject = get_session(), report.subject.id
        return questions.ask_text(session, subject, "as written", text, compilation)

    names = {"X": X}
    vars(__import__("__main__")).update(names)
    try:
        answer = ask("X[:3]", places["scaled"])
        assert answer.verdict == "reuse"
        assert answer.reuses == places["scaled"]
        assert not call(X[:3])
        questions.count_fails(get_session(), report.subject.id, "0/0")
        first = report.compilation("0/0")
        tensor = next(one for one in first.guard_tree if one.source == "L['x']")
        assert tensor.fails == 1  # at X[:2]; what torch asks to tell why is not counted
        assert next(one for one in first.guards if one.source == "L['k']").fails == 0
        small = ask("X[:1]", places["scaled"])
        assert small.verdict == "recompile"
        first = small.outcomes[0]
        found = report.compilation(first.compilation).guards
        assert first.place is not None
        assert found[first.place] == first.guard
        assert call(X[:1])
        assert ask("X", places["broken"]).verdict == "reuse"
        with torch.no_grad():  # as another thread has modes of its own
            assert ask("X", places["broken"]).verdict == "reuse"
            assert not torch.is_grad_enabled()
        resumed = next(one for name, one in places.items() if "resume" in name)
        for compilation, why in {
            "": "no call of its own",
            resumed: "graph break",
            "9/9": "gone",
        }.items():
            with pytest.raises(cs.CompilescopeError, match=why):
                ask("X", compilation)
    finally:
        del vars(__import__("__main__"))["X"]
        get_session().forget(report.subject.id)


def test_what_the_cell_compiled_is_asked_too() -> None:
    from compilescope.session import Session

    torch.compile(times, backend="eager")(X, 7)  # torch has counted before
    session = Session()
    call = Counting(with_helper)
    with session.watch_cell():
        assert call(X)
        assert call(X, 3.0)
    report = session.inspect(with_helper, (X,), variants="python", run=False)
    inspection: Any = session.inspection(report.subject.id)
    answer = inspection.what_if("as written", "x, 3.0", {})
    assert (answer.verdict, answer.reuses) == ("reuse", "0/1")
    answer = inspection.what_if("as written", "x[:2]", {})
    assert [one.compilation for one in answer.outcomes] == ["0/1", "0/0"]
    outcome = answer.outcomes[1]
    assert outcome.place is not None
    assert report.compilation("0/0", "as written").guards[outcome.place] == outcome.guard
    assert call(X[:2])
    torch._dynamo.reset()
    with pytest.raises(cs.CompilescopeError, match="not in the kernel"):
        inspection.what_if("as written", "x", {})
