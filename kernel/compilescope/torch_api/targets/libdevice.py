"""Replaces libdevice and single instructions by torch's functions, without a device."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, special

_SAME_NAME = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nextafter",
    "pow",
    "remainder",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
)


def _exponent(x: Tensor) -> Tensor:
    """C's ``ilogb`` for finite numbers other than zero."""
    return torch.frexp(x).exponent - 1


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    **{name: getattr(torch, name) for name in _SAME_NAME},
    "cbrt": lambda x: x.sign() * x.abs().pow(1 / 3),
    "cyl_bessel_i0": special.i0,
    "cyl_bessel_i1": special.i1,
    "div_rn": torch.div,
    "erfcx": special.erfcx,
    "exp10": lambda x: torch.exp(x * math.log(10)),
    "fast_cosf": torch.cos,
    "fast_dividef": torch.div,
    "fast_expf": torch.exp,
    "fast_log10f": torch.log10,
    "fast_log2f": torch.log2,
    "fast_logf": torch.log,
    "fast_powf": torch.pow,
    "fast_sinf": torch.sin,
    "fast_tanf": torch.tan,
    "fast_tanhf": torch.tanh,
    "fdim": lambda x, y: (x - y).clamp(min=0),
    "finitef": torch.isfinite,
    "fma": lambda x, y, z: x * y + z,
    "ilogb": _exponent,
    "isfinited": torch.isfinite,
    "isinf": torch.isinf,
    "isnan": torch.isnan,
    "j0": special.bessel_j0,
    "j1": special.bessel_j1,
    "llrint": torch.round,
    "nearbyint": torch.round,
    "normcdf": special.ndtr,
    "normcdfinv": special.ndtri,
    "rcp_rn": torch.reciprocal,
    "rint": torch.round,
    "round": lambda x: x.sign() * torch.floor(x.abs() + 0.5),
    "signbit": torch.signbit,
    "sqrt_rn": torch.sqrt,
    "y0": special.bessel_y0,
    "y1": special.bessel_y1,
}
"""Name → the function, which takes tensors of one type."""

INSTRUCTIONS: dict[str, Callable[..., Tensor]] = {
    # The product of two float32 is exact in float64, so it is rounded once, as on the GPU.
    "fma.rn.f32 $0, $1, $2, $3;": lambda x, y, z: (x.double() * y.double() + z.double()).float(),
    "rcp.approx.ftz.f32 $0, $1;": torch.reciprocal,
}
"""NVIDIA instructions that Inductor writes itself (for ``atan``) → the functions they compute."""

INTEGERS: dict[str, str] = {
    "finitef": "int32",
    "ilogb": "int32",
    "isfinited": "int32",
    "isinf": "int32",
    "isnan": "int32",
    "llrint": "int64",
    "signbit": "int32",
}
"""Functions with integers as results → Triton's name of their type."""
