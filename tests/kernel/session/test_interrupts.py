"""Interrupts of work, on the main thread and beside it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from compilescope.progress.interrupts import REPEAT_SECONDS
from compilescope.progress.progress import Cancelled, Monitor
from compilescope.session.session import Session
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._inductor.graph import GraphLowering

WITHDRAWN = """
import sys, threading
from compilescope.progress import progress

def withdrawn():
    # As where the work ends before Python raises what `cancel` asked for.
    monitor = progress.Monitor()
    monitor._is_interrupted = True
    with monitor.interruptible():
        pass

thread = threading.Thread(target=withdrawn)
thread.start()
thread.join()
called = []
sys.settrace(lambda frame, event, _: called.append(frame.f_code.co_name))
len([withdrawn.__name__ for _ in range(3)])
(lambda: None)()
sys.settrace(None)
print(called)
"""


def test_work_that_is_cancelled_ends_between_two_steps() -> None:
    monitor = Monitor()

    def work() -> None:
        with monitor.interruptible():
            monitor.cancel()
            while True:
                pass

    with ThreadPoolExecutor(1) as pool, pytest.raises(Cancelled):
        pool.submit(work).result()


def test_a_debugger_works_after_an_interrupt_was_withdrawn() -> None:
    # In a process of its own: Python 3.11 used to hang in the first call that is traced.
    ended = subprocess.run(
        [sys.executable, "-c", WITHDRAWN], capture_output=True, text=True, timeout=600
    )
    assert "<lambda>" in ended.stdout, ended.stderr


class Watched:
    """Something that a weak reference can watch."""


def swallow_an_interrupt() -> None:
    """Interrupts this thread in a callback, where Python drops the exception."""
    watched = Watched()
    gone = weakref.ref(watched, lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda _: None)
        del watched
    assert gone() is None


def test_an_interrupt_that_a_callback_swallows_is_raised_at_the_next_step() -> None:
    monitor = Monitor()
    part = monitor.within(lambda step: None)
    before = signal.getsignal(signal.SIGINT)
    with monitor.keeping_interrupts():
        swallow_an_interrupt()
        assert part.cancelled
        with pytest.raises(KeyboardInterrupt):
            part.step("next")
        monitor.check()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_that_a_callback_swallows_ends_what_waits_for_a_process() -> None:
    def work() -> None:
        with Monitor().keeping_interrupts():
            swallow_an_interrupt()
            subprocess.run(["sleep", "1200"], check=True)

    threads = threading.enumerate()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert threading.enumerate() == threads


class Ending:
    """A context whose end takes longer than the repetition of an interrupt."""

    is_complete = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        time.sleep(4 * REPEAT_SECONDS)
        self.is_complete = True


def test_what_an_interrupt_ends_is_left_to_end() -> None:
    ending, in_finally = Ending(), []

    def work() -> None:
        with Monitor().keeping_interrupts():
            try:
                with ending:
                    signal.raise_signal(signal.SIGINT)
            finally:
                time.sleep(4 * REPEAT_SECONDS)
                in_finally.append("complete")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert ending.is_complete
    assert in_finally


def test_no_interrupt_follows_the_work() -> None:
    with Monitor().keeping_interrupts():
        swallow_an_interrupt()
    time.sleep(4 * REPEAT_SECONDS)


def test_a_handler_that_does_not_raise_is_called_once() -> None:
    called: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: called.append(number))
    try:
        with Monitor().keeping_interrupts():
            signal.raise_signal(signal.SIGINT)
            time.sleep(4 * REPEAT_SECONDS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called == [signal.SIGINT]


def turn_an_interrupt_into_an_error(*_: object, **__: object) -> None:
    """Raises what CPython 3.11 raises where an import is interrupted."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise TypeError("expected a message argument") from None


@pytest.mark.parametrize(
    ("owner", "name", "run"),
    [
        (InstructionTranslator, "run", False),
        (GraphLowering, "run", False),
        (GraphLowering, "run", True),
    ],
    ids=["capture", "code generation", "build"],
)
def test_what_an_interrupt_lets_fail_is_no_failure_of_the_variant(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, run: bool
) -> None:
    session = Session()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, turn_an_interrupt_into_an_error)
        with pytest.raises(KeyboardInterrupt):
            session.inspect(torch.sin, (torch.ones(2),), variants=["python"], run=run)
    for inspection in session.inspections.values():
        assert inspection.report.problems == []
        assert [variant.problems for variant in inspection.report.variants] in ([], [[]])
    report = session.inspect(torch.sin, (torch.ones(2),), variants=["python"], run=False)
    assert [variant.stage for variant in report.variants] == ["sources"]
