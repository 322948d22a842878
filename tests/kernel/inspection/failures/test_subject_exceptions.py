"""An exception of the subject is shown as its own: what it raised, and where."""

from __future__ import annotations

import asyncio
import builtins
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._inductor.config
from compilescope.package_folder import INSIDE

from ...subjects import Call
from .failing import inspect, the_problem

pytestmark = pytest.mark.slow

HERE = str(Path(__file__))
X = torch.randn(4, 8)


def fails(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    if len(x) == 4:
        raise LookupError("no such row\nat all")
    return y


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_of_the_subject_is_shown_as_its_own(run: bool) -> None:
    problem = the_problem(inspect(Call(fails, (X,)), run=run))
    assert problem.what == "The subject raised LookupError: no such row"
    assert problem.why == (
        "It is the subject's own exception, raised by the call that was inspected."
    )
    assert problem.where is not None
    assert (problem.where.file, problem.where.function) == (HERE, "fails")
    assert problem.where.code.startswith("raise LookupError(")
    lines = problem.detail.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.split('"')[1] for line in lines if line.startswith("  File")] == [HERE]
    assert lines[-2:] == ["LookupError: no such row", "at all"]


@pytest.mark.parametrize("fn", [torch.nn.Linear(3, 4), torch.nn.functional.glu])
def test_a_traceback_without_frames_of_the_users_begins_outside_compilescope(
    fn: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    problem = the_problem(inspect(Call(fn, (X[:, :5],)), run=False))
    assert problem.detail
    assert INSIDE not in problem.detail.partition(", in ")[0]


def test_a_graph_that_an_earlier_call_freed() -> None:
    hidden = (torch.ones(2, requires_grad=True)).exp()

    def step(h: torch.Tensor) -> None:
        h.sum().backward()

    problem = the_problem(inspect(Call(step, (hidden,)), run=True))
    assert problem.what.startswith("The subject raised RuntimeError: Trying to backward")
    assert "recorded before the inspection" in problem.why
    assert "detach()" in problem.remedy


def leaves(x: torch.Tensor) -> torch.Tensor:
    sys.exit("enough")


def ends(x: torch.Tensor) -> torch.Tensor:
    raise GeneratorExit


def cancels(x: torch.Tensor) -> torch.Tensor:
    raise asyncio.CancelledError("timeout")


def ends_in_a_group(x: torch.Tensor) -> torch.Tensor:
    raise builtins.BaseExceptionGroup("both", [GeneratorExit(), ValueError("no row")])


ENDS = [
    (leaves, "SystemExit: enough"),
    (ends, "GeneratorExit."),
    (cancels, "CancelledError: timeout"),
]
if sys.version_info >= (3, 11):
    ENDS.append((ends_in_a_group, "BaseExceptionGroup: both (2 sub-exceptions)"))


@pytest.mark.parametrize(("fn", "raised"), ENDS)
@pytest.mark.parametrize("run", [False, True])
def test_a_subject_that_ends_the_program_does_not(
    fn: Callable[..., Any], raised: str, run: bool
) -> None:
    problem = the_problem(inspect(Call(fn, (X,)), run=run))
    assert problem.what == f"The subject raised {raised}"
    assert problem.where is not None
    assert (problem.where.file, problem.where.function) == (HERE, fn.__name__)


def test_an_interrupt_is_the_users() -> None:
    def interrupted(x: torch.Tensor) -> torch.Tensor:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        inspect(Call(interrupted, (X,)), run=False)


class Leave(BaseException):
    """Passes whatever catches errors, as its class says."""


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_of_the_users_that_is_no_error_passes_with_the_users_frames(
    run: bool,
) -> None:
    def leaves_at_once(x: torch.Tensor) -> torch.Tensor:
        raise Leave("here")

    with pytest.raises(Leave) as raised:
        cs.inspect(leaves_at_once, (X,), run=run)
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    # Where it was asked for, and where it was raised: nothing of how the call was made.
    assert frames[0] == raised.traceback[0].name
    assert frames[-1] == "leaves_at_once"
    assert not {"_build", "_run", "capture", "build_variants"} & set(frames)
    assert len(frames) <= 6, frames
    if sys.version_info >= (3, 11):
        (note,) = raised.value.__notes__
        assert note.startswith("The call that compilescope inspected raised this. Leave does ")
    assert cs.inspect(looked_at, (X,), variants="eager", run=False).variants[0].stage != "failed"


def looked_at(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    looks(y)
    return y + 1


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_whose_text_fails_is_the_subjects_all_the_same(run: bool) -> None:
    def raises(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        raise Unspeakable

    variant = cs.Variant(backend="eager")
    problem = the_problem(inspect(Call(raises, (X,)), run=run, variants={"one": variant}))
    assert problem.what == "The subject raised Unspeakable."
    assert problem.where is not None
    assert problem.where.code == "raise Unspeakable"


LOOKED_AT = looked_at.__code__.co_code


@torch._dynamo.disable
def looks(_: torch.Tensor) -> None:
    frame = sys._getframe()
    while frame.f_code.co_code != LOOKED_AT:
        if frame.f_back is None:
            raise LookupError("not called by its caller's own code")
        frame = frame.f_back


@pytest.mark.parametrize("run", [False, True])
def test_an_exception_under_torch_compile_alone_is_not_the_subjects(run: bool) -> None:
    variant = cs.Variant(backend="eager" if run else "inductor")
    problem = the_problem(inspect(Call(looked_at, (X,)), run=run, variants={"one": variant}))
    assert problem.what == "torch.compile failed: not called by its caller's own code"
    assert problem.why == "The call works without torch.compile; under it, it raises this."
    assert problem.where is not None
    assert problem.where.function == "looks"


def test_an_exception_of_the_subjects_backward_is_its_own() -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            raise LookupError("no such gradient")

    call = Call(Fails.apply, (X.clone().requires_grad_(),))
    problem = the_problem(inspect(call, variants=["python"]))
    assert problem.what == "The subject raised LookupError: no such gradient"


def test_a_failure_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    inspect(Call(fails, (X,)))
    assert threading.active_count() == before
