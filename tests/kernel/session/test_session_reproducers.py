"""Standalone programs for the panel: a job for each, which can be followed and canceled."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import pytest
import torch
from compilescope.report.errors import CompilescopeError
from compilescope.reproducers.program import Reproducer
from compilescope.session import reproducers
from compilescope.session.session import Session

from .. import subjects

X = torch.randn(4, 8)


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session()
    session.inspect(subjects.plain, (X,), variants="python", run=False)
    return session


def subject_of(session: Session) -> str:
    return next(iter(session.inspections))


@pytest.mark.slow
def test_a_kernel_and_a_graph_are_tried_before_they_are_offered(session: Session) -> None:
    subject = subject_of(session)
    kernel = session.inspection(subject).report.compilation("0/0").kernels[0]
    for part in ({"kernel": kernel.name}, {"graph": "post_grad"}):
        job, _ = session.reproducer(subject, "python", "0/0", **part)
        assert job.aside
        assert job.ended.wait()
        same, program = session.reproducer(subject, "python", "0/0", **part)
        assert same is job
        assert job.state == "done", job.error
        assert program is not None
        assert program.tried == "agrees", program.output
        compile(program.code, program.file_name, "exec")


def test_what_cannot_be_written_is_the_error_of_its_job(session: Session) -> None:
    subject = subject_of(session)
    job, _ = session.reproducer(subject, "python", "0/0", kernel="nothing")
    assert job.ended.wait()
    same, program = session.reproducer(subject, "python", "0/0", kernel="nothing")
    assert (same, program, job.state) == (job, None, "failed")
    assert job.error is not None
    assert job.error.what == "The report has no kernel 'nothing'."
    again, _ = session.reproducer(subject, "python", "0/0", kernel="nothing", restart=True)
    assert again is not job
    assert again.ended.wait()
    with pytest.raises(CompilescopeError, match="rust"):
        session.reproducer(subject, "rust", "0/0", kernel="nothing")


def test_a_smaller_graph_is_a_job_of_its_own(session: Session) -> None:
    subject = subject_of(session)
    job, _ = session.reproducer(subject, "python", "0/0", graph="none", minify=True)
    assert job.ended.wait()
    assert job.work.minify
    assert job.error is not None
    assert job.error.what == "Compilation '0/0' has no graph 'none'."


def test_a_trial_is_cancelled_and_forgotten_with_its_subject(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = session.inspect(subjects.plain, (X,), variants="eager", run=False).subject.id
    begun = threading.Event()

    def never_ends(*_: Any, cancelled: Any, **__: Any) -> Reproducer:
        begun.set()
        while not cancelled():
            time.sleep(0.01)
        return Reproducer("graph", "graph.py", "", "cpu")

    monkeypatch.setattr(reproducers, "reproduce", never_ends)
    job, _ = session.reproducer(subject, "eager", "0/0", graph="post_grad")
    assert begun.wait()
    session.jobs.cancel(job.id)
    assert job.ended.wait()
    same, program = session.reproducer(subject, "eager", "0/0", graph="post_grad")
    assert (same, program, job.state) == (job, None, "cancelled")
    begun.clear()
    other, _ = session.reproducer(subject, "eager", "0/0", graph="post_grad", restart=True)
    assert begun.wait()
    session.forget(subject)
    assert other.ended.wait()
    assert other.state == "cancelled"


@pytest.mark.parametrize("most", [1, 30])
def test_a_subject_that_is_evicted_or_replaced_is_let_go_of(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compilescope.session.subjects.MAX_SUBJECTS", most)
    session = Session()
    subject = session.inspect(subjects.plain, (X,), variants="eager", run=False).subject.id
    job, _ = session.reproducer(subject, "eager", "0/0", graph="post_grad")
    assert job.ended.wait()
    before = weakref.ref(session.inspection(subject))
    again = subjects.plain if most > 1 else torch.sin
    session.inspect(again, (X,), variants="eager", run=False)
    gc.collect()
    assert before() is None
