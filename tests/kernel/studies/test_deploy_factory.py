"""Ways to deploy a call that a factory creates in each process."""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Problem, VariantReport
from compilescope.session.requests import study as request_study
from compilescope.session.session import Session
from compilescope.studies.context import StudyProcesses
from compilescope.studies.deploy import ways

from ..studying import study
from ..sweep import subjects

X = torch.ones(4)
EAGER = {"ways": (ways.EAGER,)}


def variant_of() -> VariantReport:
    return VariantReport(name="python", requested=cs.Variant())


def make_unpicklable() -> Any:
    return subjects.unpicklable(), (torch.ones(4),)


@pytest.mark.slow
def test_a_call_that_cannot_be_pickled_is_measured_on_an_executor() -> None:
    variant = variant_of()
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        processes = StudyProcesses(executor, make_unpicklable)
        study("deploy", subjects.unpicklable(), (X,), variant, options=EAGER, processes=processes)
    (eager,) = variant.ways
    assert eager.problem is None
    assert eager.cold_s is not None
    assert eager.accurate is True


def _problem(fn: Callable[..., Any], x: torch.Tensor, factory: Callable[[], Any]) -> Problem:
    variant = variant_of()
    processes = StudyProcesses(factory=factory)
    study("deploy", fn, (x,), variant, options=EAGER, processes=processes)
    (eager,) = variant.ways
    assert eager.problem is not None
    return eager.problem


@pytest.mark.slow
def test_a_factory_that_raises_is_named() -> None:
    problem = _problem(subjects.double, X, subjects.make_with_a_fault)
    assert problem.what == "The factory raised LookupError: the factory's own."
    assert problem.where is not None
    assert problem.where.function == "make_with_a_fault"


@pytest.mark.slow
def test_a_factory_has_to_create_the_call_of_the_report() -> None:
    problem = _problem(subjects.Counting(), torch.ones(8), subjects.make)
    assert problem.what == "The factory returned another call than the report's."
    assert problem.why == (
        "It returned Counting(x: float32[4] cpu), and the report is of Counting(x: float32[8] cpu)."
    )


def test_a_factory_is_for_the_studies_that_take_it() -> None:
    session = Session()
    report = session.inspect(subjects.double, (X,), variants={"python": cs.Variant()}, run=False)
    processes = StudyProcesses(factory=subjects.make)
    with pytest.raises(cs.CompilescopeError, match="factory is for the studies deploy and blocks"):
        request_study(session, report, ["layers"], processes=processes)
    wrong: Any = "make"
    with pytest.raises(cs.CompilescopeError, match="a function that returns"):
        request_study(session, report, ["deploy"], processes=StudyProcesses(factory=wrong))
