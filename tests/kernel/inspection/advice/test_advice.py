"""Each piece of advice removes the recompile that it is given for: applied, and counted."""

from __future__ import annotations

import pytest
from compilescope.report import Advice

from .recompiling_programs import (
    CACHE,
    COUNTER,
    DECORATED,
    DIVIDED,
    DTYPE,
    DUCK,
    EVALUATED,
    FIELD,
    FLOAT,
    GLOBAL,
    GRADIENT,
    GROWN,
    INDEXED,
    INTEGER,
    KEYWORD,
    LENGTH,
    LIMIT,
    METHOD,
    MODE,
    NAMED,
    NO_GRADIENT,
    OPTIMIZER,
    PAIR,
    PAIR_AND_NUMBER,
    PAIR_OF_SINGLES,
    POWER,
    PROMPT,
    ROWS,
    SINGLE,
    SINGLE_AT_LAST,
    SINGLES,
    SIZE_AND_NUMBER,
    SIZE_AND_SINGLE,
    SIZES,
    SLICED,
    SPECIALIZED,
    STRIDE,
    TEXT,
    TO_ONE,
    TO_ONE_UNNAMED,
    TO_RANK,
    TRANSPOSED,
    TRANSPOSED_CACHE,
    TYPE,
    TYPE_AND_VALUE,
    WRAPPED,
    Program,
    Ran,
    advice_of,
    run,
    suggestions_of,
)

pytestmark = pytest.mark.usefixtures("settings_kept")

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
    (SLICED, "mark_dynamic", "x = data[:n]\ntorch._dynamo.mark_dynamic(x, 0)\ncompiled(x)"),
    (INDEXED, "mark_dynamic", "x = data[n]\ntorch._dynamo.mark_dynamic(x, 0)\ncompiled(x)"),
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
    (
        PAIR_OF_SINGLES,
        "mark_unbacked",
        (
            "torch._dynamo.decorators.mark_unbacked(x, 0)\n"
            "torch._dynamo.decorators.mark_unbacked(y, 0)"
        ),
    ),
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
    (POWER, "tensor", "s = torch.tensor(s)"),
    (ROWS, "dynamic", DYNAMIC),
    (DIVIDED, "dynamic", DYNAMIC),
    (TYPE, "tensor", "n = torch.tensor(float(n))"),
    (TYPE_AND_VALUE, "tensor", "n = torch.tensor(float(n))"),
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
    (TRANSPOSED, "contiguous", "x = batch.T.contiguous()\ncompiled(x)"),
    (DTYPE, "dtype", "x = x.to(torch.float32)"),
    (NO_GRADIENT, "requires_grad", "x = x.detach()"),
    (GRADIENT, "requires_grad", "x = x.requires_grad_()"),
    (MODE, "grad_mode", "with torch.enable_grad():\n    compiled(torch.ones(4))"),
    (EVALUATED, "hoist", "h = eval('lambda v: v + 1')\ncompiled(torch.ones(4), h)"),
    (LENGTH, "stance", 'torch.compiler.set_stance("eager_on_recompile")'),
    (TEXT, "stance", 'torch.compiler.set_stance("eager_on_recompile")'),
    (LIMIT, "limit", "torch._dynamo.config.recompile_limit = 16"),
]


def applied(program: Program, advice: Advice, line: str) -> Ran:
    """What the program with the advice applied at ``line`` compiles."""
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
    for statement in calls.split("\n"):
        if statement.strip() == line:
            indent = statement[: len(statement) - len(statement.lstrip())]
            results += [indent + part for part in code.split("\n")]
        else:
            results.append(statement)
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


def test_a_loops_variable_is_to_be_passed() -> None:
    compiled = "compiled = torch.compile(f, backend='eager')"
    ran = run(
        "def f(x):\n    return x + i", compiled, "for i in range(3):\n    compiled(torch.ones(3))"
    )
    (advice, *_) = advice_of(ran)
    assert advice.code == ""
    assert "Give the function a parameter for it, and pass torch.tensor(i)" in advice.what
    (suggestion,) = suggestions_of(ran)
    assert suggestion.place == ""
    advised = run(
        "def f(x, i):\n    return x + i",
        compiled,
        "for i in range(3):\n    compiled(torch.ones(3), torch.tensor(i))",
    )
    assert (ran.recompiles, advised.recompiles) == (2, 0)


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


def test_what_is_missing_at_the_first_call_is_marked_once_it_exists() -> None:
    before = run(CACHE.define, CACHE.compile, CACHE.calls)
    assert before.recompiles == 2
    advice = next(advice for advice in advice_of(before) if advice.kind == "mark_dynamic")
    assert advice.code == ""
    assert advice.what == (
        "Mark size 0 of cache.k[0] as dynamic: call torch._dynamo.mark_dynamic(tensor, dimension) "
        "before each call, on those that exist. At the first compilation they did not all exist "
        "yet."
    )
    call = "    compiled("
    mark = "    for k in cache.k:\n        torch._dynamo.mark_dynamic(k, 0)\n"
    after = run(CACHE.define, CACHE.compile, CACHE.calls.replace(call, mark + call))
    assert after.recompiles == 1


@pytest.mark.parametrize(
    ("program", "others"),
    [
        (PROMPT, "Other guards of 0/0 fail too: len(cache.k): 0 → 1."),
        (TRANSPOSED_CACHE, "Other guards of 0/0 fail too: cache.k[0].stride("),
        # dynamic=True makes no symbol of a size of 1.
        (SINGLES, "Other guards of 0/0 fail too: y.size(0): 1 → 5, z.size(0): 1 → 5."),
        (SIZE_AND_SINGLE, "Other guards of 0/0 fail too: y.size(0): 1 → 5, z.size(0): 1 → 5."),
        (SINGLE_AT_LAST, "Other guards of 0/0 fail too: y.size(0): at least 2 → 1."),
    ],
)
def test_nothing_is_saved_where_other_guards_fail_too(program: Program, others: str) -> None:
    ran = run(program.define, program.compile, program.calls)
    (suggestion, *_) = suggestions_of(ran)
    assert suggestion.what.startswith("Avoid recompile 0/1 (")
    assert suggestion.why.startswith(others)
    assert (suggestion.code, suggestion.gain) == ("", "")


def test_tensors_that_grow_together_are_marked_together() -> None:
    ran = run(GROWN.define, GROWN.compile, GROWN.calls)
    # At the first call both are one tensor, which has guards under one name.
    first, again = suggestions_of(ran)
    marks = [f"torch._dynamo.decorators.mark_unbacked({name}, 0)" for name in "kv"]
    assert first.code == "\n".join(marks)
    assert again.what == "No change needed for recompile 0/2 (k.size(0): 1 → 2)"
    assert again.why == (
        "k.size(0), v.size(0) are symbols in the new compilation, which serves later sizes too "
        "without a recompile; nothing to change."
    )
    call = "    k, v = compiled("
    marked = "".join(f"    {mark}\n" for mark in marks)
    after = run(GROWN.define, GROWN.compile, GROWN.calls.replace(call, marked + call))
    assert after.recompiles == ran.recompiles - 1
    only_one = run(
        GROWN.define, GROWN.compile, GROWN.calls.replace(call, f"    {marks[0]}\n{call}")
    )
    assert only_one.recompiles == ran.recompiles


def test_sizes_are_not_marked_where_a_number_changed_too() -> None:
    ran = run(PAIR_AND_NUMBER.define, PAIR_AND_NUMBER.compile, PAIR_AND_NUMBER.calls)
    assert [suggestion.kind for suggestion in advice_of(ran)] == ["dynamic"]


def test_a_number_is_no_tensor_where_a_size_changed_too() -> None:
    ran = run(SIZE_AND_NUMBER.define, SIZE_AND_NUMBER.compile, SIZE_AND_NUMBER.calls)
    assert [suggestion.kind for suggestion in advice_of(ran)] == ["dynamic"]


def test_a_recompile_that_stays_is_not_promised() -> None:
    first, second = suggestions_of(run(TO_RANK.define, TO_RANK.compile, TO_RANK.calls))
    assert first.what.startswith("Avoid recompile 0/1 (x")
    assert (second.what, second.gain) == ("Avoid recompile 0/2 (x.dim(): 1 → 2)", "")
    assert "set_stance" in second.code


def test_a_size_of_one_is_marked_although_its_tensor_has_no_name_at_the_call() -> None:
    define, calls, compile_ = TO_ONE_UNNAMED
    before = run(define, compile_, calls)
    (advice,) = [advice for advice in advice_of(before) if advice.kind == "mark_unbacked"]
    assert advice.code == ""
    assert advice.what == (
        "Size 0 of xs[0] becomes one symbol that includes 0 and 1. Code that branches on it no "
        "longer compiles. Call torch._dynamo.decorators.mark_unbacked(tensor, dimension) before "
        "each call."
    )
    mark = "torch._dynamo.decorators.mark_unbacked(xs[0], 0)"
    after = run(define, compile_, calls.replace("compiled(", f"{mark}\n    compiled("))
    assert (len(after.compilations), after.recompiles) == (1, 0)


@pytest.mark.parametrize("program", [TYPE, TYPE_AND_VALUE])
def test_a_number_of_two_types_has_one_advice(program: Program) -> None:
    ran = run(program.define, program.compile, program.calls)
    assert ran.recompiles > 0
    tensors = {advice.code for advice in advice_of(ran) if advice.kind == "tensor"}
    assert tensors == {"n = torch.tensor(float(n))"}
    (suggestion,) = suggestions_of(ran)
    assert suggestion.code == "n = torch.tensor(float(n))"
    assert "its value is not guarded" in suggestion.why
