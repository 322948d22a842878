"""What failed guards say, and what is said once."""

from __future__ import annotations

from typing import Any

import pytest
from compilescope.analysis.guards.reasons.recompile_words import add_causes, describe
from compilescope.report import Advice, Compilation, Failure, Recompile, SourceLine

FRAME = SourceLine(file="/home/me/model.py", line=2, function="step")
TORCHS = SourceLine(
    file="/usr/lib/python3/site-packages/torch/nn/modules/linear.py", line=134, function="forward"
)


def failure(**changed: Any) -> Failure:
    fields = {"guard": "g", "source": "L['x']", "compilation": "0/0", "old": "2", "new": "3"}
    return Failure(**(fields | changed))


def state(names: str, old: str, new: str) -> Failure:
    guard = f"GLOBAL_STATE changed: {names}"
    return failure(kind="global_state", source="", guard=guard, old=old, new=new)


def recompiled(*failures: Failure, frame: SourceLine | None = FRAME, **changed: Any) -> Recompile:
    recompile = Recompile(**({"reasons": [], "failures": list(failures)} | changed))
    add_causes(Compilation(id="0/1", frame=frame, recompile=recompile))
    return recompile


@pytest.mark.parametrize(
    ("failed", "text"),
    [
        (failure(kind="rank"), "x.dim(): 2 → 3"),
        (failure(kind="length"), "len(x): 2 → 3"),
        (
            failure(kind="type", old="<class 'float'>", new="<class '__main__.Scale'>"),
            "type(x): float → Scale",
        ),
        (
            failure(kind="identity", source="G['act']", old="<class 'A'> at 0x1f", new="None"),
            "id(act): A at 0x1f → None",
        ),
        (
            failure(kind="device", old="device index to be 0", new="1"),
            "x.device.index: 0 → 1",
        ),
        (
            failure(
                kind="dispatch_keys", old="DispatchKeySet(CPU, Python)", new="DispatchKeySet(CPU)"
            ),
            "dispatch keys of x: Python → no others",
        ),
        (
            failure(kind="keys", guard="list(dict.keys(L['x']))[0] == 'a'", old="'a'", new="'b'"),
            "list(dict.keys(x))[0]: 'a' → 'b'",
        ),
        (
            failure(kind="attribute", guard="not hasattr(L['x'], 'mask')", old="", new=""),
            "hasattr(x, 'mask'): False → True",
        ),
        (
            failure(kind="size", dimension=0, old="L['x'].size()[0] == 2*L['y'].size()[0]"),
            "x.size(0): x.size(0) == 2*y.size(0) → 3",
        ),
        (
            failure(kind="global_state", source="", guard="GLOBAL_STATE changed: num_threads"),
            "num_threads: 2 → 3",
        ),
        (state("default_dtype", "6", "7"), "default dtype: float32 → float64"),
        (state("autocast(cpu)_dtype", "15", "5"), "autocast dtype (cpu): bfloat16 → float16"),
        (
            state("grad_mode autocast(cuda)_enabled", "True, False", "False, True"),
            "grad mode: True → False; autocast (cuda): off → on",
        ),
        # A device whose place in torch's lists is not known.
        (state("autocast(xpu)_enabled", "", ""), "autocast (xpu) changed"),
        (
            failure(kind="size", dimension=0, source="L['___stack0']"),
            "size 0 of a value that was on the stack at the graph break: 2 → 3",
        ),
        (
            failure(kind="value", source="L['___stack0']"),
            "a value that was on the stack at the graph break: 2 → 3",
        ),
        (failure(kind="global", source="G['LR']", old=""), "LR: ? → 3"),
        (failure(kind="value", guard="L['x'] == y", old="", new=""), "x == y"),
        (failure(kind="other", guard="L['x'] is not G['y']"), "x is not y"),
    ],
)
def test_what_a_failed_guard_says(failed: Failure, text: str) -> None:
    assert describe(failed).text == text


def test_equal_failures_of_several_compilations_are_one_cause() -> None:
    first, second = recompiled(
        failure(kind="rank"),
        failure(kind="rank", compilation="0/1"),
        failure(kind="rank", compilation="0/1", new="4"),
    ).causes
    assert (first.compilations, second.compilations) == (["0/0", "0/1"], ["0/1"])
    assert (second.subject, second.was, second.now) == ("x.dim()", "2", "4")


def test_torchs_messages_are_read_where_nothing_else_is_known() -> None:
    size, value = recompiled(
        reasons=[
            "0/1: tensor 'x' size mismatch at index 0. expected 8, actual 12",
            "0/0: rate == 0.1    # return y * rate  # f.py:6 in step",
        ]
    ).causes
    assert (size.text, size.compilations) == ("x.size(0): 8 → 12", ["0/1"])
    assert value.text == "rate: 0.1 → ?"


@pytest.mark.parametrize(
    ("frame", "source", "where", "expected"),
    [
        (FRAME, "L['x']", TORCHS, FRAME),
        (None, "L['x']", TORCHS, TORCHS),
        (TORCHS, "L['x']", TORCHS, TORCHS),
        (FRAME, "G['LR']", TORCHS, TORCHS),
        (FRAME, "L['x']", None, None),
    ],
)
def test_an_argument_that_a_line_of_torchs_guards_is_the_frames(
    frame: SourceLine | None, source: str, where: SourceLine | None, expected: SourceLine | None
) -> None:
    (cause,) = recompiled(failure(source=source, where=where), frame=frame).causes
    assert cause.where == expected


@pytest.mark.parametrize(
    ("count", "advice", "text"),
    [
        (7, [], "compiled 7 of at most 8 times; new cases then run in eager"),
        (8, [], "compiled 8 times, torch's limit; new cases run in eager"),
        (
            3,
            [Advice(kind="limit", what="Allows more.")],
            "compiled 3 times, torch's limit; new cases run in eager",
        ),
        (None, [], ""),
    ],
)
def test_how_near_the_limit_is(count: int | None, advice: list[Advice], text: str) -> None:
    recompile = recompiled(count=count, limit=8, advice=advice)
    assert recompile.limit_text == text
    assert recompile.at_limit == ("torch's limit" in text)
    assert recompile.eager_fallback == bool(advice)
