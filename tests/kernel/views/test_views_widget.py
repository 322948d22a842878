"""The switches above a report, and the display that holds both."""

from __future__ import annotations

import atexit
import contextvars
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from compilescope import extras
from compilescope.comms.messages import Choices
from compilescope.progress.progress import Progress
from compilescope.report import Report, VariantReport
from compilescope.report.errors import CompilescopeError
from compilescope.report.variant import Variant
from compilescope.views import display
from compilescope.views.report_switches import ReportWidget
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from ..views_report import report


class FakeSession:
    """Adds what it is asked to the report, or fails as told."""

    def __init__(self) -> None:
        self.report = report()
        self.added: list[tuple[str, Variant, bool]] = []
        self.error: BaseException | None = None
        self.seen: list[str] = []
        self.watch: Callable[[], str] = lambda: ""

    def choices(self) -> Choices:
        modes = ["default", "max-autotune"]
        return Choices(backends=["aot_eager", "inductor"], modes=modes, targets=[])

    def add(self, subject: str, variant: Variant, *, run: bool, progress: Any) -> Report:
        progress(Progress(step="generating", fraction=0.5, variant="new"))
        self.seen.append(self.watch())
        if self.error is not None:
            raise self.error
        self.added.append((subject, variant, run))
        self.report.variants.append(VariantReport(name=f"v{len(self.added)}", requested=variant))
        return self.report


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
def shown() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def widget(session: FakeSession, shown: list[dict[str, Any]]) -> ReportWidget:
    widget = ReportWidget()
    widget.fill(session.report, session, lambda report, **sides: shown.append(sides))
    return widget


def test_it_starts_as_the_report_is(widget: ReportWidget, session: FakeSession) -> None:
    assert widget.variant() == Variant()
    assert session.added == []
    assert widget.switches.selected_index is None


def test_a_switch_generates_sources_and_shows_them(
    widget: ReportWidget, session: FakeSession, shown: list[dict[str, Any]]
) -> None:
    widget.mode.value = "max-autotune"
    widget.cpp_wrapper.value = True
    widget.dynamic.value = "off"
    variant = Variant(mode="max-autotune", cpp_wrapper=True, dynamic=False)
    assert session.added[-1] == ("s1", variant, False)
    assert shown == [{"left": "v1"}, {"right": "v2"}, {"right": "v3"}]
    assert widget.status.value == "<b>v3</b>: sources only"
    assert widget.progress.layout.display == "none"


def test_run_builds_what_the_switches_say(widget: ReportWidget, session: FakeSession) -> None:
    widget.fullgraph.value = True
    widget.run.click()
    assert session.added[-1] == ("s1", Variant(fullgraph=True), True)


def test_another_backend_leaves_inductors_switches_out(
    widget: ReportWidget, session: FakeSession
) -> None:
    widget.cpp_wrapper.value = True
    widget.backend.value = "aot_eager"
    assert session.added[-1][1] == Variant(backend="aot_eager")
    assert widget.mode.disabled
    assert widget.cpp_wrapper.disabled
    widget.backend.value = "inductor"
    assert session.added[-1][1] == Variant(cpp_wrapper=True)
    assert not widget.cpp_wrapper.disabled


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CompilescopeError("Busy <now>.", remedy="Wait."), "Busy &lt;now&gt;. Wait."),
        (KeyboardInterrupt(), "Interrupted: the results so far are kept."),
    ],
)
def test_what_fails_is_said(
    widget: ReportWidget, session: FakeSession, error: BaseException, message: str
) -> None:
    session.error = error
    widget.cpp_wrapper.value = True
    assert widget.status.value == f"<b>Not done.</b> {message}"


def test_the_unexpected_is_said_and_raised(widget: ReportWidget, session: FakeSession) -> None:
    session.error = RuntimeError("boom")
    with pytest.raises(RuntimeError, match="boom"):
        widget.cpp_wrapper.value = True
    assert widget.status.value == "<b>Not done.</b> RuntimeError: boom"


def test_it_has_a_face_without_widgets(widget: ReportWidget) -> None:
    data, _ = widget._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    # It is shown where there is no kernel, and where JupyterLab lacks its half of ipywidgets.
    assert "the kernel that made it" in data["text/plain"]
    assert "jupyterlab_widgets" in data["text/plain"]


class Loop:
    """A kernel's loop: keeps the calls that other threads leave."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def add_callback(self, call: Callable[..., None], *args: Any) -> None:
        self.calls.append(lambda: call(*args))


def in_a_thread(call: Callable[[], None]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def test_a_message_from_a_subshell_waits_for_the_main_thread(
    session: FakeSession, shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, setting = Loop(), contextvars.ContextVar("setting", default="torch's")
    running = type("Shell", (), {"kernel": type("Kernel", (), {"io_loop": loop})})
    monkeypatch.setattr("compilescope.ipython_shell.current", lambda: running)
    before = signal.getsignal(signal.SIGINT)
    setting.set("the user's")
    widget = ReportWidget()
    widget.fill(session.report, session, lambda report, **sides: shown.append(sides))
    session.watch = lambda: (
        f"{threading.current_thread() is threading.main_thread()} {setting.get()} "
        f"{signal.getsignal(signal.SIGINT) is signal.default_int_handler}"
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as ipykernel between two messages
    try:
        in_a_thread(lambda: setattr(widget.cpp_wrapper, "value", True))
        assert session.added == []
        assert widget.status.value == "waiting for the kernel"
        loop.calls.pop()()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert session.seen == ["True the user's True"]
    assert shown == [{"right": "cpp"}]


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """What a kernel's front end would be sent: ("display" or "update", data)."""
    sent: list[tuple[str, dict[str, Any]]] = []
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.kernel = object()  # type: ignore[attr-defined]

    def publish(data: dict[str, Any], *, update: bool = False, **_: Any) -> None:
        sent.append(("update" if update else "display", data))

    monkeypatch.setattr(shell.display_pub, "publish", publish)
    yield sent
    InteractiveShell.clear_instance()
    # It would look for garbage as the process ends; its history is nobody's.
    atexit.unregister(shell.atexit_operations)


def test_progress_gives_way_to_the_report(
    session: FakeSession, published: list[tuple[str, dict[str, Any]]]
) -> None:
    with display.Display(session, name="mine") as place:
        place.progress(Progress(step="building <C++>", fraction=0.25, variant="cpp"))
        place.show(session.report)
    kinds = [kind for kind, _ in published]
    assert kinds == ["display", "display", "update", "update"]
    assert "application/vnd.jupyter.widget-view+json" in published[0][1]
    assert "cpp: building &lt;C++&gt;" in published[2][1]["text/html"]
    assert "(25 %)" in published[2][1]["text/plain"]
    assert set(published[3][1]) == {"text/html", "text/plain"}
    assert 'mine.save("report.html")' in published[3][1]["text/plain"]


def test_with_a_panel_the_switches_are_left_to_it(
    session: FakeSession, published: list[tuple[str, dict[str, Any]]]
) -> None:
    with display.Display(session, panel=lambda: True) as place:
        place.show(session.report)
    assert [kind for kind, _ in published] == ["display", "update"]
    assert "Open in the panel" in published[-1][1]["text/html"]


def test_a_panel_that_comes_during_the_work_shows_the_rest(
    session: FakeSession, published: list[tuple[str, dict[str, Any]]]
) -> None:
    connected = False
    with display.Display(session, panel=lambda: connected) as place:
        connected = True
        place.show(session.report)
    assert "Open in the panel" in published[-1][1]["text/html"]
    assert place._box.children == ()


@pytest.mark.parametrize("connected", [False, True])
def test_a_panel_stands_below_the_report_unless_one_is_connected(
    session: FakeSession, published: list[tuple[str, dict[str, Any]]], *, connected: bool
) -> None:
    below = {"application/x-panel": "mine"}
    with display.Display(
        session, switches=False, panel=lambda: connected, below=lambda shown: Bundle(below)
    ) as place:
        place.show(session.report)
        place.show(session.report)
    panels = [data for kind, data in published if kind == "display"][1:]
    assert [panel["application/x-panel"] for panel in panels] == ([] if connected else ["mine"])
    assert "text/html" in published[-1][1]


class Bundle:
    """Displays itself as given."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self._data


def test_switches_that_are_missing_are_told(
    session: FakeSession,
    published: list[tuple[str, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "compilescope.views.report_switches", None)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with display.Display(session) as place:
        place.show(session.report)
    item = published[0][1]["text/plain"]
    assert item.endswith("no switches: ipywidgets is not installed (pip install ipywidgets).")
    assert "text/html" in published[-1][1]


def test_progress_does_not_flicker_and_an_interrupt_ends_it(
    session: FakeSession, published: list[tuple[str, dict[str, Any]]]
) -> None:
    def work() -> None:
        with display.Display(session, switches=False) as place:
            for _ in range(50):
                place.progress(Progress(step="again"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert [kind for kind, _ in published] == ["display", "update", "update"]
    assert published[-1][1] == {"text/plain": "", "text/html": ""}
