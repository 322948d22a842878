"""What if, asked of a report: arguments are typed, and its own guards answer."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Callable
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.report import IN_CELL
from compilescope.report.what_if import WhatIf
from compilescope.subject.typed_arguments import evaluate_arguments
from compilescope.torch_api.guards.guard_managers import live_guards
from compilescope.watching.running_code import watching

from ..what_if_subjects import Counting, X, times

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

OFFSET = 3


def inspected(fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
    from compilescope.session.session import get_session

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
    assert ask("x, scale=3.0").outcomes[0].actual == "3.0"
    assert ask("flag=False, *(x,)").outcomes[0].actual == "False"
    # A report's answer is about the modes of the inspection.
    with torch.no_grad():
        assert ask("x").verdict == "reuse"
        assert not torch.is_grad_enabled()
    assert cs.what_if(report, X[:2]).verdict == "recompile"
    assert helper.__code__ is code
    assert not live_guards(code)


def test_after_a_graph_break_nothing_is_claimed() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    report, inspection = inspected(broken, X)
    assert len(report.compilations) == 2
    answer = inspection.what_if("python", "x", {})
    assert answer.reuses == "0/0"
    assert [outcome.compilation for outcome in answer.outcomes] == ["0/0"]
    assert "the guards of 1/0 are not evaluated" in answer.why


def test_only_called_from_eager_cannot_be_told() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x.sin() + 1

    def outer(x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):  # a break in a loop leaves the frame to eager
            torch._dynamo.graph_break()
            x = inner(x)
        return x

    report, inspection = inspected(outer, X)
    assert "inner" in [
        compilation.frame.function for compilation in report.compilations if compilation.frame
    ]
    answer = inspection.what_if("python", "x", {})
    assert (answer.verdict, answer.outcomes) == ("unknown", [])
    assert "no frame of" in answer.why
    assert (answer.title, answer.text) == (
        "Unknown",
        "Whether torch would compile cannot be predicted.",
    )
    assert f"Unknown. {answer.text}" in str(answer)


WRONG = {
    "x) + (x": "more than the arguments of one call",
    "x; x": "invalid syntax",
    "import os": "invalid syntax",
    "x, k=1, k=2": "keyword argument repeated",
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

    from compilescope.torch_api.guards.guard_managers import KeptGuards, collecting_guards

    kept_guards: list[KeptGuards] = []
    big, tensor = Big(), torch.randn(3)
    compiled = torch.compile(fn, backend="eager")
    with collecting_guards(kept_guards.append):
        compiled(tensor, big)
        compiled(tensor, adder)
    assert [kept_guard.invalid() for kept_guard in kept_guards] == ["", ""]
    gone = weakref.ref(big), weakref.ref(tensor)
    torch._dynamo.reset()
    del big, tensor
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_while_a_cell_runs_the_kernel_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    from compilescope import notebook_cells
    from compilescope.session import what_if
    from compilescope.session.session import get_session

    report, _ = inspected(with_helper, X)
    asked: list[Any] = []

    def ask() -> None:
        try:
            asked.append(
                what_if.what_if_text(get_session(), report.subject.id, "python", "x", "").verdict
            )
        except cs.CompilescopeError as error:
            asked.append(error.problem.what)

    def in_thread() -> Any:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(600)
        return asked.pop()

    assert in_thread() == "reuse"
    code = compile("def run_code(work):\n    return work()\n", "/x/interactiveshell.py", "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["run_code"](in_thread) == "The Jupyter kernel is busy."
    assert not notebook_cells.is_cell_running()


def test_what_is_not_in_the_kernel_is_refused() -> None:
    report, inspection = inspected(with_helper, X)
    with pytest.raises(cs.CompilescopeError, match="no variant 'cpp'"):
        inspection.what_if("cpp", "x", {})
    other = msgspec.structs.replace(report)
    with pytest.raises(cs.CompilescopeError, match="call of this report is not in the kernel"):
        cs.what_if(other, X)


def test_what_was_watched_is_asked_by_compilation() -> None:
    from compilescope.session import what_if
    from compilescope.session.session import get_session

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
    places = {
        (compilation.frame.function if compilation.frame else ""): compilation.id
        for compilation in report.compilations
    }

    def ask(text: str, compilation: str) -> WhatIf:
        session, subject = get_session(), report.subject.id
        return what_if.what_if_text(session, subject, "as written", text, compilation)

    names = {"X": X}
    vars(__import__("__main__")).update(names)
    try:
        answer = ask("X[:3]", places["scaled"])
        assert answer.verdict == "reuse"
        assert answer.reuses == places["scaled"]
        assert not call(X[:3])
        what_if.count_fails(get_session(), report.subject.id, "0/0")
        first = report.compilation("0/0")
        tensor = next(guard for guard in first.guard_tree if guard.source == "L['x']")
        assert tensor.fails == 1  # at X[:2]; what torch asks to tell why is not counted
        assert next(guard for guard in first.guards if guard.source == "L['k']").fails == 0
        small = ask("X[:1]", places["scaled"])
        assert small.verdict == "recompile"
        first = small.outcomes[0]
        guards = report.compilation(first.compilation).guards
        assert first.place is not None
        assert guards[first.place] == first.guard
        assert call(X[:1])
        assert ask("X", places["broken"]).verdict == "reuse"
        with torch.no_grad():  # as another thread has modes of its own
            assert ask("X", places["broken"]).verdict == "reuse"
            assert not torch.is_grad_enabled()
        resumed = next(guard for name, guard in places.items() if " from line " in name)
        for compilation, why in {
            "": "no call of its own",
            resumed: "graph break",
            "9/9": "no longer exists",
        }.items():
            with pytest.raises(cs.CompilescopeError, match=why):
                ask("X", compilation)
    finally:
        del vars(__import__("__main__"))["X"]
        get_session().forget(report.subject.id)


def test_what_the_cell_compiled_is_asked_too() -> None:
    from compilescope.session.session import Session

    torch.compile(times, backend="eager")(X, 7)  # torch has counted before
    session = Session()
    call = Counting(with_helper)
    with watching() as watched:
        assert call(X)
        assert call(X, 3.0)
    report = session.inspect(with_helper, (X,), variants="python", run=False, watched=watched)
    inspection: Any = session.inspection(report.subject.id)
    answer = inspection.what_if(IN_CELL, "x, 3.0", {})
    assert (answer.verdict, answer.reuses) == ("reuse", "0/1")
    answer = inspection.what_if(IN_CELL, "x[:2]", {})
    assert [outcome.compilation for outcome in answer.outcomes] == ["0/1", "0/0"]
    outcome = answer.outcomes[1]
    assert outcome.place is not None
    assert report.compilation("0/0", IN_CELL).guards[outcome.place] == outcome.guard
    assert call(X[:2])
    torch._dynamo.reset()
    with pytest.raises(cs.CompilescopeError, match="not in the kernel"):
        inspection.what_if(IN_CELL, "x", {})
