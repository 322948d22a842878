"""The stride of a polynomial index is the one that torch computes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy
import torch
from compilescope.report.variant import Variant
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


def test_strides_of_indices_with_dynamic_sizes_are_torchs_own() -> None:
    from torch._inductor.sizevars import stride_at_vec_range
    from torch.utils._sympy.functions import FloorDiv, ModularIndexing

    x, d, indirect, size = _symbols()
    half = FloorDiv(size - 1, 2)
    padded = 64 * x * half**2 + 128 * x * half + 64 * x + 128 * d * half + 128 * d
    for index in (
        size * x + d,
        size**2 * x + size * x + 3,
        4 * x * indirect + size * indirect,
        padded - 64 * half - 128,
        padded + indirect + 64,
        d * size + x * ModularIndexing(size, 2, 16),
        sympy.Mul(2, x, 3, evaluate=False),
        x**2,
    ):
        for variable in (x, d, indirect):
            _same(index, variable, 16, stride_at_vec_range)
            _same(index, variable, None, stride_at_vec_range)


def test_torch_computes_the_stride_of_any_other_index() -> None:
    from torch.utils._sympy.functions import FloorDiv, ModularIndexing

    x, d, indirect, size = _symbols()
    others = (
        x / 2,
        x**size,
        FloorDiv(x, 64) + x,
        16 * ModularIndexing(x, 1, 64) + d,
        sympy.Mul(2, x + indirect, evaluate=False),
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
@pytest.mark.parametrize("dynamic", [None, True], ids=["static", "dynamic"])
def test_no_stride_of_a_models_kernels_differs(
    dynamic: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = linear_strides.stride_of
    seen = {"torch": 0, "compilescope": 0}

    def compared(original: Any, index: Any, variable: Any, *rest: Any) -> Any:
        expected = original(index, variable, *rest)
        stride = computed(lambda *_: None, index, variable, *rest)
        seen["torch" if stride is None else "compilescope"] += 1
        if stride is not None:
            assert (type(stride), stride) == (type(expected), expected), (index, variable, rest)
        return expected

    monkeypatch.setattr(reuse, "stride_of", compared)
    model = nn.Sequential(
        nn.MaxPool2d(3, 2, 1), Residual(8), nn.Flatten(2), nn.Softmax(1), nn.Linear(36, 5)
    )
    report = Session().inspect(
        model,
        (torch.randn(2, 8, 12, 12),),
        run=False,
        variants={"python": Variant(dynamic=dynamic)},
    )
    assert not report.variants[0].problems
    assert seen["compilescope"]


def _same(index: Any, variable: Any, width: int | None, original: Any) -> None:
    def not_torch(*_: Any) -> Any:
        raise AssertionError(f"torch is asked for the stride of {index} in {variable}.")

    expected = original(index, variable, width)
    stride = linear_strides.stride_of(not_torch, index, variable, width)
    assert (type(stride), stride) == (type(expected), expected), (index, variable)
