"""Kernels that Inductor writes from C++ templates are found in both wrappers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import compilescope as cs
import pytest
import torch
import torch._inductor.config
from compilescope.report import Compilation, Report
from torch.nn.attention.flex_attention import flex_attention

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo")]

GEMM = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "CPP"}


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return flex_attention(query, key, value, score_mod=lambda score, b, h, i, j: score + (i - j))


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x).relu())


@contextmanager
def frozen() -> Iterator[None]:
    """The template takes weights that are constants."""
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        yield


def launches(compilation: Compilation, artifact: str) -> dict[str, int]:
    """How often each kernel in C++ is launched in a wrapper."""
    return {
        kernel.name: sum(launch.artifact == artifact for launch in kernel.launches)
        for kernel in compilation.kernels
        if kernel.language == "cpp"
    }


def both(report: Report) -> Iterator[Compilation]:
    """The compilation of each wrapper, once what both must hold is asserted."""
    for name in ("python", "cpp"):
        variant = report.variant(name)
        assert variant.problems == []
        (compilation,) = variant.compilations
        code = compilation.code.cpp if name == "cpp" else compilation.code.python
        assert code
        data = launches(compilation, name)
        assert data
        assert set(data.values()) == {1}
        for kernel in compilation.kernels:
            assert kernel.source
            assert kernel.nodes
            assert any(source.file == str(Path(__file__)) for source in kernel.sources)
            for launch in kernel.launches:
                if launch.artifact == name:
                    assert kernel.name in code.split("\n")[launch.line - 1]
        yield compilation


def test_flex_attention_on_the_processor() -> None:
    args = tuple(torch.randn(1, 2, 64, 32) for _ in range(3))
    report = cs.inspect(attend, args, variants=("python", "cpp"), run=False)
    for compilation in both(report):
        kernel = next(kernel for kernel in compilation.kernels if "flex_attention" in kernel.nodes)
        assert "conditional_data_ptr" in kernel.source


def test_matrix_products_under_max_autotune() -> None:
    variants = {
        name: cs.Variant(cpp_wrapper=name == "cpp", options=GEMM) for name in ("python", "cpp")
    }
    with frozen():
        report = cs.inspect(Layers(), (torch.randn(32, 64),), variants=variants, run=False)
    for compilation in both(report):
        sources = [kernel.source for kernel in compilation.kernels]
        assert len(sources) == 2
        assert all("micro_gemm" in source for source in sources)


def test_options_that_leave_no_choice_are_the_reason_and_not_a_missing_operator() -> None:
    # Weights that may change have no C++ template.
    variant = cs.Variant(options=GEMM)
    with torch.no_grad():
        report = cs.inspect(Layers(), (torch.randn(32, 64),), variants=variant, run=False)
    (problem,) = report.variants[0].problems
    assert problem.what == "Inductor failed on the operator aten.addmm.default."
    assert "max_autotune_gemm_backends" in problem.why
    assert problem.where is not None
    assert "self.up(x)" in problem.where.code
