"""Activation functions, each a kernel with a kernel for its derivative where models spend time."""

import math

from .. import _C
from .exp_log import exp
from .pointwise import ones_like, unary, zeros_like
from .registry import composite, native
from .special_unary import sigmoid
from .ternary import where
from .trig import tanh

relu = unary(
    "relu",
    """max(input, 0).

    Args:
        input: real, not bool, any shape.
    Returns:
        Same shape and dtype as input; NaN stays.
    Differentiable: the gradient at 0 is 0.
    Example:
        >>> flambeau.relu(flambeau.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """,
    out=False,
)
relu_ = relu.inplace

_threshold_backward = native(
    "threshold_backward(Tensor grad_output, Tensor input, float threshold) -> Tensor",
    doc="grad_output where input > threshold, else 0.",
)


@relu.vjp
def _(grad, result):
    return _threshold_backward(grad, result, 0.0)


@_threshold_backward.vjp("grad_output")
def _(grad, input, threshold):
    return _threshold_backward(grad, input, threshold)


@_threshold_backward.vjp("input")
def _(grad):
    return zeros_like(grad)


threshold = native(
    "threshold(Tensor input, Scalar threshold, Scalar value) -> Tensor",
    inplace=True,
    out=True,
    doc="Input where input > threshold, else value.",
)


@threshold.vjp
def _(grad, input, threshold):
    return _threshold_backward(grad, input, float(threshold))


threshold_ = threshold.inplace

leaky_relu = native(
    "leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor",
    inplace=True,
    doc="Input where it is positive, else negative_slope * input.",
)
_leaky_relu_backward = native(
    "leaky_relu_backward(Tensor grad_output, Tensor input, float negative_slope) -> Tensor",
    doc="grad_output where input > 0, else negative_slope * grad_output.",
)


@leaky_relu.vjp
def _(grad, input, negative_slope):
    return _leaky_relu_backward(grad, input, negative_slope)


@_leaky_relu_backward.vjp("grad_output")
def _(grad, input, negative_slope):
    return _leaky_relu_backward(grad, input, negative_slope)


@_leaky_relu_backward.vjp("input")
def _(grad):
    return zeros_like(grad)


leaky_relu_ = leaky_relu.inplace

_elu = native(
    "elu_scaled(Tensor input, float alpha, float scale, float input_scale) -> Tensor",
    inplace=True,
    doc="scale * (input if input > 0 else alpha * (exp(input * input_scale) - 1)).",
)
_elu_backward = native(
    "elu_backward(Tensor grad_output, Tensor input, float alpha, float scale, float input_scale) -> Tensor",
    doc="grad_output times the derivative of elu_scaled at input.",
)


@_elu.vjp
def _(grad, input, alpha, scale, input_scale):
    return _elu_backward(grad, input, alpha, scale, input_scale)


@_elu_backward.vjp("grad_output")
def _(grad, input, alpha, scale, input_scale):
    return _elu_backward(grad, input, alpha, scale, input_scale)


@_elu_backward.vjp("input")
def _(grad, grad_output, input, alpha, scale, input_scale):
    curvature = exp(input * input_scale) * (alpha * scale * input_scale * input_scale)
    return where(input <= 0, grad * grad_output * curvature, 0)


def elu(input, alpha=1.0):
    """Input where it is positive, else alpha * (exp(input) - 1)."""
    return _elu(input, alpha, 1.0, 1.0)


def elu_(input, alpha=1.0):
    """Elu in place."""
    return _elu.inplace(input, alpha, 1.0, 1.0)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def selu(input):
    """Self-normalising elu: scale * (input if positive else alpha * (exp(input) - 1)), with fixed scale and alpha.

    References:
        Klambauer et al., "Self-Normalizing Neural Networks", 2017, arXiv:1706.02515.
    """
    return _elu(input, _SELU_ALPHA, _SELU_SCALE, 1.0)


def selu_(input):
    """Selu in place."""
    return _elu.inplace(input, _SELU_ALPHA, _SELU_SCALE, 1.0)


def _check_celu(alpha):
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")


def celu(input, alpha=1.0):
    """Input where it is positive, else alpha * (exp(input / alpha) - 1)."""
    _check_celu(alpha)
    return _elu(input, alpha, 1.0, 1.0 / alpha)


def celu_(input, alpha=1.0):
    """Celu in place."""
    _check_celu(alpha)
    return _elu.inplace(input, alpha, 1.0, 1.0 / alpha)


gelu = native(
    "gelu(Tensor input, *, str approximate='none') -> Tensor",
    out=True,
    doc="""Gaussian error linear unit: input * Phi(input), Phi the normal distribution function.

    approximate="tanh": 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).

    References:
        Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv:1606.08415.
    """,
)
_gelu_backward = native(
    "gelu_backward(Tensor grad_output, Tensor input, *, str approximate='none') -> Tensor",
    doc="grad_output times the derivative of gelu at input.",
)


@gelu.vjp
def _(grad, input, approximate):
    return _gelu_backward(grad, input, approximate=approximate)


@_gelu_backward.vjp("grad_output")
def _(grad, input, approximate):
    return _gelu_backward(grad, input, approximate=approximate)


@_gelu_backward.vjp("input")
def _(grad, grad_output, input, approximate):
    if approximate == "none":
        density = exp(input.square() * -0.5) / math.sqrt(2 * math.pi)
        return grad * grad_output * (2 - input.square()) * density
    factor = math.sqrt(2 / math.pi)
    bend = tanh(factor * (input + 0.044715 * input.pow(3)))
    slope, curve = factor * (1 + 3 * 0.044715 * input.square()), 6 * 0.044715 * factor * input
    sech = 1 - bend.square()
    return grad * grad_output * sech * (slope + 0.5 * input * (curve - 2 * bend * slope.square()))


silu = unary("silu", "input * sigmoid(input), also called swish.", methods=())
_silu_backward = native(
    "silu_backward(Tensor grad_output, Tensor input) -> Tensor",
    doc="grad_output times the derivative of silu at input.",
)


@silu.vjp
def _(grad, input):
    if input.is_complex():
        gate = sigmoid(input)
        return grad * (gate * (1 + input * (1 - gate))).conj()
    return _silu_backward(grad, input)


@_silu_backward.vjp("grad_output")
def _(grad, input):
    return _silu_backward(grad, input)


@_silu_backward.vjp("input")
def _(grad, grad_output, input):
    gate = sigmoid(input)
    return grad * grad_output * gate * (1 - gate) * (2 + input * (1 - 2 * gate))


mish = unary("mish", "input * tanh(softplus(input)); Misra, 2019, arXiv:1908.08681.", methods=())
_mish_backward = native(
    "mish_backward(Tensor grad_output, Tensor input) -> Tensor",
    doc="grad_output times the derivative of mish at input.",
)


@mish.vjp
def _(grad, input):
    return _mish_backward(grad, input)


@_mish_backward.vjp("grad_output")
def _(grad, input):
    return _mish_backward(grad, input)


@_mish_backward.vjp("input")
def _(grad, grad_output, input):
    gate, bend = sigmoid(input), tanh(softplus(input))
    sech = 1 - bend.square()
    curvature = gate * (1 - gate) - 2 * gate.square() * bend
    return grad * grad_output * sech * (2 * gate + input * curvature)


softplus = native(
    "softplus(Tensor input, float beta=1, float threshold=20) -> Tensor",
    out=True,
    doc="log(1 + exp(beta * input)) / beta; input itself where beta * input > threshold.",
)
_softplus_backward = native(
    "softplus_backward(Tensor grad_output, Tensor input, float beta, float threshold) -> Tensor",
    doc="grad_output times the derivative of softplus at input.",
)


@softplus.vjp
def _(grad, input, beta, threshold):
    return _softplus_backward(grad, input, beta, threshold)


@_softplus_backward.vjp("grad_output")
def _(grad, input, beta, threshold):
    return _softplus_backward(grad, input, beta, threshold)


@_softplus_backward.vjp("input")
def _(grad, grad_output, input, beta, threshold):
    gate = sigmoid(input * beta)
    return where(input * beta > threshold, 0, grad * grad_output * gate * (1 - gate) * beta)


logsigmoid = native(
    "logsigmoid(Tensor input) -> Tensor", out=True, doc="log(sigmoid(input)), without overflow."
)


@logsigmoid.vjp
def _(grad, input):
    return grad * sigmoid(-input)


hardtanh = native(
    "hardtanh(Tensor input, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    inplace=True,
    out=True,
    doc="Limit values to [min_val, max_val]; the gradient is 0 at the limits too.",
)


_hardtanh_backward = native(
    "hardtanh_backward(Tensor grad_output, Tensor input, float min_val, float max_val) -> Tensor",
    doc="grad_output where min_val < input < max_val, else 0.",
)


@hardtanh.vjp
def _(grad, input, min_val, max_val):
    return _hardtanh_backward(grad, input, float(min_val), float(max_val))


@_hardtanh_backward.vjp("grad_output")
def _(grad, input, min_val, max_val):
    return _hardtanh_backward(grad, input, min_val, max_val)


@_hardtanh_backward.vjp("input")
def _(grad):
    return zeros_like(grad)


hardtanh_ = hardtanh.inplace

relu6 = native("relu6(Tensor input) -> Tensor", inplace=True, doc="min(max(input, 0), 6).")


@relu6.vjp
def _(grad, result):
    return _hardtanh_backward(grad, result, 0.0, 6.0)


hardsigmoid = unary("hardsigmoid", "min(max(input + 3, 0), 6) / 6.", methods=())


@hardsigmoid.vjp
def _(grad, input):
    return where((input > -3) & (input < 3), grad / 6, 0)


hardswish = unary("hardswish", "input * hardsigmoid(input).", methods=())


_hardswish_backward = native(
    "hardswish_backward(Tensor grad_output, Tensor input) -> Tensor",
    doc="grad_output times the derivative of hardswish at input.",
)


@hardswish.vjp
def _(grad, input):
    return _hardswish_backward(grad, input)


@_hardswish_backward.vjp("grad_output")
def _(grad, input):
    return _hardswish_backward(grad, input)


@_hardswish_backward.vjp("input")
def _(grad, grad_output, input):
    return where((input > -3) & (input < 3), grad * grad_output / 3, 0)


hardshrink = native(
    "hardshrink(Tensor input, float lambd=0.5) -> Tensor",
    methods=("hardshrink",),
    out=True,
    doc="Input where |input| > lambd, else 0.",
)


@hardshrink.vjp
def _(grad, input, lambd):
    return where((input >= -lambd) & (input <= lambd), 0, grad)


softshrink = native(
    "softshrink(Tensor input, float lambd=0.5) -> Tensor",
    out=True,
    doc="Input moved towards 0 by lambd; 0 where |input| <= lambd.",
)


@softshrink.vjp
def _(grad, input, lambd):
    return where((input >= -lambd) & (input <= lambd), 0, grad)


@composite
def glu(input, dim=-1):
    """Gated linear unit: the first half of input along dim times the sigmoid of the second.

    References:
        Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2016, arXiv:1612.08083.
    """
    if input.dim() == 0:
        raise RuntimeError("glu: glu does not support 0-dimensional tensors")
    size = input.size(dim)
    if size % 2 != 0:
        raise RuntimeError(
            f"glu: Halving dimension must be even, but dimension {dim} is size {size}"
        )
    return input.narrow(dim, 0, size // 2) * sigmoid(input.narrow(dim, size // 2, size // 2))


_prelu = native(
    "prelu_broadcast(Tensor input, Tensor weight) -> Tensor",
    doc="Input where it is positive, else weight * input; weight broadcasts to input.",
)


@_prelu.vjp("input")
def _(grad, input, weight):
    return where(input > 0, grad, weight * grad)


@_prelu.vjp("weight")
def _(grad, input):
    return where(input > 0, 0, input * grad)


@composite(methods=("prelu",))
def prelu(input, weight):
    """Input where it is positive, else weight * input.

    Args:
        input: floating point, shape (n, channels, *) or any shape for one weight.
        weight: same dtype, shape (channels,) or (1,) or ().

    Raises:
        RuntimeError: the number of weights is neither 1 nor input.shape[1].
    """
    if weight.numel() != 1:
        if input.dim() == 0:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.dim() >= 2 else 1
        if channels != weight.numel():
            raise RuntimeError(
                "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
    if weight.dim() > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}"
        )
    if weight.dim() == 1:
        shape = [1] * input.dim()
        if input.dim() >= 2:
            shape[1] = weight.numel()
        weight = weight.reshape(shape)
    return _prelu(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """Leaky relu with a slope drawn uniformly from [lower, upper) per element; their mean when not training."""
    _check_bounds(lower, upper)
    if not training:
        return leaky_relu(input.contiguous(), (lower + upper) / 2)
    input = input.contiguous()  # as PyTorch's result is
    return input * _rrelu_slopes(input, lower, upper)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """Rrelu in place."""
    _check_bounds(lower, upper)
    if not training:
        return leaky_relu_(input, (lower + upper) / 2)
    return input.mul_(_rrelu_slopes(input.detach(), lower, upper))


def _check_bounds(lower, upper):
    if lower > upper:
        raise RuntimeError(
            f"rrelu: Lower bound should be less than or equal to the upper bound, got {lower} and {upper}."
        )


def _rrelu_slopes(input, lower, upper):
    negative = input <= 0
    # One draw in double precision per element that needs one, in order, as PyTorch draws them.
    slopes = ones_like(input)
    drawn = input.new_empty(int(negative.sum()), dtype=_C.float64).uniform_(lower, upper)
    slopes[negative] = drawn.to(input.dtype)
    return slopes


__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_",
    "leaky_relu", "leaky_relu_", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_", "rrelu", "rrelu_", "selu",
    "selu_", "silu", "softplus", "softshrink", "threshold", "threshold_",
]  # fmt: skip
