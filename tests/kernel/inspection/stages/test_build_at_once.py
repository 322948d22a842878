"""A report of builds alone says what one says whose sources were generated first."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import torch
from compilescope.builds import code_reports, first_compilation
from compilescope.builds.capture_graphs import Captured
from compilescope.builds.sources import Sources, generate
from compilescope.report import Compilation, Report
from compilescope.report.variant import Variant
from compilescope.session.session import Session

from ...subjects import product
from .stage_subjects import Call
from .stages import plain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo")]

BOTH = {"python": Variant(), "cpp": Variant(cpp_wrapper=True)}

MEASURED = (
    *("started_s", "duration_s", "phases", "phase_times", "cache"),
    *("warm_phases", "warm_phase_times", "warm_cache"),
    *("guards", "guard_tree", "conditions"),
)
"""Fields of a compilation that hold times, or the identities of objects."""


def training() -> Call:
    torch.manual_seed(0)
    call = product()
    return call.fn, call.args


def backward_that_never_runs() -> Call:
    weight = torch.randn(8, 8, requires_grad=True)

    class Result:
        def __init__(self, value: torch.Tensor) -> None:
            self.value = value

    def hidden(x: torch.Tensor) -> Any:
        y = (x @ weight).tanh()
        torch._dynamo.graph_break()
        return Result(y)

    return hidden, (torch.randn(4, 8),)


SUBJECTS: dict[str, tuple[Callable[[], Call], dict[str, Variant]]] = {
    "training": (training, BOTH),
    "backward_that_never_runs": (backward_that_never_runs, {"python": Variant()}),
}


def inspected(name: str, *, is_shown: bool) -> Report:
    torch._dynamo.reset()
    torch.manual_seed(0)
    make, variants = SUBJECTS[name]
    fn, args = make()
    session = Session()
    session.is_shown = lambda: is_shown
    return session.inspect(fn, args, variants=variants)


def without_measurements(compilation: Compilation) -> dict[str, Any]:
    """A compilation without what is measured, and without places on disk."""
    data: dict[str, Any] = msgspec.to_builtins(compilation)
    for field in MEASURED:
        data.pop(field)
        data["absent"].pop(field, None)
    # A slow machine may not measure them all in their time.
    data["absent"].pop("guard_costs", None)
    for graph_break in data["breaks"]:
        graph_break.pop("duration_us")
    for graph in data["graphs"].values():
        graph["text"] = re.sub(r"(?<=# graph id: )\d+", "", graph["text"])
    _mask(data["code"])
    return data


def _mask(code: dict[str, Any]) -> None:
    code.pop("path", None)
    for wrapper in ("python", "cpp"):
        if code[wrapper]:
            code[wrapper] = plain(code[wrapper])
    for inner in (code["backward"], *code["others"]):
        if inner is not None:
            _mask(inner)


@pytest.mark.parametrize(
    ("name", "completed"), [("training", []), ("backward_that_never_runs", ["python"])]
)
def test_builds_alone_say_what_sources_and_builds_say(
    name: str, completed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = inspected(name, is_shown=True)
    generated: list[str] = []

    def counted(captured: Captured, variant: str, *args: Any, **kwargs: Any) -> Sources:
        generated.append(variant)
        return generate(captured, variant, *args, **kwargs)

    monkeypatch.setattr(code_reports, "generate", counted)
    report = inspected(name, is_shown=False)
    assert generated == completed
    assert [variant.name for variant in report.variants] == [
        variant.name for variant in expected.variants
    ]
    for variant, same in zip(report.variants, expected.variants, strict=True):
        assert (variant.stage, variant.problems) == (same.stage, same.problems)
        assert list(map(without_measurements, variant.compilations)) == list(
            map(without_measurements, same.compilations)
        )
        guards = [compilation.guards for compilation in variant.compilations]
        assert list(map(len, guards)) == [
            len(compilation.guards) for compilation in same.compilations
        ]
        assert [error.ok for error in variant.accuracy] == [error.ok for error in same.accuracy]
        assert variant.compile_time is not None or variant.requested.backend is None
        assert (variant.warm_compile_time is None) == (variant.requested.backend is None)
        if name == "training":
            for compilation in variant.compilations:
                assert compilation.warm_phases
                assert {event.outcome for event in compilation.warm_cache} == {"hit"}


def test_what_is_loaded_already_is_not_loaded_by_a_tiny_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fn, args = training()
    Session().inspect(fn, args, variants={"python": Variant()}, run=False)

    def unexpected(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("It was generated although Inductor is loaded.")

    monkeypatch.setattr(first_compilation, "capture", unexpected)
    first_compilation.warm_up_compiler("cpu")
    monkeypatch.setattr(first_compilation, "generated_for", {"cuda"})
    first_compilation.warm_up_compiler("cuda:0")
