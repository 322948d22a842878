"""The avoidable compile time of a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.lost_time import CompileSeconds, lost_time
from compilescope.readers.trace_summary import summary_of
from compilescope.report import (
    Break,
    Compilation,
    DistinctBreak,
    Recompile,
    RecompileCause,
    VariantReport,
)
from compilescope.report.compilation.artifacts import CacheEvent
from compilescope.report.problem import Problem
from compilescope.report.variant import Variant

from .written_logs import record


def bypassed(*caches: str) -> list[CacheEvent]:
    return [CacheEvent(cache=cache, outcome="bypass", detail="it cannot be") for cache in caches]


def test_each_second_is_counted_under_one_cause() -> None:
    fx, both = bypassed("FX graph"), bypassed("AOTAutograd", "FX graph", "FX graph")
    recompile = Recompile(reasons=["size mismatch"])
    cause = Break(reason="print", duration_us=7e5)
    variant = VariantReport(
        name="python",
        requested=Variant(),
        compilations=[
            Compilation(id="0/0", duration_s=4.0, cache=both),
            Compilation(id="0/1", duration_s=5.0, cache=fx, recompile=recompile),
            Compilation(id="1/0", duration_s=2.0, breaks=[cause]),
            Compilation(id="1/1", duration_s=3.0, breaks=[cause], recompile=recompile),
            Compilation(id="1/2", duration_s=2.5, breaks=[cause]),
            Compilation(id="2/0", duration_s=6.0),
            Compilation(id="3/0", duration_s=1.0),
        ],
        breaks=[DistinctBreak(cause=cause, count=3, after=["2/0"])],
        problems=[Problem(severity="error", what="it failed", facts={"compilation": "1/2"})],
    )
    spent = {
        compilation.id: CompileSeconds(inductor_s=1.5) for compilation in variant.compilations[:6]
    }
    for restarted in ("1/2", "2/0"):
        spent[restarted].restarted_s = 0.5
    lost = [
        (loss.kind, loss.seconds, loss.compilations)
        for loss in lost_time([variant], {"python": spent})
    ]
    assert lost == [
        ("recompiles", 8.0, ["0/1", "1/1"]),
        ("failure", 2.5, ["1/2"]),
        ("cache bypass", 1.5, ["0/0"]),
        ("graph break", 0.7, ["1/0"]),
        ("restarts", 0.5, ["2/0"]),
    ]


def test_a_normal_recompile_is_not_avoidable_and_a_break_without_time_is_listed() -> None:
    grad_mode = Recompile(reasons=["0/1: GLOBAL_STATE changed: grad_mode"])
    size = Recompile(
        reasons=["0/0: tensor 'x' size mismatch at index 0. expected 8, actual 6"],
        causes=[RecompileCause(subject="x.size(0)", text="x.size(0): 8 → 6", was="8", now="6")],
    )
    cause = Break(reason="Data-dependent branching")
    variant = VariantReport(
        name="python",
        requested=Variant(),
        compilations=[
            Compilation(id="0/0", duration_s=3.0, breaks=[cause]),
            Compilation(id="0/1", duration_s=2.0, recompile=size),
            Compilation(id="0/2", duration_s=1.0, recompile=grad_mode),
        ],
        breaks=[DistinctBreak(cause=cause)],
    )
    recompiles, graph_break = lost_time([variant], {})
    assert (recompiles.seconds, recompiles.compilations) == (2.0, ["0/1"])
    assert "mark_dynamic" in recompiles.remedy
    assert (graph_break.what, graph_break.seconds) == ("a graph break: Data-dependent branching", 0)


PRINT = "Failed to trace builtin operator"
TENSORIFY = "<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>"
CONSTANT = "a float that Dynamo had made an input of the graph had to become a constant"


@pytest.mark.parametrize(
    ("reasons", "kinds", "why"),
    [
        # torch counts all time of a frame without a graph as time before a restart.
        ([], [], ""),
        ([TENSORIFY], ["restarts"], CONSTANT),
        (["no sizes\n  Hint: none"], ["restarts"], "no sizes"),
        ([PRINT], ["graph break"], ""),
        ([PRINT, TENSORIFY], ["graph break", "restarts"], CONSTANT),
    ],
)
def test_restarts_have_torchs_reason(
    tmp_path: Path, reasons: list[str], kinds: list[str], why: str
) -> None:
    ids = {"frame_id": 0, "frame_compile_id": 0}
    metrics = {"dynamo_time_before_restart_s": 9.0, "restart_reasons": reasons}
    log = record("dynamo_start", detail={"stack": []}, attempt=0, **ids)
    if PRINT in reasons:
        log += record(
            "artifact",
            f"Graph Break Reason: {PRINT}\n",
            {"name": "dynamo_graph_break_reason", "encoding": "string"},
            attempt=0,
            **ids,
        ).replace(b"37.300000", b"39.300000")
    log += record("compilation_metrics", detail=metrics, attempt=1, **ids)
    (tmp_path / "one.log").write_bytes(log)
    with Trace(tmp_path / "one.log") as trace:
        lost = sorted(summary_of(trace).fix_first, key=lambda loss: loss.kind)
    assert [loss.kind for loss in lost] == kinds
    if why:
        assert lost[-1].why == why
        assert bool(lost[-1].remedy) == (why == CONSTANT)
        assert lost[-1].seconds == (7.0 if PRINT in reasons else 9.0)


@pytest.mark.parametrize(
    ("causes", "why"),
    [
        (["x: 7 → 1", "x: 7 → 1"], "x: 7 → 1"),
        (["x: 7 → 1", "k: 7 → 8"], "x: 7 → 1; k: 7 → 8"),
        (["x: 7 → 1", ""], "x: 7 → 1; unknown"),
        (["", ""], ""),
        ([f"n: {n}" for n in range(8)], "n: 0; n: 1; n: 2; 5 more"),
    ],
)
def test_recompiles_of_a_function_name_each_cause(causes: list[str], why: str) -> None:
    variant = VariantReport(
        name="python",
        requested=Variant(),
        compilations=[
            Compilation(
                id=f"0/{number}",
                duration_s=1.0,
                recompile=Recompile(
                    reasons=[cause],
                    causes=[RecompileCause(subject=cause, text=cause)] if cause else [],
                ),
            )
            for number, cause in enumerate(causes, 1)
        ],
    )
    (loss,) = lost_time([variant], {})
    assert loss.why == why
