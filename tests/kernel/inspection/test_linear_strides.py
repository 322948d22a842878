"""A stride that is read from an index's coefficients is the one that torch computes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy
import torch
from compilescope.session.session import Session
from compilescope.torch_api.inductor.equal_kernels import linear_strides, reuse
from torch import nn

from ..fidelity_subjects import Residual

pytestmark = pytest.mark.skipif(
    not reuse.is_proven(), reason="torch computes every stride itself in this version"
)


def _symbols() -> list[sympy.Symbol]:
    from torch.utils._sympy.symbol import SymT, make_symbol

    kinds = (SymT.XBLOCK, SymT.INDEX, SymT.TMP, SymT.SIZE)
    return [make_symbol(kind, 0, integer=True, nonnegative=True) for kind in kinds]


def test_strides_of_linear_indices_are_torchs_own() -> None:
    from torch._inductor.sizevars import stride_at_vec_range

    variables = _symbols()
    factors = (-7, 0, 1, 64)
    for coefficients in itertools.product(factors, repeat=3):
        for constant in (-33, 0, 12):
            pairs = zip(coefficients, variables[1:], strict=True)
            rest = sum(factor * symbol for factor, symbol in pairs)
            index = sympy.sympify(rest + constant)
            _same(index, variables[1], 16, stride_at_vec_range)
            _same(index, variables[0], None, stride_at_vec_range)


def test_torch_computes_the_stride_of_any_other_index() -> None:
    from torch.utils._sympy.functions import FloorDiv, ModularIndexing

    x, d, indirect, size = _symbols()
    others = (
        size * x + d,
        x**2,
        x / 2,
        FloorDiv(x, 64) + x,
        16 * ModularIndexing(d, 1, 64) + x,
        sympy.Mul(2, x + indirect, evaluate=False),
        sympy.Mul(2, x, 3, evaluate=False),
        0.5 * x,
        x >= 3,
    )
    asked: list[Any] = []

    def original(index: Any, variable: Any, width: int) -> str:
        asked.append((index, variable, width))
        return "torch's own"

    for index in others:
        assert linear_strides.stride_of(original, index, x, 16) == "torch's own"
    assert asked == [(index, x, 16) for index in others]


@pytest.mark.slow
def test_no_stride_of_a_models_kernels_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"linear": 0, "other": 0}

    def compared(original: Any, index: Any, variable: Any, *rest: Any) -> Any:
        expected = original(index, variable, *rest)
        stride = linear_strides.linear_stride(index, variable)
        seen["other" if stride is None else "linear"] += 1
        if stride is not None:
            assert (type(stride), stride) == (type(expected), expected), (index, variable, rest)
        return expected

    monkeypatch.setattr(reuse, "stride_of", compared)
    model = nn.Sequential(Residual(8), nn.Flatten(2), nn.Softmax(1), nn.Linear(144, 5))
    report = Session().inspect(model, (torch.randn(2, 8, 12, 12),), run=False, variants=["python"])
    assert not report.variants[0].problems
    assert seen["linear"]


def _same(index: Any, variable: Any, width: int | None, original: Any) -> None:
    expected = original(index, variable, width)
    stride = linear_strides.linear_stride(index, variable)
    assert (type(stride), stride) == (type(expected), expected), (index, variable)
