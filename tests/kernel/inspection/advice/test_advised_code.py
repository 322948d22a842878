"""The code that is advised against a recompile: its names, what it keeps, and its place."""

from __future__ import annotations

import msgspec
import pytest
from compilescope.analysis.guards.advice.code_advice import advise
from compilescope.analysis.guards.frames import Caller
from compilescope.report import Compilation, Failure, Recompile, SourceLine

from .recompiling_programs import (
    COUNTER_THEN_SCALE,
    COUNTER_TO_LIMIT,
    EXCHANGED,
    KEYS,
    LAID_OUT,
    LAID_OUT_AT_LIMIT,
    LENGTH,
    NUMBER_THEN_TEXT,
    SIZES,
    TEXT,
    TWO_BACKENDS,
    Program,
    Ran,
    advice_of,
    run,
    suggestions_of,
)

pytestmark = pytest.mark.usefixtures("settings_kept")

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
COMPILED_AGAIN = Program(
    "def f(x):\n    return x @ torch.ones(4, 2)",
    "for n in (4, 5):\n    x = torch.ones(n, 4)\n    compiled(x)",
    "compiled = torch.compile(f, backend='eager')\n"
    "compiled = globals()['torch'].compile(f, backend='eager', dynamic=True)",
)
"""The second torch.compile is not recognizable as such in the source."""
FRAME = SourceLine(file="<missing>", line=1, function="f")
CALLER = Caller(SourceLine(file="<missing>", line=3, function="main", code="f(x)"))
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
    ran = run(program.define, program.compile, program.calls)
    advice = next(advice for advice in advice_of(ran) if advice.kind == "dynamic")
    assert advice.code == code
    assert advice.where is not None
    assert "torch.compile(" in ran.text.splitlines()[advice.where.line - 1]
    assert ("Add dynamic=True to its torch.compile." in advice.what) == (not code)


def test_dynamic_is_not_advised_where_it_is_in_force() -> None:
    define, calls, compile_ = COMPILED_AGAIN
    before = run(define, compile_, calls)
    (advice,) = advice_of(before)
    assert (advice.kind, advice.code) == ("mark_dynamic", "torch._dynamo.mark_dynamic(x, 0)")
    after = run(define, compile_, calls.replace("    compiled", f"    {advice.code}\n    compiled"))
    assert (len(after.compilations), after.recompiles) == (1, 0)


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


def test_calls_that_recompile_run_in_eager_only_after_the_compiled_ones() -> None:
    ran = run(LENGTH.define, LENGTH.compile, LENGTH.calls)
    (advice,) = advice_of(ran)
    # The call is in a loop: before it, nothing would ever be compiled.
    assert (advice.kind, advice.where) == ("stance", None)
    assert "after the calls that should be compiled, outside of compiled functions" in advice.what
    assert "run in eager instead, each time: useful only if they are rare" in advice.what
    (suggestion,) = suggestions_of(ran)
    assert suggestion.place.startswith("after the calls that should be compiled")
    assert (suggestion.gain, suggestion.basis) == ("", "unknown")


def test_at_the_limit_too_a_module_is_named_as_at_its_call() -> None:
    ran = run(COUNTER_TO_LIMIT.define, COUNTER_TO_LIMIT.compile, COUNTER_TO_LIMIT.calls)
    assert ran.recompiles == 8
    codes = {advice.code for advice in advice_of(ran) if advice.kind == "tensor"}
    assert codes == {"net_compiled.calls = torch.tensor(net_compiled.calls)"}
    (suggestion,) = suggestions_of(ran)
    assert suggestion.what == "Avoid 7 recompiles and the fallback to eager (s.calls: 0 → 1, …)"
    assert suggestion.code in codes


def test_at_the_limit_the_value_that_led_to_it_is_to_change() -> None:
    define, calls, compile_ = COUNTER_THEN_SCALE
    before = run(define, compile_, calls)
    (suggestion,) = suggestions_of(before)
    assert suggestion.what == (
        "Avoid 7 recompiles and the fallback to eager (self.calls: 0 → 1, …)"
    )
    assert suggestion.code == "net_compiled.calls = torch.tensor(net_compiled.calls)"
    # Where the call is unknown, what it passes as a keyword has no name.
    assert not [advice for advice in advice_of(before) if "options" in advice.code]
    after = run(define, f"{compile_}\n{suggestion.code}", calls)
    assert [compilation.id for compilation in after.compilations] == ["0/0", "0/1"]


def test_what_the_call_passes_as_a_keyword_is_named_as_there() -> None:
    define, calls, _ = COUNTER_THEN_SCALE
    fixed = define.replace("self.calls += 1", "")
    ran = run(fixed, COUNTER_THEN_SCALE.compile, calls)
    (suggestion,) = suggestions_of(ran)
    assert suggestion.code == (
        "options_scale = torch.tensor(1.0 + step // 8)\n"
        "net_compiled(torch.ones(3), scale=options_scale)"
    )
    after = run(
        fixed,
        COUNTER_THEN_SCALE.compile,
        calls.replace("1.0 + step // 8", "torch.tensor(1.0 + step // 8)"),
    )
    assert (len(after.compilations), after.recompiles) == (1, 0)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (TEXT, ["Avoid recompile 0/1 (mode: 'sin' → 'cos')"]),
        # Each has another cause.
        (KEYS, ["Avoid 3 recompiles"]),
        (
            TWO_BACKENDS,
            [
                "No change needed for recompile 0/1 (k: True → False)",
                "No change needed for recompile 0/2 (backend: eager → <lambda>)",
            ],
        ),
        # The guard on the number failed for the second time.
        (
            NUMBER_THEN_TEXT,
            [
                "Avoid recompile 0/1 (n: 2 → 3)",
                "Avoid recompile 0/2 (mode: 'sin' → 'cos')",
            ],
        ),
    ],
)
def test_a_title_names_the_causes_of_all_its_recompiles_or_none(
    program: Program, what: list[str]
) -> None:
    suggestions = suggestions_of(run(program.define, program.compile, program.calls))
    assert [suggestion.what for suggestion in suggestions] == what


def test_the_compilation_that_differs_least_shows_what_to_change() -> None:
    before = run(LAID_OUT.define, LAID_OUT.compile, LAID_OUT.calls)
    recompile = before.compilations[-1].recompile
    assert recompile is not None
    assert (recompile.cause, recompile.previous) == ("x.stride(0): 3 → 1", "0/0")
    assert {
        suggestion.what: suggestion.code.splitlines()[0] for suggestion in suggestions_of(before)
    } == {
        "Avoid recompile 0/1 (x.requires_grad: False → True)": "x = x.detach()",
        "Avoid recompile 0/2 (x.stride(0): 3 → 1)": "x = x.contiguous()",
    }
    contiguous = LAID_OUT.calls.replace("compiled(x)", "compiled(x.contiguous())")
    after = run(LAID_OUT.define, LAID_OUT.compile, contiguous)
    assert [compilation.id for compilation in after.compilations] == ["0/0", "0/1"]


def test_an_object_of_the_same_type_differs_less_than_one_of_another() -> None:
    ran = run(EXCHANGED.define, EXCHANGED.compile, EXCHANGED.calls)
    recompile = ran.compilations[-1].recompile
    assert recompile is not None
    assert recompile.previous == "0/1"
    assert recompile.cause.endswith(": 4 → 8")


def test_at_the_limit_a_tensor_is_not_detached_that_needs_no_gradient() -> None:
    ran = run(LAID_OUT_AT_LIMIT.define, LAID_OUT_AT_LIMIT.compile, LAID_OUT_AT_LIMIT.calls)
    (detached,) = [advice for advice in suggestions_of(ran) if "detach()" in advice.code]
    assert detached.what == "Avoid recompile 0/1 (x.requires_grad: False → True)"


def test_another_layout_is_said_beside_a_gradient() -> None:
    first, _, last = LAID_OUT.calls.partition("torch.ones(4, 3, requires_grad=True), ")
    both = f"{first}{last.replace('t())', 't().requires_grad_())')}"
    (suggestion,) = suggestions_of(run(LAID_OUT.define, LAID_OUT.compile, both))
    assert suggestion.why.startswith("Other guards of 0/0 fail too: x.stride(0): 3 → 1")


def test_the_call_that_was_compiled_first_may_be_on_the_same_line() -> None:
    calls = "compiled(torch.ones(4, 3)); compiled(torch.ones(5, 3))"
    (suggestion,) = suggestions_of(run(SIZES.define, SIZES.compile, calls))
    assert suggestion.code.startswith("x = torch.ones(4, 3)\n")
    marked = calls.replace("compiled(torch.ones(4, 3))", suggestion.code.replace("\n", "; "))
    assert run(SIZES.define, SIZES.compile, marked).recompiles == 0


def test_code_in_a_parameters_name_says_that_it_belongs_before_the_call() -> None:
    size = Failure(guard="", source="L['x']", kind="size", dimension=0, old="4", new="5")
    single = msgspec.structs.replace(size, old="1")
    stride = msgspec.structs.replace(size, kind="stride")
    ending = (
        " Put it before the call, on what is passed for x: inside the function it does not help."
    )
    for failure in (size, single, stride):
        first, *_ = advise([("", failure)], frame=FRAME, caller=None, settings={})
        assert "x" in first.code
        assert first.what.endswith(ending)
        known, *_ = advise([("", failure)], frame=FRAME, caller=CALLER, settings={})
        assert ending not in known.what
        compilation = Compilation(
            id="0/1", recompile=Recompile(reasons=[], failures=[failure], advice=[first])
        )
        (suggestion,) = suggestions_of(Ran([compilation], ""))
        assert suggestion.place == "before the call"


def test_a_function_in_c_that_calls_the_compiled_one_is_not_the_call() -> None:
    calls = "list(map(compiled, [torch.ones(4, 3), torch.ones(5, 3)]))"
    mark, *_ = advice_of(run(SIZES.define, SIZES.compile, calls))
    assert mark.code == "torch._dynamo.mark_dynamic(x, 0)"
    assert "on what is passed for x" in mark.what


def test_a_module_without_a_known_name_is_not_named() -> None:
    failure = Failure(guard="L['s'].n == 0", source="L['s'].n", kind="value", old="0", new="1")
    reason = "s.n == 0 (HINT: torch.compile considers integer attributes of the nn.Module …)"
    frame = SourceLine(file="<missing>", line=1, function="forward")
    for caller in (None, CALLER):
        advised = advise([(reason, failure)], frame=frame, caller=caller, settings={})
        assert [advice.kind for advice in advised] == ["module_int"]


def test_a_size_is_marked_before_the_call_that_was_compiled_first() -> None:
    calls = "a, b = torch.ones(4, 4), torch.ones({}, 4)\ncompiled(a)\ncompiled(b)"
    for size, mark in ((5, "torch._dynamo.mark_dynamic"), (1, "mark_unbacked")):
        program = run(SIZES.define, SIZES.compile, calls.format(size))
        (suggestion, *_) = suggestions_of(program)
        assert f"{mark}(a, 0)" in suggestion.code
        # A mark on b, which was not compiled first, would recompile all the same.
        marked = calls.format(size).replace("compiled(a)", f"{suggestion.code}\ncompiled(a)")
        assert suggestions_of(run(SIZES.define, SIZES.compile, marked)) == []


@pytest.mark.parametrize(
    ("old", "new", "mode"),
    [("True", "False", "enable_grad"), ("", "False", "enable_grad"), ("", "True", "no_grad")],
)
def test_calls_keep_the_grad_mode_of_the_first_compilation(old: str, new: str, mode: str) -> None:
    failure = Failure(guard="GLOBAL_STATE", kind="grad_mode", old=old, new=new)
    (advice,) = advise([("", failure)], frame=FRAME, caller=CALLER, settings={})
    assert advice.code == f"with torch.{mode}():\n    f(x)"


def test_no_grad_mode_is_advised_if_none_is_known() -> None:
    failure = Failure(guard="GLOBAL_STATE", kind="grad_mode")
    (advice,) = advise([("", failure)], frame=FRAME, caller=CALLER, settings={})
    assert advice.kind == "normal"
