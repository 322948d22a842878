"""Each piece of advice removes the recompile that it is given for: applied, and counted."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple

import msgspec
import pytest
import torch
from compilescope.analysis.guards.conditions import add_conditions
from compilescope.analysis.overview.code_suggestions import against_recompiles
from compilescope.report import Advice, Compilation, Suggestion, VariantReport
from compilescope.report.variant import Variant
from compilescope.views import deviations
from compilescope.watching.running_code import watching

PREPARE = """\
import functools
import torch
from torch import nn
torch.manual_seed(0)
"""


class Program(NamedTuple):
    """Code that recompiles: what is defined, the line that compiles, and the loop that calls."""

    define: str
    calls: str
    compile: str = 'compiled = torch.compile(f, backend="eager")'


class Ran(NamedTuple):
    compilations: list[Compilation]
    text: str

    @property
    def recompiles(self) -> int:
        return sum(compilation.recompile is not None for compilation in self.compilations)


SIZES = Program(
    "def f(x):\n    return x + 1", "for n in (4, 5, 6):\n    compiled(torch.ones(n, 3))"
)
NAMED = Program(
    "def f(x):\n    return x + 1",
    "for batch in (torch.ones(4, 3), torch.ones(5, 3)):\n    compiled(batch)",
)
KEYWORD = Program(
    "def f(a, *, x):\n    return a + x['image'].sum()",
    "for n in (4, 5):\n    batch = {'image': torch.ones(n, 3)}\n    compiled(1.0, x=batch)",
)
PAIR = Program(
    "def f(x, y):\n    return x + y",
    "for n in (4, 5):\n    x, y = torch.ones(n, 3), torch.ones(n, 3)\n    compiled(x, y)",
)
PAIR_AND_NUMBER = Program(
    "def f(x, y, scale):\n    return (x + y) * scale",
    "for n in (4, 5):\n    x, y = torch.ones(n, 3), torch.ones(n, 3)\n    compiled(x, y, n / 3)",
)
METHOD = Program(
    "class Step:\n    def run(s, batch):\n        return batch['x'] + 1\nstep = Step()",
    "for n in (4, 5):\n    compiled({'x': torch.ones(n, 3)})",
    "compiled = torch.compile(step.run, backend='eager')",
)
WRAPPED = Program(
    "@torch.no_grad()\ndef f(x):\n    return x + 1",
    "for n in (4, 5):\n    compiled(torch.ones(n, 3))",
)
DECORATED = Program(
    "@torch.compile(backend='eager')\ndef compiled(x):\n    return x + 1",
    "for n in (4, 5):\n    compiled(torch.ones(n, 3))",
    "pass",
)
SINGLE = Program(
    "def f(x):\n    return x + 1", "for x in (torch.ones(1, 3), torch.ones(5, 3)):\n    compiled(x)"
)
TO_ONE = Program(
    "def f(x):\n    return x + 1",
    "for n in (4, 5, 1):\n    x = torch.ones(n, 3)\n    compiled(x)",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
DUCK = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, 4), torch.ones(5, 4)):\n    compiled(x)",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
INTEGER = Program(
    "def f(x, n):\n    return x * n", "for n in (2, 3, 4):\n    compiled(torch.ones(3), n)"
)
FLOAT = Program(
    "def f(x, *, rate=0.1):\n    return x * rate",
    "for step in range(3):\n    compiled(torch.ones(3), rate=0.5 ** step + 0.1)",
)
SPECIALIZED = FLOAT._replace(
    compile="torch._dynamo.config.specialize_float = True\n" + FLOAT.compile
)
TYPE = Program(
    "def f(x, n):\n    return x * n", "for n in (2, 3, 4.5):\n    compiled(torch.ones(3), n)"
)
FIELD = Program(
    "class Options:\n    pass\noptions = Options()\ndef f(x, o):\n    return x * o.scale",
    "for n in (2, 3, 4):\n    options.scale = n\n    compiled(torch.ones(3), options)",
)
COUNTER = Program(
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.calls = 0\n"
    "    def forward(self, x):\n"
    "        self.calls += 1\n"
    "        return x * self.calls\n"
    "net = Net()",
    "for _ in range(4):\n    net_compiled(torch.ones(3))",
    'net_compiled = torch.compile(net, backend="eager")',
)
GLOBAL = Program(
    "scale = 2\ndef f(x):\n    return x * scale",
    "for step in (2, 3, 4):\n    scale = scale + 1\n    compiled(torch.ones(3))",
)
STRIDE = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, 3), torch.ones(3, 4).t()):\n    compiled(x)",
)
DTYPE = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4), torch.ones(4, dtype=torch.float64)):\n    compiled(x)",
)
NO_GRADIENT = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4), torch.ones(4, requires_grad=True)):\n    compiled(x)",
)
GRADIENT = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, requires_grad=True), torch.ones(4)):\n    compiled(x)",
)
MODE = Program(
    "def f(x):\n    return x + 1",
    "compiled(torch.ones(4))\nwith torch.no_grad():\n    compiled(torch.ones(4))",
)
EVALUATED = Program(
    "def f(x, h):\n    return h(x)",
    "for _ in range(3):\n    compiled(torch.ones(4), eval('lambda v: v + 1'))",
)
LENGTH = Program(
    "def f(xs):\n    return sum(x.sin() for x in xs)",
    "for n in (2, 3):\n    compiled([torch.ones(4)] * n)",
)
TEXT = Program(
    "def f(x, mode):\n    return x.sin() if mode == 'sin' else x.cos()",
    "for mode in ('sin', 'cos'):\n    compiled(torch.ones(4), mode)",
)
LIMIT = Program(
    "def f(x, text):\n    return x * len(text)",
    "for n in range(12):\n    compiled(torch.ones(4), 'a' * n)",
)
TO_RANK = Program(
    "def f(x):\n    return x.sin()",
    "for x in (torch.ones(3), torch.ones(4), torch.ones(4, 2)):\n    compiled(x)",
)
TO_ONE_UNNAMED = Program(
    "def f(*xs):\n    return xs[0].sin()",
    "for xs in ([torch.ones(8, 3)], [torch.ones(4, 3)], [torch.ones(1, 3)]):\n    compiled(*xs)",
)
SIZE_AND_NUMBER = Program(
    "def f(x, n):\n    return (x * n).sin()",
    "for n in (3, 4):\n    compiled(torch.ones(n), n)",
)
OPTIMIZER = Program(
    "model = nn.Linear(3, 3)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n"
    "def f(x):\n"
    "    optimizer.zero_grad()\n"
    "    model(x).sum().backward()\n"
    "    optimizer.step()",
    "for _ in range(3):\n    compiled(torch.ones(2, 3))",
)

DYNAMIC = "compiled = torch.compile(f, backend='eager', dynamic=True)"
UNSPECIFIED = """\
torch._dynamo.config.allow_unspec_int_on_nn_module = True
net_compiled = torch.compile(net, backend='eager', dynamic=True)"""

IN_A_DICT = """\
batch = {'x': torch.ones(n, 3)}
torch._dynamo.mark_dynamic(batch['x'], 0)
compiled(batch)"""
AMONG_ARGUMENTS = """\
args_0 = torch.ones(n, 3)
torch._dynamo.mark_dynamic(args_0, 0)
compiled(args_0)"""

ADVISED = [
    (SIZES, "mark_dynamic", "x = torch.ones(n, 3)\ntorch._dynamo.mark_dynamic(x, 0)\ncompiled(x)"),
    (SIZES, "dynamic", DYNAMIC),
    (NAMED, "mark_dynamic", "torch._dynamo.mark_dynamic(batch, 0)"),
    (KEYWORD, "mark_dynamic", "torch._dynamo.mark_dynamic(batch['image'], 0)"),
    (
        PAIR,
        "mark_dynamic",
        "torch._dynamo.mark_dynamic(x, 0)\ntorch._dynamo.mark_dynamic(y, 0)",
    ),
    (PAIR_AND_NUMBER, "dynamic", DYNAMIC),
    (METHOD, "mark_dynamic", IN_A_DICT),
    (
        METHOD,
        "dynamic",
        "compiled = torch.compile(step.run, backend='eager', dynamic=True)",
    ),
    (WRAPPED, "mark_dynamic", AMONG_ARGUMENTS),
    (WRAPPED, "dynamic", DYNAMIC),
    (DECORATED, "dynamic", "@torch.compile(backend='eager', dynamic=True)"),
    (SINGLE, "mark_unbacked", "torch._dynamo.decorators.mark_unbacked(x, 0)"),
    (TO_ONE, "mark_unbacked", "torch._dynamo.decorators.mark_unbacked(x, 0)"),
    (DUCK, "duck_shape", "torch.fx.experimental._config.use_duck_shape = False"),
    (INTEGER, "tensor", "n = torch.tensor(n)"),
    (INTEGER, "dynamic", DYNAMIC),
    (
        FLOAT,
        "tensor",
        "rate = torch.tensor(0.5 ** step + 0.1)\ncompiled(torch.ones(3), rate=rate)",
    ),
    (FLOAT, "dynamic", DYNAMIC),
    (
        SPECIALIZED,
        "specialize_float",
        f"torch._dynamo.config.specialize_float = False\n{DYNAMIC}",
    ),
    (SIZE_AND_NUMBER, "dynamic", DYNAMIC),
    (TYPE, "tensor", "n = torch.tensor(float(n))"),
    (FIELD, "tensor", "options.scale = torch.tensor(options.scale)"),
    (FIELD, "dynamic", DYNAMIC),
    (COUNTER, "tensor", "net_compiled.calls = torch.tensor(net_compiled.calls)"),
    (
        COUNTER,
        "module_int",
        UNSPECIFIED,
    ),
    (GLOBAL, "tensor", "scale = torch.tensor(scale)"),
    (STRIDE, "contiguous", "x = x.contiguous()"),
    (DTYPE, "dtype", "x = x.to(torch.float32)"),
    (NO_GRADIENT, "requires_grad", "x = x.detach()"),
    (GRADIENT, "requires_grad", "x = x.requires_grad_()"),
    (MODE, "grad_mode", "with torch.enable_grad():\n    compiled(torch.ones(4))"),
    (EVALUATED, "hoist", "h = eval('lambda v: v + 1')\ncompiled(torch.ones(4), h)"),
    (LENGTH, "stance", 'torch.compiler.set_stance("eager_on_recompile")'),
    (TEXT, "stance", 'torch.compiler.set_stance("eager_on_recompile")'),
    (LIMIT, "limit", "torch._dynamo.config.recompile_limit = 16"),
]


@pytest.fixture(autouse=True)
def settings():
    torch._dynamo.reset()
    duck = torch.fx.experimental._config.use_duck_shape
    with torch._dynamo.config.patch({}):
        before = {
            name: getattr(torch._dynamo.config, name)
            for name in ("specialize_float", "recompile_limit", "allow_unspec_int_on_nn_module")
        }
        yield
        for name, value in before.items():
            setattr(torch._dynamo.config, name, value)
    torch.fx.experimental._config.use_duck_shape = duck
    torch.compiler.set_stance("default")
    torch._dynamo.reset()


_number = 0


def run(define: str, compile_: str, calls: str) -> Ran:
    """Run a program that has a file of its own, as a cell has; watch what it compiles."""
    global _number
    _number += 1
    file = f"<program-{_number}>"
    text = f"{PREPARE}{define}\n{compile_}\n{calls}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    torch._dynamo.reset()
    with watching() as watched:
        exec(compile(text, file, "exec"), {"__name__": file})
    return Ran(watched.compilations("watched"), text)


def advice_of(ran: Ran) -> list[Advice]:
    return [
        advice
        for compilation in ran.compilations
        if compilation.recompile
        for advice in compilation.recompile.advice
    ]


def suggestions_of(ran: Ran) -> list[Suggestion]:
    """What the Overview says against the recompiles."""
    variant = VariantReport(name="watched", requested=Variant(), compilations=ran.compilations)
    return [ranked.suggestion for ranked in against_recompiles(variant, None)]


def applied(program: Program, advice: Advice, line: str) -> Ran:
    """The program as somebody would write it who follows the advice; ``line`` is where it goes."""
    define, calls, compile_ = program.define, program.calls, program.compile
    code = advice.code
    if code.startswith("@"):
        define = define.replace("@torch.compile(backend='eager')", code)
        return run(define, compile_, calls)
    once = advice.kind == "tensor" and program in (COUNTER, GLOBAL)
    if advice.kind in ("limit", "duck_shape"):
        compile_ = f"{code}\n{compile_}"
    elif once:
        compile_ = f"{compile_}\n{code}"
    elif advice.kind == "module_int" or advice.kind in ("dynamic", "specialize_float"):
        compile_ = code
    elif advice.kind == "stance":
        first, rest = unrolled(calls)
        calls = f"{first}\n{code}\n{rest}"
    elif advice.kind == "hoist":
        result, called = code.split("\n")
        calls = f"{result}\n{replaced(calls, line, called)}"
    else:
        calls = replaced(calls, line, code if last_calls(code) else f"{code}\n{line}")
    return run(define, compile_, calls)


def last_calls(code: str) -> bool:
    return "compiled(" in code.split("\n")[-1]


def replaced(calls: str, line: str, code: str) -> str:
    """The calls with one line's statement replaced, at its indent."""
    results = []
    for item in calls.split("\n"):
        if item.strip() == line:
            indent = item[: len(item) - len(item.lstrip())]
            results += [indent + part for part in code.split("\n")]
        else:
            results.append(item)
    return "\n".join(results)


def unrolled(calls: str) -> tuple[str, str]:
    """The loop's first turn, and the whole loop again."""
    return f"{calls}\n    break", calls


@pytest.mark.parametrize(
    ("program", "kind", "code"),
    ADVISED,
    ids=[f"{kind}-{n}" for n, (_, kind, _) in enumerate(ADVISED)],
)
def test_advice_removes_the_recompile(program: Program, kind: str, code: str) -> None:
    before = run(*program[:1], program.compile, program.calls)
    assert before.recompiles
    results = [suggestion for suggestion in advice_of(before) if suggestion.kind == kind]
    assert results, [(suggestion.kind, suggestion.code) for suggestion in advice_of(before)]
    advice = next((suggestion for suggestion in results if suggestion.code == code), results[0])
    assert advice.code == code
    line = ""
    if advice.where is not None and advice.where.file.startswith("<program"):
        line = before.text.splitlines()[advice.where.line - 1].strip()
    after = applied(program, advice, line)
    assert after.compilations
    if kind == "limit":
        given_up = [compilation for compilation in after.compilations if not compilation.guards]
        assert not given_up
        assert [compilation for compilation in before.compilations if not compilation.guards]
    else:
        assert after.recompiles == 0, [compilation.recompile for compilation in after.compilations]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (SIZES, ("size", "L['x']", 0, "4", "5")),
        (KEYWORD, ("size", "L['x']['image']", 0, "4", "5")),
        (TO_ONE, ("size", "L['x']", 0, "at least 2", "1")),
        (INTEGER, ("value", "L['n']", None, "2", "3")),
        (COUNTER, ("value", "L['self'].calls", None, "0", "1")),
        (GLOBAL, ("global", "G['scale']", None, "3", "4")),
        (STRIDE, ("stride", "L['x']", 0, "3", "1")),
        (DTYPE, ("dtype", "L['x']", None, "Float", "Double")),
        (NO_GRADIENT, ("requires_grad", "L['x']", None, "False", "True")),
        (MODE, ("grad_mode", "", None, "True", "False")),
        (LENGTH, ("length", "L['xs']", None, "2", "3")),
        (TEXT, ("value", "L['mode']", None, "'sin'", "'cos'")),
    ],
)
def test_which_guard_failed_and_on_what(program: Program, expected: tuple[object, ...]) -> None:
    ran = run(program.define, program.compile, program.calls)
    recompiled = next(compilation for compilation in ran.compilations if compilation.recompile)
    assert recompiled.recompile is not None
    failure = recompiled.recompile.failures[0]
    result = (failure.kind, failure.source, failure.dimension, failure.old, failure.new)
    assert result == expected
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


def test_calls_that_recompile_run_in_eager_only_after_the_compiled_ones() -> None:
    ran = run(LENGTH.define, LENGTH.compile, LENGTH.calls)
    (advice,) = advice_of(ran)
    # The call is in a loop: before it, nothing would ever be compiled.
    assert (advice.kind, advice.where) == ("stance", None)
    assert "after the calls that should be compiled, outside of compiled functions" in advice.what
    (suggestion,) = suggestions_of(ran)
    assert suggestion.place.startswith("after the calls that should be compiled")
    assert (suggestion.gain, suggestion.basis) == ("", "unknown")


def test_an_optimizers_first_step_belongs_before_the_compiled_ones() -> None:
    before = run(OPTIMIZER.define, OPTIMIZER.compile, OPTIMIZER.calls)
    (advice,) = advice_of(before)
    assert (advice.kind, advice.code, advice.where) == ("optimizer_state", "", None)
    stance = 'torch.compiler.set_stance("force_eager")'
    assert stance in advice.what
    calls = f"with {stance}:\n    compiled(torch.ones(2, 3))\n{OPTIMIZER.calls}"
    after = run(OPTIMIZER.define, OPTIMIZER.compile, calls)
    assert after.compilations
    assert after.recompiles == 0


IN_A_FUNCTION = Program(
    "def f(x):\n    return x + 1\n"
    "def run(fn, sizes):\n"
    "    compiled = torch.compile(fn, backend='eager', fullgraph=True)\n"
    "    for n in sizes:\n"
    "        compiled(torch.ones(n, 3))",
    "run(f, (4, 5))",
    "pass",
)
PASSED = Program(
    "def f(x):\n    return x + 1\n"
    "def run(fn, sizes):\n    for n in sizes:\n        fn(torch.ones(n))",
    "run(torch.compile(f, backend='eager', mode=None), (4, 5))",
    "pass",
)
OPTIONS = Program(
    SIZES.define,
    SIZES.calls,
    "options = {'backend': 'eager'}\ncompiled = torch.compile(f, **options)",
)
CURRIED = SIZES._replace(compile="compiled = torch.compile(backend='eager')(f)")


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (
            IN_A_FUNCTION,
            "compiled = torch.compile(fn, backend='eager', fullgraph=True, dynamic=True)",
        ),
        (PASSED, "torch.compile(f, backend='eager', mode=None, dynamic=True)"),
        (CURRIED, "compiled = torch.compile(backend='eager', dynamic=True)(f)"),
        (OPTIONS, ""),
    ],
)
def test_a_torch_compile_keeps_what_it_is_given(program: Program, code: str) -> None:
    advice = next(
        advice
        for advice in advice_of(run(program.define, program.compile, program.calls))
        if advice.kind == "dynamic"
    )
    assert advice.code == code
    assert ("Add dynamic=True to its torch.compile." in advice.what) == (not code)


def test_a_new_name_is_none_that_the_call_uses() -> None:
    ran = run(
        SIZES.define,
        "",
        "def main(x):\n    for n in (8, 4):\n        x(torch.ones(n, 3))\n"
        "main(torch.compile(f, backend='eager'))",
    )
    assert advice_of(ran)[0].code == (
        "x_ = torch.ones(n, 3)\ntorch._dynamo.mark_dynamic(x_, 0)\nx(x_)"
    )


def test_two_sizes_that_are_not_equal_any_more_are_said_in_words() -> None:
    ran = run(DUCK.define, DUCK.compile, DUCK.calls)
    (suggestion,) = suggestions_of(ran)
    assert suggestion.what == "Avoid recompile 0/1: x.size(1) the same as x.size(0) → 4"
    assert suggestion.place.startswith("before the first call")
    (advice,) = advice_of(ran)
    assert advice.where is None
    recompile = ran.compilations[-1].recompile
    assert recompile is not None
    assert deviations.failure(recompile.failures[0]) == (
        "size 1 of x was the same as x.size(0) and is 4"
    )


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
    assert deviations.failure(failure) == "n was 3 and is 4"
    stack = msgspec.structs.replace(failure, source="L['___stack0']", kind="dtype")
    assert deviations.failure(stack) == (
        "the dtype of a value that was on the stack at the graph break was 3 and is 4"
    )


def test_sizes_are_not_marked_where_a_number_changed_too() -> None:
    ran = run(PAIR_AND_NUMBER.define, PAIR_AND_NUMBER.compile, PAIR_AND_NUMBER.calls)
    assert [suggestion.kind for suggestion in advice_of(ran)] == ["dynamic"]


def test_a_number_is_no_tensor_where_a_size_changed_too() -> None:
    ran = run(SIZE_AND_NUMBER.define, SIZE_AND_NUMBER.compile, SIZE_AND_NUMBER.calls)
    assert [suggestion.kind for suggestion in advice_of(ran)] == ["dynamic"]


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (TO_RANK, "Avoid recompile 0/2: x.dim() 1 → 2"),
        (TO_ONE_UNNAMED, "Avoid recompile 0/2: xs[0].size(0) at least 2 → 1"),
    ],
)
def test_a_recompile_that_stays_is_not_promised(program: Program, what: str) -> None:
    first, second = suggestions_of(run(program.define, program.compile, program.calls))
    assert first.what.startswith("Avoid recompile 0/1: x")
    assert (second.what, second.gain) == (what, "")
    assert "set_stance" in second.code


def test_what_became_dynamic_is_said_once() -> None:
    ran = run(SIZES.define, SIZES.compile, SIZES.calls)
    (recompiled,) = [
        compilation.recompile for compilation in ran.compilations if compilation.recompile
    ]
    (became,) = recompiled.became_dynamic
    assert became.startswith("L['x'].size()[0] → s")


def test_a_frame_that_was_given_up_counts_what_was_compiled() -> None:
    ran = run(LIMIT.define, LIMIT.compile, LIMIT.calls)
    last = ran.compilations[-1].recompile
    assert last is not None
    assert (last.count, last.limit) == (8, 8)
    assert last.advice[-1].kind == "limit"
