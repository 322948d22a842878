"""An analysis of one part that fails leaves the rest of the report as it is."""

from __future__ import annotations

from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.analysis import assemble
from compilescope.analysis.parts import Parts
from compilescope.comms.messages import PROTOCOL_VERSION
from compilescope.comms.trace_answers import TraceAnswers
from compilescope.report import Problem

TRACE = Path(__file__).parents[2] / "data" / "traces" / "cpu-torch2.13-limit.log.gz"


def fail(*_: object) -> None:
    raise KeyError("out_ptr1")


@pytest.mark.slow
@pytest.mark.parametrize("run", [False, True])
def test_a_part_that_fails_leaves_the_rest(run: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "find_memory", fail)
    report = cs.inspect(torch.nn.Softmax(-1), (torch.randn(4, 4),), run=run)
    for name in ("python", "cpp"):
        variant = report.variant(name)
        assert variant.stage == ("built" if run else "sources")
        (compilation,) = variant.compilations
        assert compilation.kernels
        assert compilation.guards
        assert compilation.steps
        assert not compilation.memory
        [problem] = variant.problems
        assert_is_of_memory(problem, "0/0")
        assert compilation.absent["memory"] == problem.what


def test_a_trace_reader_shows_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "find_memory", fail)
    report = cs.read_trace(TRACE)
    (variant,) = report.variants
    *_, problem = variant.problems
    assert_is_of_memory(problem, f"0/0 and {len(variant.compilations) - 1} more")
    assert all("memory" in compilation.absent for compilation in variant.compilations)
    assert variant.compilations[0].guards


def test_a_trace_that_is_read_on_demand_warns_of_what_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(assemble, "find_memory", fail)
    answers = TraceAnswers(TRACE)
    (variant,) = answers.report.variants
    others = variant.problems
    arguments = {"variant": variant.name, "compilation": "0/1", "parts": ["guards"]}
    answer = answers.answer(
        {"id": "1", "client": "c", "version": PROTOCOL_VERSION, "command": "get_compilation"}
        | {"arguments": {"subject": answers.report.subject.id, **arguments}}
    )
    answers.close()
    assert answer.reply.error is None
    *before, problem = variant.problems
    assert before == others
    assert_is_of_memory(problem, "0/1")


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_watch_shows_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "find_memory", fail)
    with cs.watch() as report:
        torch.compile(torch.nn.Softmax(-1), backend="eager")(torch.ones(3))
    (compilation,) = report.compilations
    assert compilation.guards
    [problem] = report.problems
    assert_is_of_memory(problem, "0/0")
    assert compilation.absent["memory"] == problem.what


def assert_is_of_memory(problem: Problem, compilations: str) -> None:
    expected = f"compilescope could not analyze the memory of {compilations}: KeyError: 'out_ptr1'"
    assert (problem.severity, problem.what) == ("warning", expected)
    assert "bug in compilescope" in problem.why
    assert "in fail" in problem.detail


def test_without_anyone_to_tell_the_error_is_raised() -> None:
    with pytest.raises(KeyError, match="out_ptr1"), Parts("0/0").analyzing("memory"):
        fail()
