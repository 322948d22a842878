"""What if, of variants whose code is generated but not built: as plain torch recompiles.

Inductor adds guards on sizes while it generates the code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Compilation
from compilescope.views import html

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

DYNAMIC = cs.Variant(dynamic=True)
X = torch.randn(256, 256)


def summed(x: Any) -> Any:
    return (x.sin() * x.cos()).sum(-1)


def scaled_sum(x: Any, k: Any) -> Any:
    return (x.sin() * k).sum(-1)


def convolved(x: Any, w: Any) -> Any:
    return torch.conv2d(x, w).relu()


def picked(x: Any) -> Any:
    return x[x > 0].exp(), (x.sin() * x.cos()).sum(-1)


def broken(x: Any, y: Any) -> Any:
    first = x.sin()
    second = x.relu_()
    torch._dynamo.graph_break()
    return first + 1, second * 2, y.cos()


def kept(graph: torch.fx.GraphModule, inputs: Any) -> Any:
    return graph.forward


def of_variant(report: cs.Report, name: str) -> Compilation:
    return next(iter(report.variant(name).compilations))


def guards_of(compilation: Compilation) -> list[str]:
    return [guard.expression for guard in compilation.guards]


def recompiles(fn: Callable[..., Any], first: Any, other: Any) -> bool:
    """Whether plain torch compiles another call."""
    torch._dynamo.reset()
    compiled = torch.compile(fn, dynamic=True)
    compiled(*first)
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    compiled(*other)
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] > before


OTHERS = {
    "above the bound": ((torch.randn(5000, 5000),), "2 <= L['x'].size()[0] <= 4096"),
    "below the bound": ((torch.randn(4096, 4096),), ""),
    "too small": ((torch.randn(1, 1),), "2 <= L['x'].size()[0] <= 4096"),
    "not square": ((torch.randn(8, 5000),), "L['x'].size()[1] == L['x'].size()[0]"),
}


def test_code_generations_guards_are_asked_without_a_build() -> None:
    report = cs.inspect(summed, (X,), variants={"d": DYNAMIC}, run=False)
    for other, guard in OTHERS.values():
        answer = cs.what_if(report, *other)
        assert (answer.verdict == "recompile") == bool(guard), str(answer)
        if guard:
            (outcome,) = answer.outcomes
            assert outcome.guard is not None
            assert outcome.guard.expression.startswith(guard)
        assert recompiles(summed, (X,), other) == bool(guard)
    built = cs.inspect(summed, (X,), variants={"d": DYNAMIC})
    assert of_variant(report, "d").guards[-1].why == of_variant(built, "d").guards[-1].why
    assert guards_of(of_variant(report, "d")) == guards_of(of_variant(built, "d"))
    assert of_variant(report, "d").symbols == of_variant(built, "d").symbols


def test_every_variant_of_a_capture_has_the_guards_of_its_own_code() -> None:
    variants = {
        "d": DYNAMIC,
        "cpp": cs.Variant(dynamic=True, cpp_wrapper=True),
        "other": cs.Variant(dynamic=True, options={"max_fusion_size": 2}),
    }
    report = cs.inspect(summed, (X,), variants=variants, run=False)
    for name in variants:
        compilation = of_variant(report, name)
        assert guards_of(compilation)[-1] == "2 <= L['x'].size()[0] <= 4096"
        assert [decision.expression for decision in compilation.shape_decisions] == ["s77 <= 4096"]


@pytest.mark.parametrize(
    ("fn", "first", "other"),
    [
        (scaled_sum, (X, 2.5), (torch.randn(5000, 5000), 3.5)),
        (
            convolved,
            (torch.randn(2, 3, 16, 16), torch.randn(4, 3, 3, 3)),
            (torch.randn(2, 5, 16, 16), torch.randn(4, 5, 3, 3)),
        ),
        (picked, (X,), (torch.randn(5000, 5000),)),
        (summed, (X.clone().requires_grad_(),), (torch.randn(5000, 5000, requires_grad=True),)),
    ],
    ids=["a float", "a size that becomes static", "an unbacked size", "a backward"],
)
def test_guards_are_those_of_a_build(fn: Any, first: Any, other: Any) -> None:
    sources = cs.inspect(fn, first, variants={"d": DYNAMIC}, run=False)
    assert cs.what_if(sources, *first).verdict == "reuse"
    answer = cs.what_if(sources, *other)
    built = cs.inspect(fn, first, variants={"d": DYNAMIC})
    (outcome,), (of_build,) = answer.outcomes, cs.what_if(built, *other).outcomes
    assert (outcome.passes, outcome.expected, outcome.actual) == (
        of_build.passes,
        of_build.expected,
        of_build.actual,
    )
    for unbuilt_part, built_part in zip(
        sources.variant("d").compilations, built.variant("d").compilations, strict=True
    ):
        assert guards_of(unbuilt_part) == guards_of(built_part)
        assert unbuilt_part.symbols == built_part.symbols


@pytest.mark.parametrize("backend", ["inductor", "eager"])
def test_a_tensor_that_crosses_a_graph_break_has_the_symbols_of_a_build(backend: str) -> None:
    variant = cs.Variant(dynamic=True, backend=backend)
    reports = [
        cs.inspect(broken, (torch.randn(8, 4), torch.randn(8, 6)), variants={"d": variant}, run=run)
        for run in (False, True)
    ]
    (_, unbuilt), (_, built) = (report.variant("d").compilations for report in reports)
    assert guards_of(unbuilt) == guards_of(built)
    # AOTAutograd marks the dynamic sizes of what a graph returns; the backend eager does not.
    is_shared = "L['y'].size()[0] == L['first'].size()[0]" in guards_of(unbuilt)
    assert is_shared == (backend == "eager")


def test_backends_that_mark_sizes_differently_share_no_capture_with_a_break() -> None:
    variants = {
        f"by {backend}": cs.Variant(dynamic=True, backend=backend)
        for backend in ("eager", "inductor")
    }
    call = torch.randn(8, 4), torch.randn(8, 6)
    report = cs.inspect(broken, call, variants=variants, run=False)
    eager, inductor = (report.variant(name).compilations[1] for name in variants)
    assert guards_of(eager) != guards_of(inductor)


NOT_INCLUDED = "Guards on sizes that code generation adds are not included"


@pytest.mark.parametrize(
    "variant",
    [cs.Variant(dynamic=True, options={"use_aoti": True}), cs.Variant(dynamic=True, backend=kept)],
    ids=["AOTInductor", "a backend of the user's"],
)
def test_where_only_a_build_generates_the_code_answer_and_guards_say_so(
    variant: cs.Variant,
) -> None:
    report = cs.inspect(summed, (X,), variants={"d": variant}, run=False)
    answer = cs.what_if(report, torch.randn(5000, 5000))
    assert NOT_INCLUDED in answer.why
    assert of_variant(report, "d").absent["added_guards"].startswith(NOT_INCLUDED)
    assert NOT_INCLUDED in " ".join(str(report).split())
    assert NOT_INCLUDED in html.render(report, full=True)


def test_without_dynamic_sizes_or_with_all_guards_nothing_is_said_to_lack() -> None:
    variants = {
        "static": cs.Variant(dynamic=False, backend=kept),
        "inductor": DYNAMIC,
        "none": cs.Variant(dynamic=True, backend="aot_eager"),
    }
    report = cs.inspect(summed, (X,), variants=variants, run=False)
    assert NOT_INCLUDED not in html.render(report, full=True)
