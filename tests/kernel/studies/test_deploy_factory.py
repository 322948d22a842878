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
from compilescope.subject import pickled_subject

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


def _flat(x: torch.Tensor, rest: object) -> torch.Tensor:
    return x


def _unpacked(reported: object, created: object) -> None:
    like = pickled_subject.Call(_flat, (X, reported), {})
    pickled_subject.unpack(pickled_subject.pack(factory=lambda: (_flat, (X, created)), like=like))


@pytest.mark.parametrize(
    ("reported", "created", "path"),
    [
        ([X, X, X, torch.ones(5)], [X, X, X, X], "rest[3] is float32[4] cpu, and float32[5] cpu"),
        (
            {"a": 1, "b": 2, "c": 3, "d": 4},
            {"a": 1, "b": 2, "c": 3, "d": 5},
            "rest['d'] is 5, and 4",
        ),
        ("s" * 99 + "a", "s" * 99 + "b", "rest differs."),
        ([[[[[1]]]]], [[[[[2]]]]], "rest[0][0][0][0][0] is 2, and 1"),
        ([1, 2, 3, 4, {5}], [1, 2, 3, 4, {6}], "rest[4] is set of 6, and set of 5"),
    ],
)
def test_all_that_is_in_the_arguments_is_compared(
    reported: object, created: object, path: str
) -> None:
    with pytest.raises(cs.CompilescopeError) as raised:
        _unpacked(reported, created)
    assert path in raised.value.problem.why


@pytest.mark.parametrize(
    ("reported", "created"),
    [
        # These two have different orders: their hashes collide.
        ({0, 8}, {8, 0}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([torch.device("cuda:0"), "cuda:0"], [torch.device("cuda:1"), "cuda:1"]),
    ],
)
def test_orders_of_sets_and_numbers_of_gpus_are_not(reported: object, created: object) -> None:
    _unpacked(reported, created)


def test_a_factory_is_for_the_studies_that_take_it() -> None:
    session = Session()
    report = session.inspect(subjects.double, (X,), variants={"python": cs.Variant()}, run=False)
    processes = StudyProcesses(factory=subjects.make)
    with pytest.raises(cs.CompilescopeError, match="factory is for the studies deploy and blocks"):
        request_study(session, report, ["layers"], processes=processes)
    wrong: Any = "make"
    with pytest.raises(cs.CompilescopeError, match="a function that returns"):
        request_study(session, report, ["deploy"], processes=StudyProcesses(factory=wrong))
