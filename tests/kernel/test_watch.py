"""Watching: what is seen of code that knows nothing of it."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.compiler.watch import Watch
from compilescope.report import Compilation, Report
from compilescope.session import get_session
from torch._dynamo import convert_frame, eval_frame
from torch._logging import _internal

EAGER = {"backend": "eager"}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def installed() -> dict[str, object]:
    """Everything that watching touches in the process."""
    return {
        "handlers": list(_internal.trace_log.handlers),
        "compile": eval_frame._TorchDynamoContext.__call__,
        "print": torch.fx.GraphModule.print_readable,
        "trace": {
            vars(module)["trace_structured"]
            for name, module in list(sys.modules.items())
            if name.startswith("torch.") and "trace_structured" in vars(module)
        },
        "hooks": dict(convert_frame._bytecode_hooks),
        "threads": [one.name for one in threading.enumerate() if one.name == "compilescope-watch"],
    }


def plain(x: torch.Tensor) -> torch.Tensor:
    return (x + 1) * 2


def ids(report: Report) -> list[str]:
    return [one.id for one in report.compilations]


def latest() -> Watch:
    found = list(get_session().inspections.values())[-1]
    assert isinstance(found, Watch)
    return found


def compiled_often(times: int) -> None:
    """Compiles as many functions that differ."""
    for number in range(times):
        namespace: dict[str, Any] = {}
        exec(f"def f{number}(x):\n    return x * {number} + 1", namespace)
        torch.compile(namespace[f"f{number}"], **EAGER)(torch.ones(3))


# --- what is seen --------------------------------------------------------------------------------


def test_a_compilation_is_there_as_soon_as_it_is_complete() -> None:
    with cs.watch() as report:
        assert report.subject.kind == "watch"
        assert report.compilations == []
        torch.compile(plain, **EAGER)(torch.ones(3))
        (one,) = report.compilations
    assert one.frame is not None
    assert one.frame.function == "plain"
    assert list(one.graphs) == ["dynamo"]
    assert one.guards
    assert one.duration_s is not None
    assert one.started_s is not None
    assert report.problems == []
    assert ids(report) == [one.id]


def test_the_call_is_the_line_that_says_compile() -> None:
    with cs.watch() as report:
        compiled = torch.compile(plain, **EAGER)

        @torch.compile(backend="eager")
        def decorated(x: torch.Tensor) -> torch.Tensor:
            return x - 1

        module = torch.nn.Linear(2, 2)
        module.compile(backend="eager")
        compiled(torch.ones(3))
        decorated(torch.ones(3))
        module(torch.ones(3, 2))
    calls = [one.call for one in report.compilations]
    assert [call.code if call else None for call in calls[:2]] == [
        "compiled = torch.compile(plain, **EAGER)",
        '@torch.compile(backend="eager")',
    ]
    assert all(call is not None and call.file == __file__ for call in calls)


def test_a_call_from_before_is_not_made_up() -> None:
    compiled = torch.compile(plain, **EAGER)
    with cs.watch() as report:
        compiled(torch.ones(3))
    (one,) = report.compilations
    assert one.call is None
    assert one.absent["call"].startswith(
        "torch.compile was called before watching began; it compiles plain (test_watch.py:"
    )


def test_a_recompile_says_why() -> None:
    with cs.watch() as report:
        compiled = torch.compile(plain, dynamic=False, **EAGER)
        for size in range(2, 5):
            compiled(torch.ones(size))
    assert len(report.compilations) == 3
    again = report.compilations[-1].recompile
    assert again is not None
    assert again.previous == report.compilations[1].id
    assert again.count == 3
    assert (again.failures[0].old, again.failures[0].new) == ("3", "4")


def test_breaks_and_what_follows_them_are_seen() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    with cs.watch() as report:
        torch.compile(broken, **EAGER)(torch.ones(3))
    first, resumed = report.compilations
    assert len(first.breaks) == 1
    assert resumed.frame is not None
    assert "resume" in resumed.frame.function
    assert first.call == resumed.call


def test_the_limit_is_seen() -> None:
    def often(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    with cs.watch() as report, torch._dynamo.config.patch(recompile_limit=2):
        compiled = torch.compile(often, dynamic=False, **EAGER)
        for size in range(2, 6):
            compiled(torch.ones(size))
    assert len(report.compilations) == 3
    last = report.compilations[-1]
    assert last.frame is not None
    assert last.frame.function == "often"
    assert last.recompile is not None
    assert latest().state().latest[0].failed == "Dynamo recompile limit exceeded"


def test_the_backward_joins_its_forward() -> None:
    weight = torch.ones(3, requires_grad=True)
    # From its caches torch takes the backward together with the forward.
    with cs.watch() as report, torch._inductor.config.patch(force_disable_caches=True):
        loss = torch.compile(lambda x: (x * weight).sin().sum())(torch.ones(3))
        (forward,) = report.compilations
        assert forward.code.backward is None
        loss.backward()
        (both,) = report.compilations
    assert both.id == forward.id
    assert both.code.backward is not None
    assert both.code.backward.python
    assert {kernel.direction for kernel in both.kernels} == {"forward", "backward"}
    assert report.problems == []


def test_a_backward_alone_says_so() -> None:
    weight = torch.ones(4, requires_grad=True)
    loss = torch.compile(lambda x: (x * weight).cos().sum())(torch.ones(4))
    with cs.watch() as report:
        loss.backward()
    for one in report.compilations:  # none where torch found the backward in its cache
        assert "only the backward" in one.absent["start"]


def test_the_same_is_seen_whoever_else_listens() -> None:
    """Alone a watch takes events where torch makes them; else it gets what torch logs."""

    def body(x: torch.Tensor) -> torch.Tensor:
        x = x.sin() + 1
        torch._dynamo.graph_break()
        return x.cos() * 2

    def seen() -> list[Any]:
        torch._dynamo.reset()
        settings = torch._inductor.config.patch(force_disable_caches=True)
        with settings, cs.watch() as report:
            compiled = torch.compile(body, dynamic=False)
            compiled(torch.ones(3))
            compiled(torch.ones(4))
        assert report.problems == []
        return [
            (
                {
                    name: re.sub(r"graph id: \d+", "", each.text)
                    for name, each in one.graphs.items()
                },
                [[node.name for node in graph.nodes] for graph in one.graphs.values()],
                [guard.expression for guard in one.guards],
                [each.reason for each in one.breaks],
                one.recompile.failures if one.recompile else None,
                [kernel.name for kernel in one.kernels],
                [phase.name for phase in one.phases],
                one.frame,
            )
            for one in report.compilations
        ]

    # Now, so that torch's own handler is gone, which leaves at the first event.
    torch.compile(plain, **EAGER)(torch.ones(3))
    alone, other = seen(), logging.NullHandler()
    _internal.trace_log.addHandler(other)
    try:
        beside = seen()
    finally:
        _internal.trace_log.removeHandler(other)
    assert len(alone) == 4
    assert alone == beside


def test_other_threads_are_seen() -> None:
    with cs.watch() as report:
        threads = [
            threading.Thread(target=lambda: torch.compile(plain, **EAGER)(torch.ones(3)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(report.compilations) >= 1
    assert all(one.call is not None for one in report.compilations)


def test_ids_stay_apart_after_a_reset() -> None:
    with cs.watch() as report:
        compiled = torch.compile(plain, dynamic=False, **EAGER)
        compiled(torch.ones(3))
        compiled(torch.ones(4))
        torch._dynamo.reset()
        compiled(torch.ones(3))
        compiled(torch.ones(4))
    assert ids(report) == ["0/0", "0/1", "1/0", "1/1"]
    assert [one.torch_id for one in report.compilations] == ["", "", "0/0", "0/1"]
    last = report.compilations[-1].recompile
    assert last is not None
    assert last.previous == "1/0"
    assert last.count == 2
    assert len(set(ids(report))) == 4


def test_inspections_are_not_seen() -> None:
    with cs.watch() as report:
        cs.inspect(plain, (torch.ones(3),), variants="python")
        assert report.compilations == []
        torch.compile(plain, **EAGER)(torch.ones(3))
    assert len(report.compilations) == 1
    assert report.compilations[0].code.python is None


def test_a_watched_cell_is_seen_by_both() -> None:
    with cs.watch() as report, get_session().watch_cell() as watched:
        torch.compile(plain, **EAGER)(torch.ones(3))
    assert len(report.compilations) == len(watched.compilations("as written")) == 1


def test_blocks_within_each_other_see_the_same() -> None:
    with cs.watch() as outer:
        torch.compile(plain, **EAGER)(torch.ones(3))
        with cs.watch() as inner:
            torch.compile(lambda x: x - 2, **EAGER)(torch.ones(3))
        torch.compile(lambda x: x - 3, **EAGER)(torch.ones(3))
    assert len(inner.compilations) == 1
    assert len(outer.compilations) == 3


def test_a_library_that_compiles_is_seen() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    parameter.grad = torch.ones(3)
    with cs.watch() as report:
        torch.compile(optimizer.step, **EAGER)()
    assert report.compilations
    assert any(
        one.call is not None and one.call.code.startswith("torch.compile(optimizer.step")
        for one in report.compilations
    )


def test_the_code_is_known_and_not_kept_alive() -> None:
    with cs.watch() as report:
        torch.compile(plain, **EAGER)(torch.ones(3))
    watch, name = latest(), report.compilations[0].id
    assert watch.code_of(name) is plain.__code__
    assert watch.code_of("9/9") is None
    # torch itself keeps what it compiled; ours is a weak reference.
    code = plain.__code__.replace()
    watch._ledger._codes[name] = weakref.ref(code)
    assert watch.code_of(name) is code
    del code
    assert watch.code_of(name) is None


# --- what is left of it --------------------------------------------------------------------------


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
    with cs.watch(), get_session().watch_cell():
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


# --- faults --------------------------------------------------------------------------------------


def test_a_failing_handler_is_a_problem_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("compilescope.compiler.watch.here", fails)
    with cs.watch() as report:
        assert torch.equal(torch.compile(plain, **EAGER)(torch.ones(2)), plain(torch.ones(2)))
    (problem,) = report.problems
    assert problem.severity == "error"
    assert "out of order" in problem.what
    assert "Your code went on" in problem.why
    assert latest().state().problem == problem


def test_records_that_cannot_be_read_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> list[Compilation]:
        raise RuntimeError("unreadable")

    monkeypatch.setattr("compilescope.compiler.ledger.assemble", fails)
    with cs.watch() as report:
        torch.compile(plain, **EAGER)(torch.ones(3))
    (one,) = report.compilations
    assert one.frame is not None
    assert "could not read" in one.absent["compilation"]
    assert "unreadable" in report.problems[0].what


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
        assert go_on.wait(30)
        return graph

    def compile_one() -> None:
        torch.compile(plain, backend=slow)(torch.ones(3))

    def halfway() -> threading.Thread:
        torch._dynamo.reset()
        reached.clear()
        go_on.clear()
        thread = threading.Thread(target=compile_one)
        thread.start()
        assert reached.wait(30)
        return thread

    thread = halfway()
    with cs.watch() as begun:
        go_on.set()
        thread.join()
    (one,) = begun.compilations
    assert "in the middle" in one.absent["start"]

    with cs.watch() as ended:
        thread = halfway()
        assert ended.compilations == []
        assert latest().state().latest[0].duration_s is None
    go_on.set()
    thread.join()
    (one,) = ended.compilations
    assert "before this compilation did" in one.absent["end"]


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


def test_a_report_is_saved_while_it_grows(tmp_path: Path) -> None:
    with cs.watch() as report:
        stop = threading.Event()
        failures: list[Exception] = []

        def save() -> None:
            try:
                while not stop.is_set():
                    report.save(tmp_path / "r.json")
                    cs.load(tmp_path / "r.json")
            except Exception as error:  # noqa: BLE001 - shown below
                failures.append(error)

        thread = threading.Thread(target=save)
        thread.start()
        compiled_often(20)
        stop.set()
        thread.join()
        report.save(tmp_path / "r.json")
    assert failures == []
    assert ids(cs.load(tmp_path / "r.json")) == ids(report)
    assert len(ids(report)) == 20


# --- memory --------------------------------------------------------------------------------------


def test_memory_stays_within_its_bounds_and_says_what_is_gone() -> None:
    with cs.watch(memory_mb=0.2) as report:
        watch = latest()
        compiled_often(40)
        state = watch.state()
        assert report.compilations
        assert watch.state().held_bytes <= 200_000
        assert state.compilations == 40
    state = watch.state()
    assert state.compilations == 40
    assert state.reduced > 0
    assert state.left_out + len(report.compilations) == 40
    outline = report.compilations[0]
    assert outline.reduced.startswith("Its texts, graphs, kernels and guards were dropped at ")
    assert outline.graphs == {}
    assert outline.counts["guards"] > 0
    assert outline.absent["dynamo"] == outline.reduced
    assert outline.frame is not None
    assert outline.call is not None
    told = [problem.what for problem in report.problems]
    assert any("reduced to an outline" in what for what in told)


def test_what_nobody_looks_at_is_bounded_too() -> None:
    with cs.watch(memory_mb=0.2):
        watch = latest()
        compiled_often(40)
        for _ in range(100):
            if watch._ledger.total_bytes <= 200_000:
                break
            threading.Event().wait(0.05)
        # Nobody has read the report: the watch did it by itself.
        assert watch._ledger.total_bytes <= 200_000
    assert watch.state().reduced > 0


def test_records_go_once_they_are_read() -> None:
    with cs.watch() as report:
        compiled_often(5)
        assert len(report.compilations) == 5
        ledger = latest()._ledger
        assert ledger.stream.groups == {}
        assert ledger.printed == {}
    assert report.problems == []


@pytest.mark.parametrize("memory_mb", [0, -1, float("nan")])
def test_no_memory_is_refused(memory_mb: float) -> None:
    with pytest.raises(cs.CompilescopeError, match="cannot hold"), cs.watch(memory_mb=memory_mb):
        pass


# --- how it shows itself -------------------------------------------------------------------------


def test_it_shows_a_table() -> None:
    with cs.watch() as report:
        assert "0 compilations" in str(report)
        assert "Nothing was compiled" in report._repr_html_()
        compiled = torch.compile(plain, dynamic=False, **EAGER)
        compiled(torch.ones(3))
        compiled(torch.ones(4))
    text, html = str(report), report._repr_html_()
    assert "2 compilations, 1 recompile, 0 graph breaks" in text
    assert "expected 3, actual 4" in text
    assert "plain (test_watch.py:" in text
    assert "plain (test_watch.py:" in html
    assert "<script" not in html


def test_a_report_read_back_is_a_plain_one() -> None:
    with cs.watch() as report:
        torch.compile(plain, **EAGER)(torch.ones(3))
    again = cs.load_text(report.to_json()) if hasattr(cs, "load_text") else None
    assert again is None or ids(again) == ids(report)
    assert ids(report.redacted()) == ids(report)
