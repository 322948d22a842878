"""The final range of a symbol, and all that it stands for, as torch has them after all guards."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis.guards.symbolic_shapes.symbol_ranges import complete_symbols
from compilescope.report import Compilation, Graph, Guard, ShapeDecision, ShapeSymbol
from compilescope.views.text.shapes import shapes
from torch._dynamo.backends.registry import lookup_backend
from torch._inductor.compile_fx import compile_fx

SIZE = "L['x'].size()[0]"


@pytest.mark.parametrize(
    ("expression", "final"),
    [
        (f"2 <= {SIZE} <= 4096", "[2, 4096]"),
        (f"4097 <= {SIZE}", "[4097, int_oo]"),
        (f"{SIZE} <= 64", "[2, 64]"),
        (f"64*{SIZE} <= 4096", "[2, int_oo]"),
        ("2 <= L['y'].size()[0] <= 4096", "[2, int_oo]"),
    ],
)
def test_a_guard_on_the_symbol_alone_is_its_range(expression: str, final: str) -> None:
    compilation = Compilation(
        id="0/0",
        symbols=[ShapeSymbol("s77", SIZE, "256", "[2, int_oo]")],
        guards=[Guard(expression=expression, type="LAMBDA_GUARD")],
    )
    complete_symbols(compilation)
    assert compilation.symbols[0].range == final


@pytest.mark.parametrize(
    ("relations", "final"),
    [
        (["u0 >= 2", "u0 < 9"], "[2, 8]"),
        (["1 < u0", "64 >= u0", "u0 >= 0"], "[2, 64]"),
        (["2*u0 <= 9", "u1 >= 1"], "[-int_oo, int_oo]"),
    ],
)
def test_what_a_graph_asserts_of_an_unbacked_symbol_is_its_range(
    relations: list[str], final: str
) -> None:
    text = "".join(
        f'"Runtime assertion failed for expression {relation} on node ' for relation in relations
    )
    for graphs, decisions in [
        ({"dynamo": Graph(stage="dynamo", text=text)}, []),
        ({}, [ShapeDecision(kind="guard", expression=relation) for relation in relations]),
    ]:
        compilation = Compilation(
            id="0/0",
            symbols=[ShapeSymbol("u0", range="[-int_oo, int_oo]")],
            graphs=graphs,
            shape_decisions=decisions,
        )
        complete_symbols(compilation)
        assert compilation.symbols[0].range == final


def test_an_assumption_is_no_range() -> None:
    compilation = Compilation(
        id="0/0",
        symbols=[ShapeSymbol("u0", range="[-int_oo, int_oo]")],
        shape_decisions=[ShapeDecision(kind="assumption", expression="u0 > 1", result="True")],
    )
    complete_symbols(compilation)
    assert compilation.symbols[0].range == "[-int_oo, int_oo]"


@pytest.mark.usefixtures("fresh_dynamo")
def test_unbacked_symbols_are_those_of_the_code_as_torch_has_them() -> None:
    environments = []

    def sizes(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        length = lengths.sum().item()
        torch._check(length >= 0)
        torch._check(length <= 64)
        return torch.zeros(length).sum() + x.nonzero().sum()

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> object:
        environments.append(torch._guards.TracingContext.get().fake_mode.shape_env)
        return lookup_backend("aot_eager")(graph, inputs)

    captured = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
    with cs.watch() as report, torch._dynamo.config.patch(captured):
        compiled = torch.compile(sizes, backend=backend, fullgraph=True)
        compiled(torch.ones(4), torch.tensor([3, 4]))
    (compilation,) = report.compilations
    (environment,) = environments
    ranges = {
        str(name): f"[{bounds.lower}, {bounds.upper}]"
        for name, bounds in environment.var_to_range.items()
    }
    shown = {symbol.name: symbol.range for symbol in compilation.symbols}
    assert shown == {"u0": "[0, 64]", "u1": "[0, 4]"}
    assert shown.items() <= ranges.items()
    # Retracing gave both further names.
    assert len(ranges) > len(shown)
    assert [symbol.stack[-1].code for symbol in compilation.symbols] == [
        "length = lengths.sum().item()",
        "return torch.zeros(length).sum() + x.nonzero().sum()",
    ]


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_watch_shows_the_range_and_all_sources_as_torch_has_them() -> None:
    environments = []

    def summed(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() * x.cos()).sum(-1)

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> object:
        environments.append(torch._guards.TracingContext.get().fake_mode.shape_env)
        return compile_fx(graph, inputs)

    with cs.watch() as report:
        torch.compile(summed, dynamic=True, backend=backend)(torch.randn(32, 32))
    (compilation,) = report.compilations
    (symbol,) = compilation.symbols
    (environment,) = environments
    ((name, bounds),) = environment.var_to_range.items()
    assert (symbol.name, symbol.range) == (str(name), f"[{bounds.lower}, {bounds.upper}]")
    assert symbol.range == "[2, 4096]"
    (sources,) = environment.var_to_sources.values()
    assert [symbol.source, *symbol.other_sources] == [source.name for source in sources]
    assert "s77 = L['x'].size()[0] = L['x'].size()[1], compiled with 32, in [2, 4096]" in shapes(
        compilation
    )
