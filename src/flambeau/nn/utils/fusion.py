"""Folding of batch normalisation into the layer before it."""

import flambeau
from flambeau.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def _scale_and_shift(bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    inverse = flambeau.rsqrt(bn_rv + bn_eps)
    weight = flambeau.ones_like(bn_rm) if bn_w is None else bn_w
    shift = flambeau.zeros_like(bn_rm) if bn_b is None else bn_b
    return weight * inverse, shift


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of the convolution that equals convolution and batch norm; dtypes are the convolution's."""
    scale, shift = _scale_and_shift(bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    bias = flambeau.zeros_like(bn_rm) if conv_b is None else conv_b
    bias_dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    shape = [1, -1] if transpose else [-1, 1]
    shape += [1] * (conv_w.dim() - 2)
    weight = (conv_w * scale.reshape(shape)).to(dtype=conv_w.dtype)
    bias = ((bias - bn_rm) * scale + shift).to(dtype=bias_dtype)
    requires_bias_grad = conv_b.requires_grad if conv_b is not None else conv_w.requires_grad
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, requires_bias_grad)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of `conv` that does the work of both modules; both have to be in evaluation mode."""
    from copy import deepcopy

    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError(
            "fuse_conv_bn_eval: expected batch norm with running statistics, got none to fold."
        )
    fused = deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of the linear layer that equals linear layer and batch norm."""
    scale, shift = _scale_and_shift(bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    bias = flambeau.zeros_like(bn_rm) if linear_b is None else linear_b
    weight = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    bias = ((bias - bn_rm) * scale + shift).to(
        linear_w.dtype if linear_b is None else linear_b.dtype
    )
    requires_bias_grad = linear_b.requires_grad if linear_b is not None else linear_w.requires_grad
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, requires_bias_grad)


def fuse_linear_bn_eval(linear, bn):
    """A copy of `linear` that does the work of both modules; both have to be in evaluation mode."""
    from copy import deepcopy

    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    fused = deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
