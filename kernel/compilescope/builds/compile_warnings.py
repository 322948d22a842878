"""Warnings about successful compilations: nothing was compiled, or a limit was hit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..analysis.figures.wording import count
from ..analysis.problems.failed_records import RECOMPILE_LIMIT
from ..report import Compilation
from ..report.break_advice import advice_on, is_by_design
from ..report.problem import GENERATOR, Problem
from ..torch_api.trace.compiled_callable import skipped_class

_NOTHING = "torch.compile compiled nothing."
_CONSUME = "Inspect a function that consumes it, such as lambda x: list(f(x))."


def remarks(
    compilations: Sequence[Compilation],
    fn: Callable[..., Any] | None = None,
    off: Problem | None = None,
    suppressed: Sequence[Problem] = (),
) -> list[Problem]:
    """The problems of a variant of a call of ``fn`` that raised nothing.

    Parameters
    ----------
    off
        What kept torch from compiling, if something did.
    suppressed
        The failures that torch left to eager: they say why nothing else was compiled.
    """
    if any(problem.severity == "error" for problem in suppressed):
        return list(suppressed)
    return [*suppressed, *_without_failures(compilations, fn, off)]


def _without_failures(
    compilations: Sequence[Compilation], fn: Callable[..., Any] | None, off: Problem | None
) -> list[Problem]:
    if not any(compilation.graphs for compilation in compilations):
        if off is not None and not compilations:
            return [off]
        own_class = skipped_class(fn) if fn is not None else ""
        is_scripted = isinstance(fn, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
        return [_unrun(fn) or _nothing(compilations, own_class, is_scripted=is_scripted)]
    return [
        _limit(compilation, compilations)
        for compilation in compilations
        if RECOMPILE_LIMIT in compilation.absent.get("dynamo", "")
    ]


def _unrun(fn: Callable[..., Any] | None) -> Problem | None:
    """The problem of a call that returns a generator; None for another."""
    body = fn.forward if isinstance(fn, torch.nn.Module) else fn
    if not inspect.isgeneratorfunction(body):
        return None
    return Problem(
        severity="warning",
        what=_NOTHING,
        why="The call returns a generator that nothing consumes: no line of its body runs.",
        remedy=_CONSUME,
    )


def consumed_generator() -> Problem:
    """The problem of a call whose result is a generator in eager only."""
    return Problem(
        severity="warning",
        what=GENERATOR,
        why="Dynamo runs it as a whole and returns an iterator over its results: neither the "
        "results nor the times can be compared.",
        remedy=_CONSUME,
    )


def _nothing(compilations: Sequence[Compilation], own_class: str, *, is_scripted: bool) -> Problem:
    what = _NOTHING
    breaks = [graph_break for compilation in compilations for graph_break in compilation.breaks]
    if breaks:
        first = next(
            (graph_break for graph_break in breaks if not is_by_design(graph_break)), breaks[0]
        )
        reason = ", ".join(line.rstrip(".") for line in first.reason.splitlines())
        more = [*first.hints[1:], f"See {first.link}" if first.link else ""]
        return Problem(
            severity="warning",
            what=what,
            why=f"Dynamo gave up on the frame, which runs in eager: {reason}.",
            remedy=advice_on(first) or "Move the code that breaks the graph out of the frame.",
            where=first.where,
            detail="\n".join(part for part in (first.reason, first.explanation, *more) if part),
        )
    if is_scripted:
        return Problem(
            severity="warning",
            what=what,
            why="It is TorchScript, which torch.compile leaves as it is.",
            remedy="Compile the module or function that it was made from.",
        )
    if own_class:
        return Problem(
            severity="warning",
            what=what,
            why=f"{own_class} is a class of torch's own: where module.compile() enters its "
            "forward, torch leaves it to eager.",
            remedy="Use compiled = torch.compile(module), or "
            "module.forward = torch.compile(module.forward).",
        )
    return Problem(
        severity="warning",
        what=what,
        why="The call does no tensor work that Dynamo sees, or every frame was skipped.",
        remedy="Inspect a call that works on tensors.",
    )


def _limit(fallback: Compilation, compilations: Sequence[Compilation]) -> Problem:
    number = fallback.id.partition("/")[0]
    same = [
        compilation for compilation in compilations if compilation.id.partition("/")[0] == number
    ]
    frame = next((compilation.frame for compilation in same if compilation.frame is not None), None)
    reasons = fallback.recompile.reasons if fallback.recompile is not None else []
    name = frame.function if frame is not None else f"Frame {number}"
    return Problem(
        severity="warning",
        what=f"{name} hit the recompile limit: from then on its new cases run in eager.",
        why=f"It was compiled {count(len(same) - 1, 'time')}. "
        + (f"The last reason: {reasons[0].partition(': ')[2] or reasons[0]}" if reasons else ""),
        remedy="Mark the changing sizes as dynamic (dynamic=True, or "
        "torch._dynamo.mark_dynamic), or raise torch._dynamo.config.recompile_limit.",
        where=frame,
        detail="\n".join(reasons),
    )
