"""Interrupts of work beside the main thread."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from compilescope.progress.progress import Cancelled, Monitor

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
