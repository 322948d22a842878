"""Computes the stride of an index with respect to a loop variable with less simplification.

While torch generates a vectorized kernel, it asks by how much an index grows with a loop variable.
Its answer, ``stride_at_vec_range``, simplifies the index and the difference of two of its values
with ``sympy.simplify``, for each variable again. If the index is a polynomial with integer
coefficients, as most are, and grows by an integer, simplifying changes the form and not the value:
the stride is the variable's coefficient. If it grows by an expression of dynamic sizes, the stride
is computed as torch does, but each expression is simplified once: indices that differ in a constant
have the same difference. Of any other index torch computes the stride itself.

Relies on ``torch._inductor.codegen.cpp.stride_at_vec_range`` and ``torch._inductor.utils``
(sympy_subs).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import sympy

_MAX_SIMPLIFIED = 4096


def stride_of(original: Callable[..., Any], index: Any, variable: Any, *rest: Any) -> Any:
    """Return what ``original``, torch's ``stride_at_vec_range``, returns."""
    if not is_polynomial(index, variable):
        return original(index, variable, *rest)
    stride = linear_stride(index, variable)
    return symbolic_stride(index, variable, *rest) if stride is None else stride


def is_polynomial(index: Any, variable: Any) -> bool:
    """Whether an index is a sum of products of integers, symbols and quotients.

    A quotient is a ``FloorDiv`` or ``ModularIndexing`` without the variable, which is a number
    while the variable grows.
    """
    from torch.utils._sympy.functions import FloorDiv, ModularIndexing

    def is_factor(factor: Any) -> bool:
        if isinstance(factor, sympy.Pow):
            factor, exponent = factor.args
            if not (isinstance(exponent, sympy.Integer) and exponent > 0):
                return False
        if isinstance(factor, (FloorDiv, ModularIndexing)):
            return not factor.has(variable)
        return isinstance(factor, (sympy.Integer, sympy.Symbol))

    return isinstance(index, sympy.Expr) and all(
        is_factor(factor)
        for term in sympy.Add.make_args(index)
        for factor in sympy.Mul.make_args(term)
    )


def linear_stride(index: Any, variable: Any) -> sympy.Integer | None:
    """Return the coefficient of a variable in a polynomial; None if it is not an integer."""
    stride = sympy.S.Zero
    for term in sympy.Add.make_args(index):
        coefficient, factor = term.as_coeff_Mul()
        if factor == variable:
            stride += coefficient
        elif factor.has(variable):
            return None
    return stride


def symbolic_stride(index: Any, variable: Any, width: int | None = None) -> Any:
    """Return the stride of a polynomial as torch computes it."""
    from torch._inductor.utils import sympy_subs

    simplified = index
    while width:
        before, simplified = simplified, _simplified(simplified)
        if simplified == before:
            break
    if not simplified.has(variable):
        return sympy.S.Zero
    return _simplified(sympy_subs(simplified, {variable: variable + 1}) - simplified)


@functools.lru_cache(_MAX_SIMPLIFIED)
def _simplified(expression: Any) -> Any:
    return sympy.simplify(expression)
