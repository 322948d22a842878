"""What an inspection keeps from being printed, and what it does not."""

from __future__ import annotations

import atexit
import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterator

import compilescope as cs
import pytest
import torch
from compilescope.isolation.muted_output import quiet
from compilescope.progress.progress import Progress
from compilescope.views import progress
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import clear_output, display
from torch._logging import _internal
from traitlets.config import Config


class Printed(logging.Handler):
    """Keeps what would be printed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@pytest.fixture
def printed() -> Iterator[list[str]]:
    """What Dynamo's and Inductor's loggers hand to a handler that is torch's own."""
    handler = Printed()
    loggers = [logging.getLogger(name) for name in ("torch._dynamo", "torch._inductor")]
    _internal.handlers.add(handler)
    for logger in loggers:
        logger.addHandler(handler)
    yield handler.texts
    for logger in loggers:
        logger.removeHandler(handler)


LOGGER = logging.getLogger("torch._dynamo.variables.tensor")


def test_only_warnings_of_this_thread_are_muted(printed: list[str]) -> None:
    other = threading.Thread(target=LOGGER.warning, args=("another thread's",))
    with quiet():
        LOGGER.warning("a warning")
        LOGGER.error("an error")
        other.start()
        other.join()
    LOGGER.warning("later")
    assert printed == ["an error", "another thread's", "later"]


@pytest.mark.slow
def test_why_cuda_graphs_are_skipped_is_in_the_report_and_not_printed(printed: list[str]) -> None:
    variants = {"graphs": cs.Variant(mode="reduce-overhead", cpp_wrapper=True)}
    report = cs.inspect(torch.sin, (torch.ones(4),), variants=variants, run=False)
    with quiet():
        logging.getLogger("torch._inductor.other").warning("not in the report")
    assert printed == ["not in the report"]
    assert report.variant("graphs").cuda_graphs is not None


def test_operators_without_a_c_shim_are_in_the_report_and_not_printed(printed: list[str]) -> None:
    report = cs.inspect(torch.linalg.eigh, (torch.eye(4),), variants=("cpp",), run=False)
    with quiet():
        logging.getLogger("torch._inductor.ir").warning("not in the report")
    assert printed == ["not in the report"]
    routes = report.compilation("0/0").routes
    assert "aten::_linalg_eigh" in [route.operator for route in routes]


class Tee:
    """A user's stream, whose `write` returns nothing."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        self.texts.append(text)


def test_a_stream_that_does_not_say_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    tee, numbers = Tee(), []
    monkeypatch.setattr("sys.stdout", tee)
    with quiet():
        other = threading.Thread(target=lambda: numbers.append(sys.stdout.write("text")))
        other.start()
        other.join()
    assert (tee.texts, numbers) == (["text"], [4])


class Holder:
    """Prints to the streams that it got when it was created."""

    def __init__(self) -> None:
        self.streams = sys.stdout, sys.stderr

    def print(self, text: str) -> None:
        for stream in self.streams:
            print(text, file=stream)
            stream.writelines([text])


def test_a_stream_that_is_held_from_before_is_muted_in_its_thread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    holder = Holder()
    other = threading.Thread(target=holder.print, args=("other,",))
    with quiet():
        with quiet():
            holder.print("inner")
        holder.print("outer")
        other.start()
        other.join()
    holder.print("later")
    assert capsys.readouterr() == ("other,\nother,later\nlater",) * 2
    assert not any("write" in vars(stream) for stream in holder.streams)


def test_blocks_of_two_threads_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    holder, is_muted, ends = Holder(), threading.Event(), threading.Event()

    def mute() -> None:
        with quiet():
            is_muted.set()
            ends.wait()
            holder.print("other")
            Holder().print("other")

    other = threading.Thread(target=mute)
    with quiet():
        other.start()
        is_muted.wait()
    Holder().print("between")
    ends.set()
    other.join()
    assert (sys.stdout, sys.stderr) == holder.streams
    assert not any("write" in vars(stream) for stream in holder.streams)
    holder.print("later")
    assert capsys.readouterr() == ("between\nbetweenlater\nlater",) * 2


def test_a_stream_that_the_subject_redirects_is_muted_too() -> None:
    text, streams = io.StringIO(), (sys.stdout, sys.stderr)
    with quiet(), contextlib.redirect_stdout(text):
        with quiet():
            print("muted")
        assert sys.stdout is text
    assert text.getvalue() == ""
    assert (sys.stdout, sys.stderr) == streams


def test_a_subject_replaces_or_removes_the_write_of_a_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    replaced, removed = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stdout", replaced)
    monkeypatch.setattr("sys.stderr", removed)
    with quiet():
        vars(replaced)["write"] = texts.append
        del vars(removed)["write"]
    sys.stdout.write("text")
    assert (sys.stdout, sys.stderr) == (replaced, removed)
    assert (texts, vars(removed)) == (["text"], {})


def test_torchs_handlers_write_to_a_stream_from_before(capsys: pytest.CaptureFixture[str]) -> None:
    handler, logger = logging.StreamHandler(sys.stderr), logging.getLogger("torch._dynamo")
    logger.addHandler(handler)
    try:
        with quiet():
            logger.error("an error")
    finally:
        logger.removeHandler(handler)
    assert "an error" in capsys.readouterr().err


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts that IPython's publisher gets, and where it was asked to clear the output."""
    texts: list[str] = []

    class Publisher(DisplayPublisher):
        def publish(self, data: dict[str, str], *_: object, **__: object) -> None:
            texts.append(data["text/plain"])

        def clear_output(self, wait: bool = False) -> None:
            texts.append("cleared")

    config = Config()
    config.HistoryManager.enabled = False
    before = sys.displayhook
    shell = InteractiveShell.instance(config=config)
    shell.display_pub = Publisher()
    monkeypatch.setattr(progress.ipython_shell, "kernel", lambda: object())
    yield texts
    InteractiveShell.clear_instance()
    atexit.unregister(shell.atexit_operations)
    sys.displayhook = before


def test_what_a_subject_displays_or_clears_is_muted_in_its_thread(displayed: list[str]) -> None:
    def draw(text: str) -> None:
        clear_output(wait=True)
        display(text)

    other = threading.Thread(target=draw, args=("other",))
    with quiet():
        with quiet():
            draw("inner")
        draw("outer")
        other.start()
        other.join()
    draw("later")
    assert displayed == ["cleared", "'other'", "cleared", "'later'"]


def test_the_progress_in_the_cell_goes_on_while_the_subject_is_muted(displayed: list[str]) -> None:
    with progress.Line() as line, quiet():
        line.show(Progress(step="timing"))
        display("the subject's")
    assert displayed[0].startswith("starting")
    assert any(text.startswith("timing") for text in displayed)
    assert not any("the subject's" in text for text in displayed)


def test_what_a_subject_logs_is_muted_in_its_thread() -> None:
    handler, logger = Printed(), logging.getLogger("train")
    logger.addHandler(handler)
    other = threading.Thread(target=logger.warning, args=("another thread's",))
    try:
        with quiet():
            logger.warning("a step")
            other.start()
            other.join()
        logger.warning("later")
    finally:
        logger.removeHandler(handler)
    assert handler.texts == ["another thread's", "later"]


def test_an_inspection_repeats_no_output_of_the_subject(displayed: list[str]) -> None:
    handler, logger = Printed(), logging.getLogger("train")
    logger.addHandler(handler)

    def step(x: torch.Tensor) -> torch.Tensor:
        display("loss")
        logger.warning("a step")
        return x + 1

    try:
        cs.inspect(step, (torch.ones(3),), variants="python", run=False)
    finally:
        logger.removeHandler(handler)
    assert handler.texts == []
    assert not [text for text in displayed if "loss" in text]


def test_a_handler_of_the_users_gets_all_of_torchs() -> None:
    handler, logger = Printed(), logging.getLogger("torch._dynamo")
    logger.addHandler(handler)
    try:
        with quiet():
            LOGGER.warning("a warning")
    finally:
        logger.removeHandler(handler)
    assert handler.texts == ["a warning"]


def test_who_chose_what_torch_logs_sees_it(
    printed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_internal.log_state, "artifact_names", {"graph_breaks"})
    with quiet():
        LOGGER.warning("a warning")
    assert printed == ["a warning"]


def test_a_graph_break_is_in_the_report_and_not_in_the_cell(printed: list[str]) -> None:
    def fn(x: torch.Tensor) -> float:
        return float(x.sum().item())

    _internal.warning_once.cache_clear()  # torch warns once in a process
    report = cs.inspect(fn, (torch.ones(3),), variants="python", run=False)
    breaks = report.variant("python").compilations[0].breaks
    assert ["item()" in graph_break.reason for graph_break in breaks] == [True]
    assert printed == []
