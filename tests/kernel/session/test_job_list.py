"""The list of jobs and its observers, whatever interrupts them."""

from __future__ import annotations

from typing import Any

import pytest
from compilescope.jobs.jobs import Job, Jobs
from compilescope.jobs.observers import Observers
from compilescope.jobs.runner import Work


def test_an_interrupt_while_a_job_starts_ends_it() -> None:
    def interrupt(job: Job) -> None:
        if job.state == "running":
            raise KeyboardInterrupt

    jobs = Jobs(changed=interrupt)
    job = jobs.new("subject", ["python"], Work())
    with pytest.raises(KeyboardInterrupt), jobs.running(job):
        pass
    assert (job.state, jobs.current) == ("cancelled", None)
    assert job.ended.is_set()


def test_two_threads_may_see_the_same_observer_fail() -> None:
    observers = Observers()

    def fails(*_: Any) -> None:
        remove()  # as the other thread did
        raise OSError("the line is dead")

    remove = observers.add(fails)
    observers.notify("subjects", "")
    remove()
