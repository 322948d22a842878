"""Reads the stride of an index from its coefficients.

While torch generates a vectorized kernel, it asks by how much an index grows with a loop variable.
Its answer, ``stride_at_vec_range``, simplifies the index and the difference of two of its values
with ``sympy.simplify``. If the index is a sum of integers and of integer multiples of variables,
as most are, simplifying changes the form and not the value, and the difference is the variable's
coefficient. Of any other index torch computes the stride itself.

Relies on ``torch._inductor.codegen.cpp.stride_at_vec_range``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy


def stride_of(original: Callable[..., Any], index: Any, variable: Any, *rest: Any) -> Any:
    """Return what ``original``, torch's ``stride_at_vec_range``, returns."""
    stride = linear_stride(index, variable)
    return original(index, variable, *rest) if stride is None else stride


def linear_stride(index: Any, variable: Any) -> sympy.Integer | None:
    """Return the coefficient of a variable; None if the index is not linear with integers."""
    if not isinstance(index, (sympy.Add, sympy.Mul, sympy.Symbol, sympy.Integer)):
        return None
    stride = sympy.S.Zero
    for term in sympy.Add.make_args(index):
        coefficient, factor = term.as_coeff_Mul()
        if not isinstance(coefficient, sympy.Integer):
            return None
        if factor == variable:
            stride += coefficient
        elif not (factor is sympy.S.One or isinstance(factor, sympy.Symbol)):
            return None
    return stride
