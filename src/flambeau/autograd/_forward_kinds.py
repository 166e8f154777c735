"""Ops whose tangents have a shorter way than the general one (csrc/autograd/forward_op.cpp).

Only `at_one` is needed for correct results; the others are a matter of speed. tests/ops/test_forward_ad.py holds every
op against its gradient, so that a wrong entry shows.
"""

from .. import _C

KINDS = {
    # The op itself on tangents: linear in all of its floating-point tensors together.
    "linear": """
        _to_layout adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d cat
        clone col2im complex cumsum diag_embed diagonal_backward diagonal_scatter fft_c2c fft_c2r fft_r2c flip gather
        im2col index index_add index_select interpolate_to masked_select mean pad_mode repeat roll scatter_add
        select_backward select_scatter slice_backward slice_scatter stack sum take tril triu unfold_backward
    """,
    # In the first two tensors; conv and linear have a bias as the third.
    "bilinear": """
        bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d dot linear matmul mm mv
    """,
    # Each result element depends on the matching elements only; complex differentiable in each argument.
    "holomorphic": """
        acos acosh add addcdiv addcmul asin asinh atan atanh cos cosh div exp exp2 expm1 log log10 log1p log2 mul neg
        pow rdiv reciprocal rsqrt rsub sigmoid sigmoid_backward sin sinh sqrt square sub tan tanh tanh_backward
        where_self
    """,
    # Likewise elementwise, for real numbers.
    "elementwise": """
        abs atan2 clamp clamp_max clamp_min copysign digamma elu_backward elu_scaled erf erfc erfinv fmax fmin fmod frac
        gelu gelu_backward hardsigmoid hardswish hardtanh hypot i0 leaky_relu leaky_relu_backward lgamma logaddexp
        logit logsigmoid maximum minimum mish remainder relu relu6 silu silu_backward softplus softplus_backward
        threshold threshold_backward xlogy
    """,
    # The rule takes a logarithm of its cotangent: linear, but not at zero.
    "at_one": "logcumsumexp",
}


def register():
    """Tell the core, in-place forms included."""
    from ..ops.registry import OPS

    for kind, names in KINDS.items():
        for name in names.split():
            _C._set_forward_kind(name, kind)
            if f"{name}_" in OPS:
                _C._set_forward_kind(f"{name}_", kind)
