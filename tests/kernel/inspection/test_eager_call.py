"""Eager is without torch.compile, also of what the subject calls and the user compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report.problem import Problem

X = torch.arange(6.0)
_compiled: list[Any] = []


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    torch._dynamo.reset()
    _compiled.clear()
    yield
    torch._dynamo.reset()


def _note(graph: Any, inputs: Any) -> Any:
    _compiled.append(graph)
    return graph


@torch.compile(backend=_note)
def _inner(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def _calls_inner(x: torch.Tensor) -> torch.Tensor:
    return _inner(_inner(x))


@torch.compile(backend=_note)
def _only_compiled(x: torch.Tensor) -> torch.Tensor:
    if not torch.compiler.is_compiling():
        raise MemoryError("more scores than memory")
    return x.sin() + 1


def test_eager_compiles_no_function_inside_the_subject() -> None:
    report = cs.inspect(
        _calls_inner, (X,), variants={"graph": cs.Variant(backend="eager")}, run=True
    )
    variant = report.variant("graph")
    assert variant.timing is not None
    assert all(error.ok for error in variant.accuracy)
    assert not _compiled
    # A measurement in the session goes on with the same calls.
    cs.measure(report, seconds=0.05)
    assert not _compiled
    assert not variant.problems
    _calls_inner(X)
    assert len(_compiled) == 1


def test_what_only_works_compiled_stays_compiled_and_the_report_says_so() -> None:
    report = cs.inspect(
        lambda x: _only_compiled(x) * 2,
        (X,),
        variants={"graph": cs.Variant(backend="eager")},
        run=True,
    )
    variant = report.variant("graph")
    assert variant.timing is not None
    assert _compiled
    assert variant.problems == [
        Problem(
            severity="info",
            what="Eager is compiled in part: functions inside the subject that you compiled are "
            "called as they are.",
            why="Without their torch.compile, the call raised MemoryError: more scores than "
            "memory.",
        )
    ]


def test_a_subject_that_fails_either_way_is_blamed_for_its_own_error() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        raise LookupError(f"the subject's own, after {_inner(x)}")

    report = cs.inspect(fails, (X,), variants={"graph": cs.Variant(backend="eager")}, run=True)
    (problem,) = report.variant("graph").problems
    assert problem.what.startswith("The subject raised LookupError")
