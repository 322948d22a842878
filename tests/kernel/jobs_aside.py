"""Jobs that run on a thread of their own, besides the main thread."""

from __future__ import annotations

import compilescope as cs
from compilescope.report import Report
from compilescope.session.session import Session


def assert_main_thread_is_free(session: Session, report: Report, variant: cs.Variant) -> None:
    """Requests a variant's code, which must come without work for the main thread."""
    name, job = session.panel_jobs.sources(report.subject.id, variant)
    if job is not None:  # it took longer than a request waits
        assert job.aside
        assert job.ended.wait(600)
        assert (job.state, job.needs_main_thread) == ("done", False)
    assert report.variant(name).stage == "sources"
    assert session.jobs.next() is None, "nothing waits for the main thread"
