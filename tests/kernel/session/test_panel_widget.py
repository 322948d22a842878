"""The panel in a cell's output: the comms' answers over a widget, without a browser."""

from __future__ import annotations

import base64
import contextvars
import gzip
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope import extras
from compilescope.comms.endpoints import Endpoints
from compilescope.comms.messages import MESSAGE_BYTES, PART_BYTES
from compilescope.panel import opening, panel_below
from compilescope.panel.channel import Channel
from compilescope.panel.front_end import Page
from compilescope.panel.service import PanelService
from compilescope.panel.widget import PanelWidget
from compilescope.session.session import Session
from compilescope.views import saved_page as pages

from ..panel import request
from ..views_report import report

PARENT: contextvars.ContextVar[str] = contextvars.ContextVar("parent", default="a cell")


class FakeWidget:
    """A widget whose views are the test."""

    def __init__(self) -> None:
        # As ipykernel 7.4 leaves a comm that the main thread opened.
        self.comm: Any = SimpleNamespace(_reply_subshell_id=None)
        self.sent: list[dict[str, Any]] = []
        self.published_by: list[str] = []

    def send(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self.sent.append(content)
        self.published_by.append(PARENT.get())

    @property
    def replies(self) -> list[dict[str, Any]]:
        return [message["data"] for message in self.sent if message["kind"] == "reply"]

    def events(self, name: str) -> list[dict[str, Any]]:
        events = [message["data"] for message in self.sent if message["kind"] == "event"]
        return [event["data"] for event in events if event["event"] == name]


class Panel:
    """A panel of ``attend``, where ``later`` was inspected after it."""

    def __init__(self) -> None:
        self.session = Session()
        self.endpoints = Endpoints(self.session)
        self.report = self.session.inspect(
            lambda x: x.sin(), (torch.ones(3),), variants="python", run=False
        )
        self.session.inspect(lambda x: x.cos(), (torch.ones(3),), variants="python", run=False)
        self.subject = self.report.subject.id
        self.widget = FakeWidget()
        self.channel = Channel(self.widget)
        self.service = PanelService(self.session, self.endpoints, self.subject, self.channel)

    def ask(self, command: str, **arguments: Any) -> Any:
        self.channel.note_request()
        self.service.answer(request(command, **arguments))
        reply = self.widget.replies[-1]
        assert reply["error"] is None, reply["error"]
        return reply["result"]


@pytest.fixture
def panel() -> Any:
    connected = Panel()
    yield connected
    connected.endpoints.close()


def test_it_opens_on_its_own_subject(panel: Panel) -> None:
    first, second = panel.ask("hello")["subjects"]
    assert first["subject"]["id"] == panel.subject
    assert second["subject"]["id"] != panel.subject
    assert panel.ask("get_report", subject=panel.subject)["variants"][0]["name"] == "python"


def test_it_does_not_turn_to_what_later_cells_inspect(panel: Panel) -> None:
    panel.ask("hello")
    panel.session.inspect(lambda x: x.tan(), (torch.ones(3),), variants="python", run=False)
    events = panel.widget.events("subjects_changed")
    assert len(events[-1]["subjects"]) == 3
    assert {event["focus"] for event in events} == {None}
    # A cell's output is the answer alone only beside a panel that shows what cells inspect.
    assert not panel.endpoints.is_heard()


def test_a_job_starts_by_itself(panel: Panel) -> None:
    added = panel.ask("add_variant", subject=panel.subject, variant={"cpp_wrapper": True})
    assert added["code"] == ""
    states = [event["job"]["state"] for event in panel.widget.events("job_changed")]
    assert states[0] == "queued"
    assert states[-1] == "done"
    assert panel.report.variant("cpp").compilations[0].code.cpp


def test_events_are_published_as_by_the_last_request(panel: Panel) -> None:
    assert vars(panel.widget.comm) == {}

    def ask() -> None:
        PARENT.set("a request")
        panel.ask("hello")

    contextvars.copy_context().run(ask)
    panel.session.watcher.on()
    panel.session.watcher.off()
    assert panel.widget.events("watch_changed")
    assert set(panel.widget.published_by) == {"a request"}


def test_the_first_report_of_a_process_has_a_panel() -> None:
    # Each process imports compilescope.panel when a report first asks for one.
    code = "import compilescope as cs; print(cs.report.panels['widget'].__name__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "panel\n", ran.stderr


def test_the_front_end_goes_out_compressed_and_in_parts() -> None:
    live = pages.render_live()
    assert live is not None
    before_script, _, _ = live.partition("<script>")
    assert 'id="layout-worker"' in before_script
    assert 'id="report"' not in before_script
    parts = list(Page(live).parts())
    # In base64, as some hosts pass buffers, there is room for the envelope too.
    assert all(len(base64.b64encode(piece)) <= PART_BYTES < MESSAGE_BYTES for _, piece in parts)
    assert [part.part for part, _ in parts] == list(range(parts[0][0].parts))
    assert gzip.decompress(b"".join(piece for _, piece in parts)).decode() == live
    assert {part.key for part, _ in parts} == {Page(live).key} != {Page("else").key}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """What widgets send."""
    all_sent: list[tuple[Any, Any]] = []
    monkeypatch.setattr(
        PanelWidget,
        "send",
        lambda self, content, buffers=None: all_sent.append((content, buffers)),
    )
    return all_sent


def test_a_report_from_a_file_is_shown_as_a_saved_page(
    sent: list[tuple[Any, Any]], tmp_path: Path
) -> None:
    report().save(tmp_path / "x.json")
    loaded = cs.load(tmp_path / "x.json")
    shown = opening.widget(loaded)
    assert shown.service is None
    shown._handle_custom_msg({"kind": "page", "request": None}, [])
    packed = b"".join(buffers[0] for _, buffers in sent)
    assert gzip.decompress(packed).decode() == pages.render(loaded)


def test_senseless_messages_are_dropped(sent: list[tuple[Any, Any]]) -> None:
    shown = opening.widget(report())
    for content in ({}, {"kind": "else"}, "x", {"kind": "request", "request": None}):
        shown._handle_custom_msg(content, [])
    assert sent == []


def test_its_output_has_the_report_for_those_who_cannot_show_it() -> None:
    data, _ = opening.widget(report())._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<table" in data["text/html"]
    assert data["text/plain"] == str(report())
    # In a script or terminal, IPython's display prints it.
    assert str(opening.widget(report())) == str(report())


def test_below_the_report_its_output_does_not_repeat_it() -> None:
    data, _ = panel_below(report())._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<table" not in data["text/html"]
    assert data["text/plain"] in data["text/html"]
    assert "needs a notebook that runs widgets" in data["text/plain"]


def test_without_anywidget_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(cs.CompilescopeError, match=r"no panel.*pip install anywidget"):
        report().panel()


def test_without_the_built_front_end_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_BUILT", Path("nowhere"))
    with pytest.raises(cs.CompilescopeError, match="without its front end"):
        opening.widget(report())
