"""A symbolic size in graphs, printed once and as torch prints it."""

from __future__ import annotations

import pytest
import sympy
import torch
from compilescope.torch_api.trace.graphs import collecting
from torch._dynamo.source import ConstantSource
from torch._subclasses import FakeTensorMode
from torch.fx import GraphModule, symbolic_trace
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext


@pytest.fixture
def sized() -> tuple[GraphModule, torch.SymInt]:
    """A graph whose tensors have a symbolic size, and that size."""
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.STATIC])
    mode = FakeTensorMode(shape_env=ShapeEnv())
    value = mode.from_tensor(
        torch.empty(8, 3), symbolic_context=context, source=ConstantSource("x")
    )
    with mode:
        larger = torch.empty((value.shape[0] - 1) // 2, value.shape[0] + 1)
    graph = symbolic_trace(lambda x: x.sin().cos().relu())
    for node in graph.graph.nodes:
        node.meta["val"] = larger
    return graph, value.shape[0]


def printed(graph: GraphModule) -> str:
    return graph.print_readable(print_output=False, include_stride=True)


def test_a_size_is_printed_once(
    sized: tuple[GraphModule, torch.SymInt], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, _ = sized
    expected = printed(graph)
    asked: list[sympy.Expr] = []
    original = sympy.Add.__str__

    def counted(self: sympy.Expr) -> str:
        asked.append(self)
        return original(self)

    monkeypatch.setattr(sympy.Add, "__str__", counted)
    nodes: dict[str, object] = {}
    with collecting(nodes):
        assert printed(graph) == expected
        assert printed(graph) == expected
    assert " + 1" in expected
    assert list(nodes) == [expected]
    assert len(asked) == 1
    printed(graph)
    assert len(asked) > 2


def test_a_size_that_became_a_constant_is_printed_as_one(
    sized: tuple[GraphModule, torch.SymInt],
) -> None:
    graph, size = sized
    with collecting({}):
        assert " + 1" in printed(graph)
        assert size == 8  # a guard
        assert "f32[3, 9][9, 1]" in printed(graph)
