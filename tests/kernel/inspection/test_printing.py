"""A graph's text, printed once while the graph is the same."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
import torch
from compilescope.torch_api.trace.printed_graphs import LastText
from torch._dynamo.source import ConstantSource
from torch._subclasses import FakeTensorMode
from torch.fx import GraphModule, Node, symbolic_trace
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

OPTIONS = {"print_output": False, "include_stride": True, "include_device": True}
aten = torch.ops.aten


def traced() -> GraphModule:
    """A graph with values, as torch's passes have it."""
    graph = symbolic_trace(
        lambda x, y: aten.add.Tensor(x[:, 1:], aten.cat.default([x, y]), alpha=2)
    )
    for node in graph.graph.nodes:
        node.meta["val"] = torch.empty(4, 3)
        node.meta["stack_trace"] = '  File "model.py", line 3, in forward\n    return x + y'
    return graph


class Printer:
    """Prints through one `LastText`, and counts how often torch is asked."""

    def __init__(self) -> None:
        self.text = LastText()
        self.asked = 0

    def __call__(self, graph: GraphModule, **options: object) -> str:
        def ask() -> str:
            self.asked += 1
            return graph.print_readable(**chosen)

        chosen = {**OPTIONS, **options}
        result = self.text.text_of(graph, chosen, ask)
        assert result == graph.print_readable(**chosen)
        return result


def test_what_has_not_changed_is_printed_once() -> None:
    printer, graph = Printer(), traced()
    assert "alpha = 2" in printer(graph)
    printer(graph, fast_sympy_print=True)
    for node in graph.graph.nodes:
        node.meta["val"] = node.meta["val"].clone()
    printer(graph)
    assert printer.asked == 1
    printer.text.forget()
    printer(graph)
    assert printer.asked == 2


def first(graph: GraphModule, op: str) -> Node:
    return next(node for node in graph.graph.nodes if node.op == op)


def other_name(graph: GraphModule) -> None:
    first(graph, "call_function")._rename("another")


def other_target(graph: GraphModule) -> None:
    list(graph.graph.nodes)[-2].target = aten.sub.Tensor


def other_index(graph: GraphModule) -> None:
    node = first(graph, "call_function")
    assert node.target is operator.getitem
    node.args = (node.args[0], (slice(None), slice(2, None)))


def other_number(graph: GraphModule) -> None:
    list(graph.graph.nodes)[-2].kwargs = {"alpha": 2.0}


def truth(graph: GraphModule) -> None:
    list(graph.graph.nodes)[-2].kwargs = {"alpha": True}


def other_order(graph: GraphModule) -> None:
    x, y = first(graph, "call_function").all_input_nodes[0], list(graph.graph.nodes)[1]
    node = next(node for node in graph.graph.nodes if node.target is aten.cat.default)
    node.args = ([y, x],)


def other_shape(graph: GraphModule) -> None:
    first(graph, "placeholder").meta["val"] = torch.empty(4, 5)


def other_stride(graph: GraphModule) -> None:
    first(graph, "placeholder").meta["val"] = torch.empty(3, 4).t()


def other_type(graph: GraphModule) -> None:
    first(graph, "placeholder").meta["val"].data = torch.empty(4, 3, dtype=torch.float64)


def other_line(graph: GraphModule) -> None:
    first(graph, "call_function").meta["stack_trace"] = (
        '  File "model.py", line 4, in forward\n    z'
    )


def annotated(graph: GraphModule) -> None:
    first(graph, "call_function").meta["custom"] = {"stage": "first"}


def one_less(graph: GraphModule) -> None:
    last = list(graph.graph.nodes)[-2]
    last.replace_all_uses_with(last.args[0])
    graph.graph.erase_node(last)


@pytest.mark.parametrize(
    "change",
    [
        other_name,
        other_target,
        other_index,
        other_number,
        truth,
        other_order,
        other_shape,
        other_stride,
        other_type,
        other_line,
        annotated,
        one_less,
    ],
)
def test_what_has_changed_is_printed_again(change: Callable[[GraphModule], None]) -> None:
    printer, graph = Printer(), traced()
    before = printer(graph)
    change(graph)
    assert printer(graph) != before
    assert printer.asked == 2


def test_other_options_and_graphs_in_graphs_are_printed_by_torch() -> None:
    printer, graph = Printer(), traced()
    printer(graph)
    printer(graph, include_stride=False)
    printer(graph, expanded_def=True)
    assert printer.asked == 3
    graph.add_module("branch", traced())
    printer(graph)
    printer(graph)
    assert printer.asked == 5


def test_symbols_are_printed_by_torch_and_guarded_on_by_nobody() -> None:
    shapes = ShapeEnv()
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC, DimDynamic.STATIC])
    value = FakeTensorMode(shape_env=shapes).from_tensor(
        torch.empty(4, 3), symbolic_context=context, source=ConstantSource("x")
    )
    printer, graph = Printer(), traced()
    first(graph, "placeholder").meta["val"] = value
    assert "f32[s" in printer(graph)
    printer(graph)
    assert printer.asked == 2
    assert shapes.guards == []
