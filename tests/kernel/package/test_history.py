"""How long work took before, kept in a file, and what is said of it while its like runs."""

from __future__ import annotations

import io
import re
import threading
import time
import types
from pathlib import Path

import pytest
import torch
from compilescope.analysis.figures.time_words import time_text
from compilescope.jobs.jobs import Job, Jobs
from compilescope.jobs.runner import Work
from compilescope.progress import history
from compilescope.progress.history import History, UsualDuration
from compilescope.progress.progress import Progress
from compilescope.session.session import Session
from compilescope.views import progress


def test_nothing_is_said_of_what_was_never_done_or_is_short(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert history.usual("build") is None
    history.add("build", 0.4)
    assert history.usual("build") is None


def test_the_last_times_count_and_another_kernel_knows_them(tmp_path: Path) -> None:
    history = History(tmp_path)
    for seconds in (500, 30, 41, 39, 33, 36):
        history.add("build", seconds)
    assert History(tmp_path).usual("build") == UsualDuration(about_s=35, longest_s=41)
    assert history.usual("measure") is None
    assert [file.name for file in tmp_path.iterdir()] == ["history.json"]


def test_the_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KINDS", 3)
    durations = History(tmp_path)
    for kind in "abcab":
        durations.add(kind, 9)
    durations.add("d", 9)
    assert [durations.usual(kind) is None for kind in "abcd"] == [False, False, True, False]


@pytest.mark.parametrize("text", ["{", '{"build": "long"}', "[]", "\udcff"])
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "history.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    history = History(tmp_path)
    assert history.usual("build") is None
    history.add("build", 9)
    assert history.usual("build") == UsualDuration(about_s=9, longest_s=9)


def test_a_folder_that_cannot_be_written_costs_the_estimate_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file")
    history.add("build", 9)
    assert history.usual("build") is None


@pytest.mark.parametrize(
    ("elapsed", "usual", "text"),
    [
        (0.4, None, ""),
        (12.9, None, "12 s"),
        (0.4, UsualDuration(about_s=40, longest_s=45), "expected: about 40 s"),
        (12.9, UsualDuration(about_s=80, longest_s=90), "12 s of about 1 min 20 s"),
        (30.0, UsualDuration(about_s=40, longest_s=45), "30 s"),
        (12.9, UsualDuration(about_s=80, longest_s=190, is_rough=True), "12 s"),
        (42.0, UsualDuration(about_s=40, longest_s=45), "42 s"),
        (125.0, UsualDuration(about_s=40, longest_s=45), "2 min 05 s, longer than expected"),
    ],
)
def test_the_words_for_the_time_that_passes(
    elapsed: float, usual: UsualDuration | None, text: str
) -> None:
    assert time_text(elapsed, usual) == text


def test_a_cell_shows_the_time_within_a_step_and_nothing_once_it_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    marks: list[dict[str, str]] = []
    ticked = threading.Event()

    def publish(data: dict[str, str], metadata: dict[str, str], **_: object) -> None:
        shown.append(data["text/plain"])
        marks.append(metadata)
        if len(shown) > 3:
            ticked.set()

    class Handle:
        display_id = "1"

        def display(self, bundle: dict[str, str], raw: bool, metadata: dict[str, str]) -> None:
            publish(bundle, metadata)

    publisher = types.SimpleNamespace(publish=publish)
    shell = types.SimpleNamespace(display_pub=publisher)
    monkeypatch.setattr(progress.ipython_shell, "kernel", lambda: object())
    monkeypatch.setattr(progress.ipython_shell, "current", lambda: shell)
    monkeypatch.setattr("IPython.display.DisplayHandle", Handle)
    monkeypatch.setattr(progress, "_CLOCK_S", 0.001)
    line = progress.Line()
    line.start()
    usual = UsualDuration(about_s=4000, longest_s=4500)
    line.show(Progress(step="building", began=time.monotonic() - 12.5, usual=usual))
    ticked.wait()
    line.clear()
    assert shown[0] == "starting …"
    for text in shown[1], shown[-1]:
        assert _seconds(r"building, (\d+) s of about .+ …", text) >= 12
    # By this the front end finds it after a restart.
    assert all(mark == {"compilescope": "unfinished"} for mark in marks)
    count = len(shown)
    line.clock.join()
    assert len(shown) == count


def test_a_second_job_in_a_cell_goes_on_with_the_time_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = types.SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(progress, "time", clock)
    line = progress.Line()
    began = clock.monotonic() - 125.5
    line.show(Progress(step="timing", began=began, usual=UsualDuration(about_s=400, longest_s=450)))
    later = Progress(
        step="layers", began=began + 120, usual=UsualDuration(about_s=20, longest_s=20)
    )
    line.show(later)
    assert line._words(later) == "2 min 05 s in total"


def test_a_bar_never_goes_back() -> None:
    line = progress.Line()
    shown = [
        Progress(step="compiling again", fraction=0.9, began=1.0),
        Progress(step="time by layer", fraction=0.8, began=1.0),
        Progress(step="a later job", fraction=0.1, began=2.0),
        Progress(step="its end", fraction=0.95, began=2.0),
    ]
    line.show(shown[0])
    assert [line._fraction(now) for now in shown] == [0.9, 0.9, None, 0.95]


def test_a_terminal_shows_the_time_within_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    ticked = threading.Event()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            if self.getvalue().count("building") > 2:
                ticked.set()
            return super().write(text)

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "_CLOCK_S", 0.001)
    with progress.Line(in_cells=False) as line:
        line.show(Progress(step="building", began=time.monotonic() - 12.5))
        ticked.wait()
    line.clock.join()
    assert _seconds(r"(?s).*\r\033\[Kbuilding \((\d+) s in total\) ….*", terminal.getvalue()) >= 12
    assert terminal.getvalue().endswith("\r\033[K")


def _seconds(pattern: str, text: str) -> int:
    """The number that the text shows: how long a busy machine takes is not known."""
    match = re.fullmatch(pattern, text)
    assert match is not None, text
    return int(match[1])


class Signaled(io.StringIO):
    """A file that tells when lines have been written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def flush(self) -> None:
        if self.getvalue().count("\n") > 1:
            self.written.set()


def test_long_work_gives_a_sign_of_life_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = Signaled()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(progress, "_CLOCK_S", 0.001)
    with progress.Line() as line:
        line.show(Progress(step="building", variant="python", began=time.monotonic() - 12.5))
        line.clock.join(0.05)
        assert file.getvalue() == ""
        monkeypatch.setattr(progress, "_PLAIN_S", 0.01)
        # What the work prints is caught meanwhile.
        monkeypatch.setattr("sys.stderr", io.StringIO())
        assert file.written.wait(600)
    line.clock.join()
    for text in file.getvalue().splitlines():
        assert _seconds(r"compilescope: python: building \((\d+) s in total\) …", text) >= 12


class Unread(io.StringIO):
    """A pipe whose reader has ended."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_work_goes_on_where_nothing_reads_its_signs_of_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr", Unread())
    monkeypatch.setattr(progress, "_PLAIN_S", 0.0)
    with progress.Line() as line:
        line.show(Progress(step="building"))


def test_inspecting_in_a_cell_leaves_its_output_to_the_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress.ipython_shell, "kernel", lambda: object())
    with progress.Line(in_cells=False) as line:
        assert line.handle is None
    assert not line.clock.is_alive()


def test_a_job_knows_its_like_and_only_what_is_done_is_kept() -> None:
    states: list[Job] = []
    jobs = Jobs(changed=states.append, kind_of=lambda job: f"test of {job.subject}")
    history = History()
    history.add("test of f", 20)
    steps: list[Progress] = []
    job = jobs.new("f", ["python"], Work())
    with jobs.running(job, steps.append) as monitor:
        monitor.step("tracing")
    assert job.usual == UsualDuration(about_s=20, longest_s=20)
    assert steps[0].usual == job.usual
    assert steps[0].began == pytest.approx(job.since)
    assert jobs.has_built
    cancelled = jobs.new("g", ["python"], Work())
    history.add("test of g", 20)
    with jobs.running(cancelled) as monitor:
        monitor.cancel()
        monitor.step("tracing")
    assert history.usual("test of g") == UsualDuration(about_s=20, longest_s=20)
    # The short one pulls the median down to where nothing is said.
    assert history.usual("test of f") == UsualDuration(about_s=10, longest_s=20, is_rough=True)


def test_a_kind_is_of_the_work_the_variants_the_size_and_the_machine() -> None:
    session = Session()
    kinds: list[str] = []
    kind_of = session.jobs._kind_of
    session.jobs._kind_of = lambda job: kinds.append(kind_of(job)) or kinds[-1]  # type: ignore[func-returns-value]
    for layers in (1, 1, 40):
        model = torch.nn.Sequential(*[torch.nn.ReLU() for _ in range(layers)])
        session.inspect(model, (torch.ones(3),), variants="python", run=False)
    assert kinds[0] == kinds[1] != kinds[2]
    report = session.inspect(model, (torch.ones(3),), variants="eager", run=False)
    assert "eager new" in kinds[3]
    assert report.environment.torch in kinds[3]
    session.add(report.subject.id, report.variants[0].requested)
    assert "eager sources" in kinds[4]
