"""What an inspection keeps from being printed, and what it does not."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator

import compilescope as cs
import pytest
import torch
from compilescope.isolation.muted_output import quiet
from torch._logging import _internal


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


def test_a_handler_of_the_users_hears_all() -> None:
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
