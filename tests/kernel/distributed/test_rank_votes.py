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
from compilescope.distributed.votes import OutOfStep, Votes
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
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
    inspection.capture(variants, Monitor())
    inspection.generate(variants, Monitor())
    asked = Asked()
    with pytest.raises(OSError, match="Too many open files"):
        inspection.build(list(variants), Monitor(), lambda *_: {}, asked)
    assert [variant.stage for variant in inspection.report.variants] == ["failed", "sources"]
    # Eager is called, what it draws, and where to build; then no question more.
    assert asked.answers == [True, False, True]
