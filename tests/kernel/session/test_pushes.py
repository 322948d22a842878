"""What panels are told without asking; and panels whose line is cut, closed or silent."""

from __future__ import annotations

from typing import Any

import compilescope as cs
import pytest
import torch
from comm.base_comm import CommManager
from compilescope.comms import clients, messages
from compilescope.comms.clients import Clients
from compilescope.comms.endpoints import Endpoints
from compilescope.session.session import Session

from .. import subjects
from ..panel import FakeComm, connect


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def endpoints(manager: CommManager, session: Session) -> Endpoints:
    return Endpoints(session)


def test_an_inspection_is_pushed_as_it_grows(manager: CommManager) -> None:
    session = Session()
    endpoints = Endpoints(session)
    _, events = connect(manager)
    options = {"post_grad_custom_pre_pass": None, "size_asserts": False}
    report = session.inspect(
        subjects.plain,
        (torch.randn(4, 8),),
        variants=[cs.Variant(options=options)],
        run=False,
        cell="cell-1",
    )
    first = events.sent[0]
    assert first["event"] in ("subjects_changed", "job_changed")
    focus = [event["data"] for event in events.sent if event["event"] == "subjects_changed"]
    assert focus[0]["focus"] == report.subject.id
    assert focus[0]["subjects"][0]["subject"]["cell"] == "cell-1"
    revisions = [event["data"] for event in events.sent if event["event"] == "report_changed"]
    assert revisions[-1]["revision"] == session.revisions[report.subject.id]
    states = [
        event["data"]["job"]["state"] for event in events.sent if event["event"] == "job_changed"
    ]
    assert (states[0], states[-1]) == ("running", "done")
    endpoints.close()


def test_a_flip_says_whose_texts_changed(
    manager: CommManager, session: Session, endpoints: Endpoints
) -> None:
    _, events = connect(manager)
    inputs = (torch.randn(4, 8),)
    report = session.inspect(subjects.plain, inputs, variants="python", run=False)
    events.sent.clear()
    session.add(report.subject.id, cs.Variant(cpp_wrapper=True))
    changes = [event["data"] for event in events.sent if event["event"] == "report_changed"]
    assert [change["variants"] for change in changes] == [["cpp"]], "the Python wrapper is the same"
    endpoints.close()


def test_a_measurement_is_pushed_as_it_grows_and_fetched_after_a_reload(
    manager: CommManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before and every event complete each other, whenever a panel joins."""
    # There is news after the first round, however few rounds the time is enough for.
    monkeypatch.setattr("compilescope.builds.live_measurement.TICK_S", 0.0)
    session = Session()
    endpoints = Endpoints(session)
    report = session.inspect(
        subjects.plain,
        (torch.randn(4, 8),),
        variants={"quick": cs.Variant(backend="eager")},
        run=False,
    )
    subject = report.subject.id
    requests, events = connect(manager)
    assert requests.ask("get_measurement", subject=subject)["result"]["state"] == "none"
    late: list[tuple[FakeComm, FakeComm, dict[str, Any]]] = []

    def reload(kind: str, *_: Any) -> None:
        if kind == "measured" and len(measured(events)) > 4 and not late:
            pair = connect(manager, "reloaded")
            late.append((*pair, pair[0].ask("get_measurement", subject=subject)["result"]))

    for seconds in (1.0, 0.1):
        answer = requests.ask("start_measure", subject=subject, seconds=seconds)["result"]
        assert (answer["job"]["kind"], answer["job"]["state"]) == ("measure", "queued")
        stop = session.observe(reload)
        session.panel_jobs.run_pending()
        stop()
    whole = requests.ask("get_measurement", subject=subject)["result"]
    assert (whole["state"], whole["since"]) == ("done", 0)
    assert {series["name"] for series in whole["series"]} == {"eager", "quick"}
    assert all(len(series["samples_us"]) == whole["rounds"] > 0 for series in whole["series"])
    grown = completed([], measured(events))
    assert grown == whole
    ((_, since, first),) = late
    assert 0 < first["rounds"] < whole["rounds"]
    assert completed([first], measured(since)) == whole
    states = [event["data"]["job"] for event in events.sent if event["event"] == "job_changed"]
    assert {state["kind"] for state in states} == {"measure"}
    assert any(state["step"].startswith("measuring") for state in states)
    endpoints.close()


def measured(events: FakeComm) -> list[dict[str, Any]]:
    return [event["data"]["measurement"] for event in events.sent if event["event"] == "measured"]


def completed(known: list[dict[str, Any]], expected: list[dict[str, Any]]) -> dict[str, Any]:
    """A measurement as a panel puts it together."""
    samples: dict[str, list[float]] = {}
    for item in [*known, *expected]:
        for series in item["series"]:
            before = samples.get(series["name"], [])
            result = before[: max(0, item["since"] - series["first"])]
            samples[series["name"]] = [*result, *series["samples_us"]]
    last = expected[-1]
    series = [{**series, "samples_us": samples[series["name"]]} for series in last["series"]]
    return {**last, "since": 0, "series": series}


def test_a_cut_line_does_not_stop_the_others_nor_the_work(
    manager: CommManager, endpoints: Endpoints, session: Session
) -> None:
    _, cut = connect(manager, "cut")
    _, whole = connect(manager, "whole")
    cut.broken = True
    session.forget("subject")
    session.forget("subject")
    assert whole.events == ["subjects_changed"] * 2
    cut.broken = False
    session.forget("subject")
    assert cut.sent == []


def test_a_closed_panel_hears_no_more(
    manager: CommManager, endpoints: Endpoints, session: Session
) -> None:
    requests, events = connect(manager)
    requests.gone({})
    session.forget("subject")
    assert events.sent == []


def test_closed_endpoints_serve_nobody(
    manager: CommManager, endpoints: Endpoints, session: Session
) -> None:
    _, events = connect(manager)
    endpoints.close()
    session.forget("subject")
    assert events.sent == []
    assert messages.REQUESTS_TARGET not in manager.targets
    assert messages.EVENTS_TARGET not in manager.targets


def test_silent_clients_are_forgotten_and_their_comms_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(clients.time, "monotonic", lambda: now[0])
    known = Clients()
    ends = {name: FakeComm() for name in ("old", "old's events", "new", "newest")}
    known.open("a", "requests", ends["old"])
    known.open("a", "events", ends["old's events"])
    known.open("b", "requests", ends["new"])
    now[0] += clients.SILENCE_S - 1
    known.note_request("b")
    known.note_request("nobody")
    now[0] += 2
    known.open("c", "requests", ends["newest"])
    assert [name for name, end in ends.items() if end.closed] == ["old", "old's events"]
    assert len(known) == 2


def test_a_panel_listens_once_it_hears_events_and_until_it_falls_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(clients.time, "monotonic", lambda: now[0])
    known, events = Clients(), FakeComm()
    known.open("a", "requests", FakeComm())
    assert not known.listening()
    known.open("a", "events", events)
    assert known.listening()
    now[0] += clients.SILENCE_S + 1
    assert not known.listening()
    known.note_request("a")
    assert known.listening()
    known.close(events)
    assert not known.listening()


def test_a_watch_is_offered_when_its_block_ends_and_takes_no_panel_away(
    manager: CommManager, session: Session, endpoints: Endpoints
) -> None:
    _, events = connect(manager)
    with session.watcher.block(8.0, None) as nothing:
        pass
    with session.watcher.block(8.0, None) as report:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
        during = [event["data"] for event in events.sent if event["event"] == "subjects_changed"]
    *_, last = [event["data"] for event in events.sent if event["event"] == "subjects_changed"]
    assert {push["offer"] for push in during} == {None}
    assert (last["offer"], last["focus"]) == (report.subject.id, None)
    assert nothing.subject.id in [subject["subject"]["id"] for subject in last["subjects"]]
