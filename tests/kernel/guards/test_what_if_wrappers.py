"""What if: wrappers, backends, stances and frames that torch skips, against what torch then does.

``python -m tests.kernel.guards.test_what_if_wrappers 2000`` tries as many random cases.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

import compilescope as cs
import pytest
import torch
from torch._dynamo import convert_frame

from ..what_if_subjects import X, times

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def backend() -> Any:
    def compile_nothing(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        return graph.forward

    return compile_nothing


def test_another_backend_compiles_again():
    first = torch.compile(times, backend=backend())
    second = torch.compile(times, backend=backend())
    first(X, 2)
    assert cs.what_if(first, X, 2).verdict == "reuse"
    assert cs.what_if(second, X, 2).verdict == "recompile"


def test_a_frame_whose_trace_was_empty_is_not_promised_a_compilation():
    def nothing(x: Any, on: bool) -> Any:
        return x.sin() if on else x

    compiled = torch.compile(nothing, backend="eager")
    compiled(X, False)
    answer = cs.what_if(compiled, X, True)
    assert answer.verdict == "unknown"
    assert "may run in eager" in answer.why


def test_a_frame_that_was_skipped_later_is_not_promised_its_compilation():
    def nothing(x: Any, on: bool) -> Any:
        return x.sin() if on else x

    compiled = torch.compile(nothing, backend="eager")
    compiled(X, True)
    assert cs.what_if(compiled, X, True).verdict == "reuse"
    compiled(X, False)
    assert cs.what_if(compiled, X, True).verdict == "unknown"


def test_a_librarys_module_that_is_compiled_in_place_is_not_promised_a_compilation():
    wrapped = torch.compile(torch.nn.Linear(8, 8), backend="eager")
    assert cs.what_if(wrapped, X).verdict == "recompile"
    module = torch.nn.Linear(8, 8)
    module.compile(backend="eager")
    before = attempts()
    answer = cs.what_if(module, X)
    module(X)
    assert attempts() == before
    assert answer.verdict == "eager"
    assert "a module of torch's own" in answer.why


class Users(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.sin()


def users(x: Any) -> Any:
    return x.cos()


def test_a_librarys_module_that_runs_code_of_the_users_is_not_promised_eager():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 8, activation=users, batch_first=True)
    hooked = torch.nn.Linear(8, 8)
    hooked.register_forward_hook(lambda module, args, output: output.sin())
    inner = torch.nn.Linear(8, 8)
    inner.compile(backend="eager")
    for module, verdict in (
        (torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()), "eager"),
        (torch.nn.Sequential(torch.nn.Linear(8, 8), Users()), "unknown"),
        (torch.nn.Sequential(inner), "eager"),
        (hooked, "unknown"),
        (layer, "unknown"),
    ):
        module.compile(backend="eager")
        x = torch.randn(2, 4, 8)
        assert cs.what_if(module, x).verdict == verdict
        before = attempts()
        module(x)
        assert verdict == "unknown" or attempts() == before


@pytest.mark.parametrize("stance", ["force_eager", "fail_on_recompile", "eager_on_recompile"])
def test_a_stance_counts(stance):
    compiled = torch.compile(times, backend="eager")
    compiled(X, 2)
    with torch.compiler.set_stance(stance):
        same, other = cs.what_if(compiled, X, 2), cs.what_if(compiled, X, 3)
    assert same.verdict == ("eager" if stance == "force_eager" else "reuse")
    assert other.verdict == ("error" if stance == "fail_on_recompile" else "eager")
    assert stance in other.why


SOURCES = {
    "shape": "x.sin() if x.shape[0] > 3 else x.cos()",
    "value": "x * k",
    "flag": "x.sin() if k > 2 else x.cos()",
    "global": "x + GLOBAL",
    "attribute": "x + thing.size",
    "key": "x + named.get('a', 7)",
    "grad": "x.sin() if torch.is_grad_enabled() else x.cos()",
    "empty": "x.sin() if k > 2 else x",
    "empty by shape": "x if x.shape[0] > 3 else x.cos()",
    "no tensor": "k + 1",
}
STANCES = ["default"] * 6 + ["force_eager", "eager_on_recompile", "fail_on_recompile"]


KINDS = ["function"] * 4 + ["module", "in place", "library's", "library's in place"]
"""What is compiled: a function; a module of the user's or of torch's, wrapped or by `compile`."""


class _Thing:
    size = 1


def _callable(kind: str, subject: Any, options: dict[str, Any]) -> Any:
    if kind == "function":
        return torch.compile(subject, **options)

    class Module(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return subject(*args)

    module = torch.nn.Linear(2, 3) if "library" in kind else Module()
    if "in place" not in kind:
        return torch.compile(module, **options)
    module.compile(**options)
    return module


predictions: Counter[str] = Counter()
"""What was predicted, how often."""


def attempts() -> int:
    """How often Dynamo has begun to compile a frame."""
    return sum(convert_frame.FRAME_COMPILE_COUNTER.values())


def wrong(seed: int) -> str:
    """Makes a random function, calls it at random; says where a prediction was wrong."""
    torch._dynamo.reset()
    draw = random.Random(seed)
    parts = draw.sample(sorted(SOURCES), draw.choice([1, 1, 2]))
    lines = [f"    x{n} = {SOURCES[part]}" for n, part in enumerate(parts)]
    text = "\n".join(["def subject(x, k, thing, named):", *lines, "    return x0"])
    namespace: dict[str, Any] = {"torch": torch, "GLOBAL": 1}
    exec(text, namespace)
    runs: list[int] = []

    def counting() -> Any:
        def compile_counted(graph: torch.fx.GraphModule, inputs: Any) -> Any:
            def run(*args: Any) -> Any:
                runs.append(1)
                return graph.forward(*args)

            return run

        return compile_counted

    shared = counting()
    dynamic = draw.choice([None, None, True, False])
    kind = draw.choice(KINDS)
    wrappers = [
        _callable(
            kind,
            namespace["subject"],
            {"backend": draw.choice([shared, shared, counting()]), "dynamic": dynamic},
        )
        for _ in range(draw.choice([1, 2, 3]))
    ]
    for _ in range(draw.randint(2, 6)):
        fn = draw.choice(wrappers)
        thing = _Thing()
        thing.size = draw.choice([1, 2])
        namespace["GLOBAL"] = draw.choice([1, 1, 2])
        named = {draw.choice("ab"): draw.choice([1, 2])}
        args = (torch.ones(draw.choice([2, 4, 5]), 2), draw.choice([1, 2, 3]), thing, named)
        args = args[:1] if "library" in kind else args
        stance = draw.choice(STANCES)
        with torch.set_grad_enabled(draw.random() < 0.7), torch.compiler.set_stance(stance):
            answer = cs.what_if(fn, *args)
            runs.clear()
            before, failed = attempts(), False
            try:
                fn(*args)
            except RuntimeError as error:
                failed = "fail_on_recompile" in str(error)
                if not failed:
                    raise
        predictions[answer.verdict] += 1
        # An attempt counts: its trace may turn out to be empty.
        did = "recompile" if attempts() > before else "reuse" if runs else "eager"
        did = "error" if failed else did
        expected = {"limit": "eager"}.get(answer.verdict, answer.verdict)
        if expected not in ("unknown", did):
            return f"seed {seed}, {kind}: said {answer.verdict}, torch did {did}\n{text}\n{answer}"
    return ""


def test_random_calls_are_predicted_or_not_at_all():
    assert [text for text in map(wrong, range(40)) if text] == []


if __name__ == "__main__":
    failures = [text for text in map(wrong, range(int(sys.argv[1]))) if text]
    print("\n\n".join(failures[:5]))
    print(f"{len(failures)} of {sys.argv[1]} wrong; predictions: {dict(predictions)}")
