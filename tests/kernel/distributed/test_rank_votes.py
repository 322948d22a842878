"""Ranks agree on what they call next, here as threads with a store; and one that failed leaves."""

from __future__ import annotations

import errno
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TypeVar

import pytest
import torch
import torch.distributed as dist
from compilescope.builds import build_and_time
from compilescope.distributed.failed_ranks import (
    ENDED_FOR_ANOTHER,
    OTHER_ENDED,
    failed_report,
    name_causes,
)
from compilescope.distributed.process import _out_of_step
from compilescope.distributed.votes import OutOfStep, Votes
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.report import Report, VariantReport
from compilescope.report.problem import Problem
from compilescope.report.subjects.ranks import Rank
from compilescope.report.variant import Variant

T = TypeVar("T")


class Asked:
    """Another rank says what this one does."""

    def __init__(self) -> None:
        self.answers: list[bool] = []

    def any(self, wanted: bool) -> bool:
        """What was said."""
        self.answers.append(wanted)
        return wanted

    def all(self, able: bool) -> bool:
        """What was said."""
        return self.any(able)


def on_each_rank(folder: Path, do: Callable[[Votes, int], T], size: int = 3) -> list[T]:
    """What each rank gets, all at the same time; none waits after a failure."""

    def make_item(rank: int) -> T:
        store = dist.FileStore(str(folder / "store"), size)  # type: ignore[attr-defined]
        return do(Votes(store, rank, size, patience_s=0.0), rank)

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(make_item, range(size)))


def test_all_get_the_same_answers(tmp_path: Path) -> None:
    def ask(votes: Votes, rank: int) -> tuple[bool, bool, bool, list[int]]:
        return votes.any(rank == 1), votes.any(False), votes.all(True), votes.end()

    assert on_each_rank(tmp_path, ask) == [(True, False, True, [])] * 3


def test_one_that_failed_alone_leaves_and_the_others_hear_of_it(tmp_path: Path) -> None:
    has_left = Event()

    def ask(votes: Votes, rank: int) -> tuple[list[int], bool]:
        if rank != 1:
            has_left.wait()  # the others are in a collective, say
        try:
            votes.all(rank != 1)
            votes.any(False)
        except OutOfStep as error:
            votes.end(0.0)
            has_left.set()
            return error.ranks, error.ended
        return [], False

    assert on_each_rank(tmp_path, ask) == [([1], True), ([0, 2], False), ([1], True)]


def test_an_error_of_the_system_amid_the_calls_leaves_none_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # By itself a call goes on with the next variant; a rank would be one question behind for good.
    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(build_and_time, "add_guard_costs", refuse)
    inspection = Inspection(torch.sin, (torch.ones(2),))
    variants = {name: Variant(backend="eager") for name in ("one", "two")}
    inspection.sources.capture(variants, Monitor())
    inspection.sources.generate(variants, Monitor())
    asked = Asked()
    with pytest.raises(OSError, match="Too many open files"):
        inspection.build(list(variants), Monitor(), lambda *_: {}, asked)
    assert [variant.stage for variant in inspection.report.variants] == ["failed", "sources"]
    # Eager is called, what it draws, and where to build; then no question more.
    assert asked.answers == [True, False, True]


def failed(rank: int, what: str, why: str = "") -> Report:
    return failed_report(Rank(rank=rank, size=2), Problem(severity="error", what=what, why=why))


CLOSED = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by "
    "peer [127.0.0.1]:59525."
)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (f"Rank 0 was ended, {ENDED_FOR_ANOTHER}", ""),
        (f"The subject raised {CLOSED}", "It is the subject's own exception."),
        ("The process of rank 0 died: exit code 1.", CLOSED),
        (OTHER_ENDED, "Rank 1 had ended: the call failed there."),
        ("Rank 0 was ended after 60 s.", "It may wait in a collective."),
    ],
)
def test_a_rank_that_stopped_for_another_names_it(what: str, why: str) -> None:
    first, second = failed(0, what, why), failed(1, "The subject raised ValueError: no data")
    name_causes([first, second])
    assert first.problems[0].why == "On rank 1: The subject raised ValueError: no data."
    assert first.problems[0].remedy == "Fix that: see the problems of rank 1."
    assert "subject" not in first.problems[0].what
    assert second.problems[0].what == "The subject raised ValueError: no data"


def test_a_rank_whose_process_died_is_the_cause() -> None:
    died = "The process of rank 1 died: exit code 7."
    first, second = failed(0, f"The factory raised {CLOSED}"), failed(1, died)
    name_causes([first, second])
    assert first.problems[0].what == "Rank 0 lost its connection to another rank."
    assert first.problems[0].why == died
    assert second.problems[0].why == ""


@pytest.mark.parametrize(
    "error",
    [
        "ValueError: no data",
        "DistBackendError: NCCL error: invalid usage, ncclInvalidUsage: Duplicate GPU detected",
        "RuntimeError: [enforce fail at /gloo/transport/tcp/pair.cc:446] 8 <= 4. 8 vs 4",
    ],
)
def test_ranks_that_fail_alike_are_not_the_consequence_of_each_other(error: str) -> None:
    reports = [failed(rank, f"The subject raised {error}", "Own.") for rank in (0, 1)]
    name_causes(reports)
    assert [report.problems[0].why for report in reports] == ["Own.", "Own."]


def test_the_rank_on_which_the_call_failed_says_what_failed() -> None:
    report = failed(1, "")
    problem = Problem(severity="error", what="The subject raised ValueError: x", remedy="Fix it.")
    report.variants = [
        VariantReport(name="python", requested=Variant(), stage="failed", problems=[problem])
    ]
    stopped = _out_of_step(OutOfStep([0], ended=False), report)
    assert stopped.why.endswith("Here the call failed: The subject raised ValueError: x")
    assert stopped.remedy == "Fix it."
