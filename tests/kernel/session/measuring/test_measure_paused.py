"""A measurement ends early by an error, an interrupt or a cancellation, and is resumed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from compilescope.inspection.inspection import Inspection

from .measure_support import BOTH, QUICK, inspected, measure, series_extents

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


class Failing:
    """A subject that works until it finds an error, which it raises once.

    Errors are in a queue, which is not put back with the subject's state.
    """

    def __init__(self) -> None:
        self.errors: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self.weight = torch.ones(8)

    @torch.compiler.disable
    def look(self) -> None:
        if not self.errors.empty():
            raise self.errors.get()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.look()
        self.weight += 1
        return x * self.weight

    def after_more_rounds(
        self, inspection: Inspection, error: BaseException
    ) -> Callable[..., None]:
        """To be told of the measurement: has the subject raise when there are more rounds."""
        waiting = {inspection.measurement.rounds: error}

        def report_call(*_: Any) -> None:
            if waiting and inspection.measurement.rounds > min(waiting):
                self.errors.put(waiting.popitem()[1])

        return report_call


def test_an_error_of_the_subject_ends_it_and_loses_no_sample() -> None:
    failing = Failing()
    session, inspection = inspected(failing)
    measure(inspection)
    rounds = inspection.measurement.rounds
    message = failing.after_more_rounds(inspection, RuntimeError("enough"))
    measure(inspection, seconds=60, on_news=message)
    standing = inspection.measurement
    assert standing.state == "paused"
    assert standing.rounds > rounds
    assert standing.problem is not None
    assert standing.problem.what == "The subject raised RuntimeError: enough"
    ended = f"Measuring ended early. {standing.problem.what}"
    assert ended in [problem.what for problem in inspection.report.problems]
    assert torch.equal(failing.weight, torch.ones(8))
    timing = inspection.report.variant("quick").timing
    assert timing is not None
    assert len(timing.samples_us) == standing.rounds
    # When the call works again, so does measuring.
    session.measure(inspection.report.subject.id, QUICK, seconds=0.1)
    assert inspection.measurement.state == "done"
    assert inspection.measurement.problem is None
    assert ended not in [problem.what for problem in inspection.report.problems]


def test_an_interrupt_keeps_samples_and_the_user_s_state() -> None:
    failing = Failing()
    session, inspection = inspected(failing)
    subject = inspection.report.subject.id
    measure(inspection)
    rounds = inspection.measurement.rounds
    session.observe(failing.after_more_rounds(inspection, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        session.measure(subject, QUICK, seconds=60)
    standing = inspection.measurement
    paused = standing.rounds
    assert (standing.state, standing.problem) == ("paused", None)
    assert {len(measured.samples_us) for measured in standing.series.values()} == {paused}
    assert paused > rounds
    assert torch.equal(failing.weight, torch.ones(8))
    assert session.jobs.current is None
    session.measure(subject, QUICK, seconds=0.1)
    assert inspection.measurement.id == standing.id
    assert inspection.measurement.rounds > paused


def test_a_cancelled_measurement_is_paused_and_gone_on_with() -> None:
    session, inspection = inspected()
    subject = inspection.report.subject.id
    job = session.panel_jobs.measure(subject, ["quick"], seconds=60, restart=False)
    assert session.measurement(subject).state == "none", "it waits for the main thread"
    done: list[int] = []

    def cancel(kind: str, *_: Any) -> None:
        if kind == "measured" and inspection.measurement.rounds > 20 and not done:
            done.append(inspection.measurement.rounds)
            thread = threading.Thread(target=session.jobs.cancel, args=(job.id,))
            thread.start()
            thread.join()

    session.observe(cancel)
    session.panel_jobs.run_pending()
    assert (job.state, job.work.kind) == ("cancelled", "measure")
    paused = inspection.measurement
    assert paused.state == "paused"
    assert paused.rounds <= done[0] + 1, "it ends at the next round"
    assert inspection.report.variant("quick").timing is not None
    rounds = paused.rounds
    session.panel_jobs.measure(subject, [], seconds=0.1, restart=False)
    session.panel_jobs.run_pending()
    assert inspection.measurement.id == paused.id
    assert inspection.measurement.rounds > rounds
    assert inspection.measurement.state == "done"


def test_of_two_that_are_asked_for_the_later_one_goes_on() -> None:
    session, inspection = inspected(variants=BOTH)
    subject = inspection.report.subject.id
    first = session.panel_jobs.measure(subject, ["quick"], seconds=60, restart=False)
    assert session.panel_jobs.measure(subject, ["quick"], seconds=60, restart=False) is first
    second: list[Any] = []

    def ask(kind: str, *_: Any) -> None:
        if kind == "measured" and inspection.measurement.rounds > 5 and not second:
            second.append(
                session.panel_jobs.measure(subject, ["quick", "aot"], seconds=0.1, restart=False)
            )

    session.observe(ask)
    session.panel_jobs.run_pending()
    assert (first.state, second[0].state) == ("cancelled", "done")
    counts = series_extents(inspection)
    assert counts["quick"][1] > counts["aot"][1] > 0
    assert counts["aot"][0] + counts["aot"][1] == counts["quick"][1]
