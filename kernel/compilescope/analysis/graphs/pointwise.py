"""torch's operators that compute each element of the result by itself."""

from __future__ import annotations

_TAGGED = """
    __ilshift__ __ixor__ __lshift__ __rshift__ __xor__ _conj_physical abs acos acosh add addcdiv
    addcmul angle asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min clip
    conj_physical copysign cos cosh deg2rad digamma div elu eq erf erfc erfinv exp exp2 expm1
    float_power floor fma fmax fmin fmod frac frexp gcd ge gelu gelu_backward gt hardshrink
    hardsigmoid hardtanh heaviside hypot i0 igamma igammac isfinite isinf isnan isneginf
    isposinf lcm ldexp le leaky_relu lerp lgamma log log10 log1p log2 logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logit logit_backward lt masked_fill maximum
    minimum mish mul mvlgamma nan_to_num native_dropout_backward ne neg nextafter polygamma
    positive pow rad2deg reciprocal relu relu6 remainder round rrelu rsqrt rsub selu sgn sigmoid
    sigmoid_backward sign signbit silu silu_backward sin sinc sinh softplus softshrink
    special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_entr special_erfcx special_hermite_polynomial_h
    special_hermite_polynomial_he special_i0e special_i1 special_i1e
    special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr
    special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_ndtri special_scaled_modified_bessel_k0
    special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
    special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_xlog1py
    special_zeta sqrt square sub tan tanh tanh_backward threshold threshold_backward true_divide
    trunc xlogy
"""
"""Those of ``aten`` and ``prims`` with ``torch.Tag.pointwise``.

They are listed here because a graph's text is read where torch may not be installed.
"""

_UNTAGGED = """
    __and__ __iand__ __ior__ __irshift__ __or__ _low_memory_max_pool_offsets_to_indices
    _neg_view bernoulli bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 cbrt
    elu_backward erf_inv erfcx exponential glu hardshrink_backward hardsigmoid_backward
    hardswish hardswish_backward hardtanh_backward inductor_cvt_e8m0_rceil inductor_randint
    inductor_random leaky_relu_backward log_sigmoid_backward mish_backward ndtri normal prelu
    rand rand_like randint randint_like randn randn_like rrelu_with_noise_functional shift_left
    shift_right_arithmetic softplus_backward softshrink_backward special_erf special_gammainc
    special_gammaincc special_ndtr spherical_bessel_j0 tril triu uniform zeta
"""
"""Those without the tag: random numbers, activations' gradients and most of ``prims``."""

_NAMES = frozenset((*_TAGGED.split(), *_UNTAGGED.split()))


def is_pointwise(name: str) -> bool:
    """Whether an operator is known as pointwise: ``add``, and ``add_``, which works in place."""
    return name in _NAMES or name.removesuffix("_") in _NAMES
