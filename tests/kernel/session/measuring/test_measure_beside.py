"""While variants are measured, the panel asks for the sources of others from its own thread."""

from __future__ import annotations

import threading
import time

import compilescope as cs
import pytest
from compilescope.progress.progress import Cancelled, Monitor

from .measure_support import inspected


def test_sources_are_made_between_rounds() -> None:
    session, inspection = inspected(variants={"python": cs.Variant()})
    subject = inspection.report.subject.id
    monitor = Monitor()
    results: list[bool] = []
    gone_on: list[bool] = []

    def wait_for_more() -> bool:
        rounds = inspection.measurement.rounds
        end = time.monotonic() + 600
        while inspection.measurement.rounds < rounds + 3 and time.monotonic() < end:
            time.sleep(0.005)
        return inspection.measurement.rounds >= rounds + 3

    def ask() -> None:
        try:
            gone_on.append(wait_for_more())
            for mode in ("max-autotune-no-cudagraphs", "reduce-overhead", "max-autotune"):
                _, job = session.panel_jobs.sources(subject, cs.Variant(mode=mode))
                results.append(job is None or (job.ended.wait(600) and job.state == "done"))
                gone_on.append(wait_for_more())
        finally:
            monitor.cancel()

    asking = threading.Thread(target=ask)
    asking.start()
    with pytest.raises(Cancelled):
        inspection.measure(["python"], monitor, seconds=300)
    asking.join()
    assert inspection.measurement.problem is None
    assert results == [True] * 3, "not put off until the measurement is over"
    assert gone_on == [True] * 4
