"""Watching: what is seen of code that knows nothing of it."""

from __future__ import annotations

import logging
import os
import re
import threading
import weakref
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.jobs.watch_switch import caller
from compilescope.package_folder import PACKAGE
from compilescope.watching.running_code import watching
from torch._logging import _internal

from .watch_subjects import EAGER, ids, latest, plain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo")]


def test_a_compilation_is_there_as_soon_as_it_is_complete() -> None:
    with cs.watch() as report:
        assert report.subject.kind == "watch"
        assert report.compilations == []
        torch.compile(plain, **EAGER)(torch.ones(3))
        (compilation,) = report.compilations
    assert compilation.frame is not None
    assert compilation.frame.function == "plain"
    assert list(compilation.graphs) == ["dynamo"]
    assert compilation.guards
    assert compilation.duration_s is not None
    assert compilation.started_s is not None
    assert report.problems == []
    assert ids(report) == [compilation.id]


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
    calls = [compilation.call for compilation in report.compilations]
    assert [call.code if call else None for call in calls[:2]] == [
        "compiled = torch.compile(plain, **EAGER)",
        '@torch.compile(backend="eager")',
    ]
    assert all(call is not None and call.file == __file__ for call in calls)


def test_a_call_from_before_is_not_made_up() -> None:
    compiled = torch.compile(plain, **EAGER)
    with cs.watch() as report:
        compiled(torch.ones(3))
    (compilation,) = report.compilations
    assert compilation.call is None
    assert compilation.absent["call"].startswith(
        "torch.compile was called before watching began; it compiles plain (watch_subjects.py:"
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
    (graph_break,) = first.breaks
    assert graph_break.where is not None
    assert resumed.frame is not None
    assert resumed.frame.function == f"broken from line {graph_break.where.line}"
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


@torch._dynamo.config.patch(compiled_autograd=True)
def test_compiled_autograd_compiles_none_of_our_code() -> None:
    weight = torch.randn(3, requires_grad=True)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = (x * weight).sin().sum()
        loss.backward()
        return loss

    aot = {"aot": cs.Variant(backend="aot_eager")}
    variant = cs.inspect(step, (torch.ones(3),), variants=aot).variant("aot")
    with cs.watch() as report:
        torch.compile(step, backend="aot_eager")(torch.ones(3))
    for compilations in (variant.compilations, report.compilations):
        files = {compilation.frame.file for compilation in compilations if compilation.frame}
        assert len(compilations) > 1
        assert not any("torch_api" in file for file in files)
        assert all(compilation.phases for compilation in compilations)


def test_a_backward_alone_says_so() -> None:
    weight = torch.ones(4, requires_grad=True)
    loss = torch.compile(lambda x: (x * weight).cos().sum())(torch.ones(4))
    with cs.watch() as report:
        loss.backward()
    for compilation in report.compilations:  # none where torch found the backward in its cache
        assert "only the backward" in compilation.absent["start"]


def test_the_same_is_seen_whoever_else_listens() -> None:
    """Alone a watch takes events where torch makes them; else it gets what torch logs."""

    def body(x: torch.Tensor) -> torch.Tensor:
        x = x.sin() + 1
        torch._dynamo.graph_break()
        # Another graph, of the same C++.
        return torch.sin(x.view(-1)) + 1

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
                    name: re.sub(r"graph id: \d+", "", graph.text)
                    for name, graph in compilation.graphs.items()
                },
                [[node.name for node in graph.nodes] for graph in compilation.graphs.values()],
                [guard.expression for guard in compilation.guards],
                [graph_break.reason for graph_break in compilation.breaks],
                compilation.recompile.failures if compilation.recompile else None,
                [kernel.name for kernel in compilation.kernels],
                [phase.name for phase in compilation.phases],
                compilation.frame,
            )
            for compilation in report.compilations
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
    assert all(compilation.call is not None for compilation in report.compilations)


def test_ids_stay_apart_after_a_reset_of_what_was_compiled_before_the_watch() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def tripled(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    torch._dynamo.reset()
    compiled = torch.compile(doubled, backend="eager")
    compiled(torch.ones(2))
    with cs.watch() as report:
        compiled(torch.ones(3))
        torch._dynamo.reset()
        other = torch.compile(tripled, backend="eager")
        other(torch.ones(3))
        other(torch.ones(4))
    compilations = report.variants[0].compilations
    assert [compilation.id for compilation in compilations] == ["0/1", "1/0", "1/1"]
    recompile = compilations[2].recompile
    assert recompile is not None
    assert recompile.previous == "1/0"


def test_ids_stay_apart_after_a_reset() -> None:
    with cs.watch() as report:
        compiled = torch.compile(plain, dynamic=False, **EAGER)
        compiled(torch.ones(3))
        compiled(torch.ones(4))
        torch._dynamo.reset()
        compiled(torch.ones(3))
        compiled(torch.ones(4))
    assert ids(report) == ["0/0", "0/1", "1/0", "1/1"]
    assert [compilation.torch_id for compilation in report.compilations] == ["", "", "0/0", "0/1"]
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
    with cs.watch() as report, watching() as watched:
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


class Stack(torch.nn.Sequential):
    """A module whose ``forward`` is torch's, so that torch puts a function around its call."""


def test_a_librarys_module_is_named_and_not_torchs_function_around_it() -> None:
    model = torch.compile(Stack(torch.nn.Linear(3, 3)), backend="eager")
    with cs.watch() as report:
        model(torch.ones(2, 3))
        model(torch.ones(5, 3))
    forward = torch.nn.Sequential.forward.__code__
    places = [
        (compilation.frame.function, compilation.frame.file, compilation.frame.line)
        for compilation in report.compilations
    ]
    assert places == [("Stack.forward", forward.co_filename, forward.co_firstlineno)] * 2


def test_a_library_that_compiles_is_seen() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    parameter.grad = torch.ones(3)
    with cs.watch() as report:
        torch.compile(optimizer.step, **EAGER)()
    assert report.compilations
    assert any(
        compilation.call is not None
        and compilation.call.code.startswith("torch.compile(optimizer.step")
        for compilation in report.compilations
    )


def test_the_code_is_known_and_not_kept_alive() -> None:
    with cs.watch() as report:
        torch.compile(plain, **EAGER)(torch.ones(3))
    watch, name = latest(), report.compilations[0].id
    assert watch.code_of(name) is plain.__code__
    assert watch.code_of("9/9") is None
    # torch itself keeps what it compiled; ours is a weak reference.
    code = plain.__code__.replace()
    watch._watch_log._codes[name] = weakref.ref(code)
    assert watch.code_of(name) is code
    del code
    assert watch.code_of(name) is None


def test_the_text_says_in_words_what_recompiled() -> None:
    compiled = torch.compile(scaled, **EAGER)
    with cs.watch() as report:
        compiled(torch.ones(3), 1)
        compiled(torch.ones(3), 2)
    assert str(report).splitlines()[-1].endswith("scale: 1 → 2")


def scaled(x: torch.Tensor, scale: int) -> torch.Tensor:
    return x * scale


def test_a_folder_whose_name_begins_like_ours_is_the_users() -> None:
    file = f"{PACKAGE}-demo{os.sep}mine.py"
    namespace: dict[str, Any] = {"caller": caller}
    exec(compile("def mine():\n    return caller()", file, "exec"), namespace)
    where = namespace["mine"]()
    assert (where.file, where.function) == (file, "mine")
