"""The reports of both wrappers share the graphs of one lowering, as each would read them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import torch
from compilescope.analysis.guards.guard_tree import GuardMemory
from compilescope.builds import sources
from compilescope.report import Compilation
from compilescope.report.variant import Variant
from compilescope.session.session import Session
from compilescope.torch_api.inductor.equal_kernels import reuse
from torch import nn

from ...subjects import Call

pytestmark = pytest.mark.skipif(
    not reuse.is_proven(), reason="this torch generates each wrapper from a lowering of its own"
)


def trained() -> Call:
    layers = nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(32)
    return Call(nn.Sequential(*layers), (torch.randn(8, 16),))


def broken() -> Call:
    """Two frames with the same operators."""

    def f(x: torch.Tensor) -> torch.Tensor:
        x = x.exp() + 1
        torch._dynamo.graph_break()
        return x.exp() + 1

    return Call(f, (torch.randn(4, 8),))


@pytest.mark.parametrize("create", [trained, broken])
@pytest.mark.parametrize("together", [False, True], ids=["a flip", "both asked for"])
def test_a_shared_graph_is_what_each_wrapper_would_read(
    create: Callable[[], Call], together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    call, session = create(), Session()
    assemble = sources.assemble
    shared: list[Compilation] = []

    def compared(records: Any, **given: Any) -> list[Compilation]:
        compilations = assemble(records, **given)
        anew = {"same_graphs": {}, "guards": GuardMemory()}
        assert compilations == assemble(records, **{**given, **anew})
        shared.extend(given["same_graphs"].values())
        return compilations

    monkeypatch.setattr(sources, "assemble", compared)
    variants = ["python", "cpp"] if together else ["python"]
    report = session.inspect(call.fn, call.args, run=False, variants=variants)
    if not together:
        session.add(report.subject.id, Variant(cpp_wrapper=True))
    python, cpp = (report.variant(name).compilations for name in ("python", "cpp"))
    assert shared == python
    for left, right in zip(python, cpp, strict=True):
        assert left.graphs
        for stage, graph in left.graphs.items():
            assert right.graphs[stage] is not graph
            assert right.graphs[stage].nodes is graph.nodes


def test_graphs_that_no_report_has_any_more_are_read_again() -> None:
    torch.manual_seed(0)
    call, session = trained(), Session()
    report = session.inspect(call.fn, call.args, run=False, variants=["python"])
    (python,) = report.variants
    expected = msgspec.to_builtins([compilation.graphs for compilation in python.compilations])
    (compilation,) = map(weakref.ref, python.compilations)
    python.compilations = []
    assert compilation() is None
    session.add(report.subject.id, Variant(cpp_wrapper=True))
    cpp = report.variant("cpp").compilations
    assert msgspec.to_builtins([compilation.graphs for compilation in cpp]) == expected
    assert any(node["origins"] for graph in expected[0].values() for node in graph["nodes"])
