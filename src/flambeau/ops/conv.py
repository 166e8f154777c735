"""Convolutions in 1, 2 and 3 dimensions, their transposes, and the products that their gradients are made of.

Pooling is in pool.py, patches as tensors (unfold, fold) in fold.py.
"""

from .registry import composite, native, overload

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
]

_CONV_DOC = """{n}-d cross-correlation.

    y[n, o, p] = bias[o] + sum over c, t of weight[o, c, t] * input[n, c, p * stride + t * dilation - padding]

    Args:
        input: shape (batch, in, {size}) or (in, {size}).
        weight: shape (out, in / groups, {kernel}), same dtype.
        bias: shape (out,) or None.
        stride, padding, dilation: one integer or {n}; padding may be "valid" (none) or "same" (stride 1 only).
        groups: number of blocks that in and out channels are split into.
    Returns:
        Shape (batch, out, {size}); channels-last if input or weight is. Half types accumulate in float32.
    Raises:
        RuntimeError: sizes or dtypes do not match, or the kernel is larger than the padded input.
    Differentiable in input, weight, bias; supports second derivatives.
    """
_SIZES = {
    1: ("length", "k"),
    2: ("height, width", "kh, kw"),
    3: ("depth, height, width", "kd, kh, kw"),
}


def _channel_sum(grad, spatial):
    """Sum over everything but the channel dim, of a batched or unbatched gradient."""
    dims = tuple(d for d in range(grad.dim()) if d != grad.dim() - spatial - 1)
    return grad.sum(dims)


def _products(n):
    """The two transposes of the n-d convolution, as ops with rules in each other."""
    conv_input = native(
        f"conv{n}d_input(Tensor cotangent, Tensor weight, int[] input_size, int[{n}] stride, int[{n}] padding, "
        f"int[{n}] dilation, int groups) -> Tensor",
        doc=f"Gradient of conv{n}d in its input: the transposed convolution. Linear in cotangent and in weight.",
    )
    conv_weight = native(
        f"conv{n}d_weight(Tensor cotangent, Tensor input, int[] weight_size, int[{n}] stride, int[{n}] padding, "
        f"int[{n}] dilation, int groups) -> Tensor",
        doc=f"Gradient of conv{n}d in its weight. Linear in cotangent and in input.",
    )
    return conv_input, conv_weight


def _declare(n):  # noqa: C901 - the rules of a family, one closure each
    conv_input, conv_weight = _products(n)
    conv = native(
        f"conv{n}d(Tensor input, Tensor weight, Tensor? bias=None, int[{n}] stride=1, int[{n}] padding=0, "
        f"int[{n}] dilation=1, int groups=1) -> Tensor",
        doc=_CONV_DOC.format(n=n, size=_SIZES[n][0], kernel=_SIZES[n][1]),
    )

    @conv.vjp("input")
    def _(grad, input_meta, weight, stride, padding, dilation, groups):
        return conv_input(grad, weight.conj(), input_meta.shape, stride, padding, dilation, groups)

    @conv.vjp("weight")
    def _(grad, input, weight_meta, stride, padding, dilation, groups):
        return conv_weight(grad, input.conj(), weight_meta.shape, stride, padding, dilation, groups)

    @conv.vjp("bias")
    def _(grad):
        return _channel_sum(grad, n)

    @conv_input.vjp("cotangent")
    def _(grad, weight, stride, padding, dilation, groups):
        return conv(grad, weight.conj(), None, stride, padding, dilation, groups)

    @conv_input.vjp("weight")
    def _(grad, cotangent, weight_meta, stride, padding, dilation, groups):
        return conv_weight(
            cotangent.conj(), grad, weight_meta.shape, stride, padding, dilation, groups
        )

    @conv_weight.vjp("cotangent")
    def _(grad, input, stride, padding, dilation, groups):
        return conv(input.conj(), grad, None, stride, padding, dilation, groups)

    @conv_weight.vjp("input")
    def _(grad, cotangent, input_meta, stride, padding, dilation, groups):
        return conv_input(
            cotangent.conj(), grad, input_meta.shape, stride, padding, dilation, groups
        )

    transpose = native(
        f"conv_transpose{n}d(Tensor input, Tensor weight, Tensor? bias=None, int[{n}] stride=1, int[{n}] padding=0, "
        f"int[{n}] output_padding=0, int groups=1, int[{n}] dilation=1) -> Tensor",
        doc=f"""{n}-d transposed convolution: the gradient of conv{n}d with respect to its input, plus a bias.

    Args:
        input: shape (batch, in, {_SIZES[n][0]}) or (in, {_SIZES[n][0]}).
        weight: shape (in, out / groups, {_SIZES[n][1]}), same dtype.
        bias: shape (out,) or None.
        stride, padding, dilation: of the convolution that this one transposes.
        output_padding: added to one side of the result's size; less than stride or dilation.
        groups: number of blocks that in and out channels are split into.
    Returns:
        Shape (batch, out, *); each size is (in - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1.
    Raises:
        RuntimeError: sizes or dtypes do not match.
    Differentiable in input, weight, bias; supports second derivatives.
    """,
    )

    @transpose.vjp("input")
    def _(grad, weight, stride, padding, groups, dilation, input_meta):
        return _narrowed(
            conv(grad, weight.conj(), None, stride, padding, dilation, groups), input_meta, n
        )

    @transpose.vjp("weight")
    def _(grad, input, weight_meta, stride, padding, groups, dilation):
        return conv_weight(input.conj(), grad, weight_meta.shape, stride, padding, dilation, groups)

    @transpose.vjp("bias")
    def _(grad):
        return _channel_sum(grad, n)

    @composite()
    def conv_named(input, weight, bias=None, stride=1, padding="valid", dilation=1, groups=1):
        """Convolution with padding given by name."""
        if padding == "valid":
            return conv(input, weight, bias, stride, 0, dilation, groups)
        if padding != "same":
            raise RuntimeError(
                f"conv: Invalid padding string: '{padding}', expected 'valid' or 'same'."
            )
        strides = (stride,) * n if isinstance(stride, int) else tuple(stride)
        dilations = (dilation,) * n if isinstance(dilation, int) else tuple(dilation)
        if len(dilations) == 1:
            dilations = dilations * n
        if any(s != 1 for s in strides):
            raise RuntimeError("conv: padding='same' is not supported for strided convolutions")
        totals = [d * (k - 1) for d, k in zip(dilations, tuple(weight.shape[2:]), strict=False)]
        extra = []
        for total in reversed(
            totals
        ):  # odd totals get their extra element at the end, outside the convolution
            extra += [0, total % 2]
        if any(extra):
            from .pad import constant_pad_nd

            input = constant_pad_nd(input, extra, 0.0)
        return conv(
            input, weight, bias, strides, [total // 2 for total in totals], dilations, groups
        )

    return overload(f"conv{n}d", conv, conv_named), transpose


def _narrowed(result, meta, n):
    """Cuts what output_padding >= stride adds: the convolution of the padded size may give more positions."""
    for d in range(1, n + 1):
        if result.shape[-d] != meta.shape[-d]:
            result = result.narrow(-d, 0, meta.shape[-d])
    return result


conv1d, conv_transpose1d = _declare(1)
conv2d, conv_transpose2d = _declare(2)
conv3d, conv_transpose3d = _declare(3)


@composite()
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """Convolution or transposed convolution of as many dims as `weight` has beyond two."""
    n = weight.dim() - 2
    if transposed:
        op = (conv_transpose1d, conv_transpose2d, conv_transpose3d)[n - 1]
        return op(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (conv1d, conv2d, conv3d)[n - 1](input, weight, bias, stride, padding, dilation, groups)
