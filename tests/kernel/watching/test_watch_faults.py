"""Watching leaves nothing behind, and its faults reach no code of the user's."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.progress.interrupts import interrupt_main_thread
from compilescope.report import Compilation
from compilescope.session.session import get_session
from compilescope.watching.running_code import watching
from compilescope.watching.watch import Watch

from .watch_subjects import EAGER, installed, latest, plain

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def test_nothing_is_installed_while_it_is_off() -> None:
    torch.compile(plain, **EAGER)(torch.ones(3))  # torch's own handler leaves at the first event
    before = installed()
    with cs.watch():
        assert installed() != before
        torch.compile(lambda x: x - 7, **EAGER)(torch.ones(3))
    assert installed() == before


def test_nothing_is_left_when_hooks_end_in_another_order() -> None:
    torch.compile(plain, **EAGER)(torch.ones(3))
    before = installed()
    watcher = get_session().watcher
    watcher.on()
    with cs.watch(), watching():
        watcher.off()
        torch.compile(lambda x: x - 8, **EAGER)(torch.ones(3))
    assert installed() == before


def test_the_report_is_whole_after_an_exception() -> None:
    def fails() -> None:
        torch.compile(plain, **EAGER)(torch.ones(3))
        raise ValueError("the user's own")

    with pytest.raises(ValueError, match="the user's own"), cs.watch() as report:
        fails()
    assert len(report.compilations) == 1


def test_compiled_code_behaves_the_same() -> None:
    x = torch.randn(5)
    unwatched = torch.compile(plain)(x)
    torch._dynamo.reset()
    with cs.watch():
        watched = torch.compile(plain)(x)
    assert torch.equal(unwatched, watched)


def test_what_torch_compiles_in_eager_code_is_no_patch_of_ours() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def outer(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return torch._dynamo.optimize("eager")(inner)(x) * 2

    def frames(watch: Callable[[], Any]) -> list[str]:
        torch._dynamo.reset()
        records: list[Any] = []
        from compilescope.capture.live import recording

        with watch(), recording(records, shared=True):
            torch.compile(outer, **EAGER)(torch.ones(3))
        return [
            record.metadata["dynamo_start"]["stack"][-1]["name"]
            for record in records
            if record.event == "dynamo_start"
        ]

    assert frames(cs.watch) == frames(contextlib.nullcontext)


def test_a_failing_handler_is_a_problem_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("compilescope.watching.watch.current_origin", fails)
    with cs.watch() as report:
        assert torch.equal(torch.compile(plain, **EAGER)(torch.ones(2)), plain(torch.ones(2)))
    (problem,) = report.problems
    assert problem.severity == "error"
    assert "out of order" in problem.what
    assert "Your code kept running" in problem.why
    assert latest().state().problem == problem


def test_records_that_cannot_be_read_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> list[Compilation]:
        raise RuntimeError("unreadable")

    monkeypatch.setattr("compilescope.watching.log.assemble", fails)
    with cs.watch() as report:
        torch.compile(plain, **EAGER)(torch.ones(3))
    (compilation,) = report.compilations
    assert compilation.frame is not None
    assert "could not read" in compilation.absent["compilation"]
    assert "unreadable" in report.problems[0].what


def test_a_watch_resumed_after_an_interrupted_stop_has_one_thread() -> None:
    others, busy, go_on = set(threading.enumerate()), threading.Event(), threading.Event()

    def changed() -> None:
        busy.set()
        go_on.wait(600)

    watch = Watch(changed=changed)
    watch.start()
    watch.raised(ValueError("a reason to send an update"))
    assert busy.wait(600)
    (first,) = set(threading.enumerate()) - others

    def interrupt() -> None:
        assert watch._stopping.wait(600)
        time.sleep(0.1)
        interrupt_main_thread()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        watch.stop()
    watch.start()
    go_on.set()
    end = time.monotonic() + 600
    while first in threading.enumerate():
        assert time.monotonic() < end
        time.sleep(0.01)
    watch.stop()


def test_an_interrupt_in_the_middle_leaves_the_watch_working() -> None:
    def interrupted(graph: Any, inputs: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            threading.Event().wait(0.01)
        return graph

    with cs.watch() as report:
        with pytest.raises(KeyboardInterrupt):
            torch.compile(plain, backend=interrupted)(torch.ones(3))
        torch.compile(lambda x: x - 9, **EAGER)(torch.ones(3))
        assert len(report.compilations) == 2
    cut, whole = report.compilations
    assert "guards" in cut.absent
    assert whole.guards
    assert report.problems == []


def test_a_watch_that_begins_and_ends_in_the_middle() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slow(graph: Any, inputs: Any) -> Any:
        reached.set()
        assert go_on.wait(600)
        return graph

    def compile_one() -> None:
        torch.compile(plain, backend=slow)(torch.ones(3))

    def halfway() -> threading.Thread:
        torch._dynamo.reset()
        reached.clear()
        go_on.clear()
        thread = threading.Thread(target=compile_one)
        thread.start()
        assert reached.wait(600)
        return thread

    thread = halfway()
    with cs.watch() as begun:
        go_on.set()
        thread.join()
    (compilation,) = begun.compilations
    assert "in the middle" in compilation.absent["start"]

    with cs.watch() as ended:
        thread = halfway()
        assert ended.compilations == []
        assert latest().state().latest[0].duration_s is None
    go_on.set()
    thread.join()
    (compilation,) = ended.compilations
    assert "before this compilation did" in compilation.absent["end"]


def test_on_twice_and_off_twice() -> None:
    watcher = get_session().watcher
    before = installed()
    try:
        first = watcher.on()
        assert watcher.on() is first
        torch.compile(plain, **EAGER)(torch.ones(3))
        assert watcher.off()
        assert not watcher.off()
        assert len(first.report.compilations) == 1
        assert watcher.on() is first
        torch.compile(lambda x: x - 11, **EAGER)(torch.ones(3))
        assert len(first.report.compilations) == 2
        watcher.clear()
        assert first.report.compilations == []
        assert first.is_on
        torch.compile(lambda x: x - 12, **EAGER)(torch.ones(3))
        assert len(first.report.compilations) == 1
        assert watcher.on(memory_mb=1) is not first
    finally:
        watcher.off()
        get_session().forget(watcher.state().subject)
    assert watcher.switch is None
    assert installed()["threads"] == before["threads"] == []


def test_a_graph_that_is_printed_while_others_are_read_keeps_its_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = Watch()._watch_log
    take = log.group_events

    def take_and_compile() -> None:
        take()
        log.printed["of another thread"] = []

    log.printed["read by now"] = []
    monkeypatch.setattr(log, "group_events", take_and_compile)
    log.refresh()
    assert list(log.printed) == ["of another thread"]
