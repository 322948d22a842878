"""Work that calls subjects, on one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ..builds.subject_error import without_our_frames
from ..inspection.inspection import Inspection
from ..jobs.jobs import Job, Jobs
from ..jobs.runner import Work, carry_out
from ..progress.progress import Monitor
from ..report.errors import CompilescopeError
from ..report.variant import Variant


class SubjectCalls:
    """Lets only one thread at a time call a subject.

    Parameters
    ----------
    jobs
        Where a job is dropped that cannot be done now.
    measured
        Called with the subject's id when a measurement has new samples.
    is_shown
        Whether someone sees the report grow: sources then come first.
    """

    def __init__(
        self, jobs: Jobs, *, measured: Callable[[str], None], is_shown: Callable[[], bool]
    ) -> None:
        self._jobs = jobs
        self._measured = measured
        self._is_shown = is_shown
        self._working = threading.Lock()

    @contextmanager
    def alone(self, job: Job) -> Iterator[None]:
        """In the block no other thread calls a subject.

        Raises
        ------
        CompilescopeError
            Another thread does.
        """
        if not self._working.acquire(blocking=False):
            self._jobs.drop(job)
            raise CompilescopeError(
                "Another inspection is running in this kernel.",
                "A subject is called by one thread at a time.",
                "Wait for it, or cancel it.",
            )
        try:
            yield
        finally:
            self._working.release()

    def run(
        self, inspection: Inspection, requested: Mapping[str, Variant], work: Work, monitor: Monitor
    ) -> None:
        """Does work of a job, within `alone`."""
        subject = inspection.report.subject.id
        try:
            carry_out(
                work,
                inspection,
                requested,
                monitor,
                on_news=lambda: self._measured(subject),
                sources_first=self._is_shown(),
            )
        except BaseException as error:  # noqa: BLE001 - it is raised again
            raise without_our_frames(error)  # noqa: B904 - it is the same exception
