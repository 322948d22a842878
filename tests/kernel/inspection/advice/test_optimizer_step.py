"""Advice on the step of an optimizer in compiled code: inside and outside exclude each other."""

from __future__ import annotations

import pytest

from .recompiling_programs import SCHEDULED, run

pytestmark = pytest.mark.usefixtures("settings_kept")

INSIDE = SCHEDULED._replace(
    define=f"{SCHEDULED.define}\ndef train():\n    optimizer.step()",
    compile="compiled = torch.compile(train, backend='aot_eager')",
)


def test_a_scheduled_step_is_compiled_behind_its_break_and_not_outside() -> None:
    ran = run(INSIDE.define, INSIDE.compile, INSIDE.calls)
    (skipped,) = [
        graph_break
        for compilation in ran.compilations
        for graph_break in compilation.breaks
        if "SGD.step" in graph_break.context
    ]
    assert skipped.context.startswith("module: torch.optim.sgd, qualname: SGD.step, ")
    frames = [compilation.frame for compilation in ran.compilations if compilation.recompile]
    assert {frame and frame.function for frame in frames} == {"step"}
    outside = run(
        INSIDE.define, INSIDE.compile, INSIDE.calls.replace("compiled()", "optimizer.step()")
    )
    assert outside.compilations == []
