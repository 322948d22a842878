"""The final range of a symbol, and all that it stands for, as torch has them after all guards."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis.guards.symbol_ranges import complete_symbols
from compilescope.report import Compilation, Guard, ShapeSymbol
from compilescope.views.text.shapes import shapes
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
