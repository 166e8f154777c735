"""Normalisations: layer, rms, batch and group norm, with fused backward ops; renorm.

instance_norm and local_response_norm are compositions in nn.functional.
"""

from ._differentiate import differentiate
from .registry import composite, native

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "renorm",
    "rms_norm",
]

layer_norm = native(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enable=True) -> Tensor",
    doc="""Normalise each trailing slice to zero mean and unit variance.

    y = (x - mean) / sqrt(var + eps) * weight + bias, with the biased variance.

    Args:
        input: floating point, shape (*, *normalized_shape); * is any number of leading dims.
        normalized_shape: sizes of the trailing dims that are reduced.
        weight, bias: shape normalized_shape; None means 1 and 0.
        eps: added to the variance; same unit as input squared.
    Returns:
        Same shape and dtype as input. float16 and bfloat16 accumulate in float32.
    Raises:
        RuntimeError: the trailing sizes differ from normalized_shape.
    Differentiable in input, weight, bias; supports second derivatives.
    Example:
        >>> layer_norm(tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    References:
        Ba, Kiros, Hinton, "Layer Normalization", 2016, arXiv:1607.06450, eq. 3. Differs: the paper has no eps.
    """,
)
_rms_norm = native(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    doc="""Divide each trailing slice by its root mean square: y = x / sqrt(mean(x ** 2) + eps) * weight.

    eps defaults to the machine epsilon of the dtype computed in. Zhang, Sennrich, 2019, arXiv:1910.07467, eq. 4.
    """,
)


@composite
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide each trailing slice by its root mean square: y = x / sqrt(mean(x ** 2) + eps) * weight.

    Args:
        input: floating or complex, shape (*, *normalized_shape).
        eps: by default the machine epsilon of the dtype computed in.
    References:
        Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019, arXiv:1910.07467, eq. 4.
    """
    if not input.is_complex():
        return _rms_norm(input, normalized_shape, weight, eps)
    # The complex square, not the modulus: PyTorch's definition.
    if eps is None:
        eps = 2.220446049250313e-16 if input.dtype.itemsize == 16 else 1.1920928955078125e-07
    y = input * ((input * input).mean(_trailing(normalized_shape), True) + eps).rsqrt()
    return y if weight is None else y * weight


native_layer_norm = native(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) "
    "-> (Tensor output, Tensor mean, Tensor rstd)",
    doc="layer_norm that also gives the mean and 1 / sqrt(var + eps) of each slice.",
)
layer_norm_backward = native(
    "layer_norm_backward(Tensor grad_output, Tensor input, int[] normalized_shape, Tensor? weight, float eps, "
    "bool rms, bool[] output_mask) -> (Tensor d_input, Tensor d_weight, Tensor d_bias)",
    doc="Cotangents of layer_norm's (rms_norm's) input, weight and bias, as far as output_mask asks for them.",
)


@layer_norm.vjp
def _(grad, input, normalized_shape, weight, eps, needs):
    return layer_norm_backward(grad, input, normalized_shape, weight, eps, False, needs)


@_rms_norm.vjp
def _(grad, input, normalized_shape, weight, eps, needs):
    if eps is None:
        eps = 2.220446049250313e-16 if input.dtype.itemsize == 8 else 1.1920928955078125e-07
    return layer_norm_backward(
        grad, input, normalized_shape, weight, eps, True, (needs[0], needs[1], False)
    )[:2]


@native_layer_norm.vjp
def _(grad_output, grad_mean, grad_rstd, input, normalized_shape, weight, bias, eps, needs):
    if grad_mean is None and grad_rstd is None:
        return layer_norm_backward(grad_output, input, normalized_shape, weight, eps, False, needs)

    def formula(x, w, b):
        mean, rstd = _slice_statistics(x, normalized_shape, eps)
        y = (x - mean) * rstd
        y = y if w is None else y * w
        return (y if b is None else y + b), mean, rstd

    return differentiate(formula, (input, weight, bias), needs, (grad_output, grad_mean, grad_rstd))


def _trailing(shape):
    return tuple(range(-len(shape), 0))


def _slice_statistics(x, shape, eps):
    dims = _trailing(shape)
    mean = x.mean(dims, True)
    centred = x - mean
    return mean, ((centred * centred).mean(dims, True) + eps).rsqrt()


def _layer_formula(normalized_shape, eps, rms):
    """layer_norm_backward as plain ops."""

    def formula(grad, x, weight):
        dims = _trailing(normalized_shape)
        leading = tuple(range(x.dim() - len(normalized_shape)))
        if rms:
            mean, rstd = 0, ((x * x).mean(dims, True) + eps).rsqrt()
        else:
            mean, rstd = _slice_statistics(x, normalized_shape, eps)
        normal = (x - mean) * rstd
        g = grad if weight is None else grad * weight
        inner = g - normal * (g * normal).mean(dims, True)
        if not rms:
            inner = inner - g.mean(dims, True)
        d_weight, d_bias = grad * normal, grad
        if leading:
            d_weight, d_bias = d_weight.sum(leading), d_bias.sum(leading)
        return rstd * inner, d_weight, d_bias

    return formula


@layer_norm_backward.vjp
def _(
    grad_d_input,
    grad_d_weight,
    grad_d_bias,
    grad_output,
    input,
    normalized_shape,
    weight,
    eps,
    rms,
    needs,
):
    cotangents = (grad_d_input, grad_d_weight, grad_d_bias)
    return differentiate(
        _layer_formula(normalized_shape, eps, rms), (grad_output, input, weight), needs, cotangents
    )


_batch_norm = native(
    "_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, Tensor(b!)? running_var, "
    "bool training, float momentum, float eps) -> (Tensor output, Tensor mean, Tensor rstd)",
    doc="""Normalise each channel (dim 1): y = (x - mean) / sqrt(var + eps) * weight + bias.

    In training the statistics are the batch's (biased variance), and the running ones, where given, move towards them:
    running = (1 - momentum) * running + momentum * batch, with the unbiased variance. Else the running ones are used.

    Args:
        input: shape (batch, channels, *), row-major or channels-last, which the result keeps.
        weight, bias, running_mean, running_var: shape (channels,); None means 1, 0, and no running statistics.
    Returns:
        The output, and the mean and 1 / sqrt(var + eps) per channel that it was made with.
    Differentiable in input, weight, bias; supports second derivatives.
    References:
        Ioffe, Szegedy, "Batch Normalization", 2015, arXiv:1502.03167, algorithm 1.
    """,
)
_batch_norm_backward = native(
    "_batch_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training, "
    "float eps, bool[] output_mask) -> (Tensor d_input, Tensor d_weight, Tensor d_bias)",
    doc="Cotangents of _batch_norm's input, weight and bias, as far as output_mask asks for them.",
)


@_batch_norm.vjp
def _(grad_output, input, weight, mean, rstd, training, eps, needs):
    if grad_output is None:
        return (None,) * 5
    return (
        *_batch_norm_backward(grad_output, input, weight, mean, rstd, training, eps, needs[:3]),
        None,
        None,
    )


def _channel_shape(x):
    return [1, x.shape[1]] + [1] * (x.dim() - 2)


def _batch_formula(mean, rstd, training, eps):
    """_batch_norm_backward as plain ops; in evaluation mean and rstd are constants."""

    def formula(grad, x, weight):
        shape = _channel_shape(x)
        dims = [d for d in range(x.dim()) if d != 1]
        if training:
            centred = x - x.mean(dims, True)
            scale = ((centred * centred).mean(dims, True) + eps).rsqrt()
        else:
            centred, scale = x - mean.reshape(shape), rstd.reshape(shape)
        normal = centred * scale
        g = grad if weight is None else grad * weight.reshape(shape)
        inner = g - g.mean(dims, True) - normal * (g * normal).mean(dims, True) if training else g
        return scale * inner, (grad * normal).sum(dims), grad.sum(dims)

    return formula


@_batch_norm_backward.vjp
def _(
    grad_d_input,
    grad_d_weight,
    grad_d_bias,
    grad_output,
    input,
    weight,
    mean,
    rstd,
    training,
    eps,
    needs,
):
    formula = _batch_formula(mean, rstd, training, eps)
    cotangents = (grad_d_input, grad_d_weight, grad_d_bias)
    return (
        *differentiate(formula, (grad_output, input, weight), needs[:3], cotangents),
        None,
        None,
    )


@composite
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """batch_norm that also gives the batch's mean and 1 / sqrt(var + eps) per channel; both empty in evaluation."""
    output, mean, rstd = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if not training:
        mean, rstd = mean.new_empty((0,)), rstd.new_empty((0,))
    return output, mean, rstd


def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
    cudnn_enabled=True,
):
    """_batch_norm's output, with the arguments of nn.functional.batch_norm."""
    if input.dim() < 2 and input.numel() == 0:
        return input.clone()  # no channels to speak of; PyTorch lets it pass
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


group_norm = native(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enabled=True) -> Tensor",
    doc="""Normalise groups of channels of each batch item to zero mean and unit variance.

    Args:
        input: shape (batch, channels, *).
        num_groups: divides channels.
        weight, bias: shape (channels,); None means 1 and 0.
    Differentiable in input, weight, bias; supports second derivatives.
    References:
        Wu, He, "Group Normalization", 2018, arXiv:1803.08494, eq. 1 and 7.
    """,
)
native_group_norm = native(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) "
    "-> (Tensor output, Tensor mean, Tensor rstd)",
    doc="group_norm that also gives the mean and 1 / sqrt(var + eps) of each (batch item, group).",
)
group_norm_backward = native(
    "group_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, int num_groups, float eps, "
    "bool[] output_mask) -> (Tensor d_input, Tensor d_weight, Tensor d_bias)",
    doc="Cotangents of group_norm's input, weight and bias, as far as output_mask asks for them.",
)


@group_norm.vjp
def _(grad, input, num_groups, weight, eps, needs):
    return group_norm_backward(grad, input, weight, num_groups, eps, needs)


def _group_statistics(x, groups, eps):
    flat = x.reshape(x.shape[0], groups, -1)  # (batch, group, element)
    mean = flat.mean(-1, True)
    centred = flat - mean
    return centred, mean, ((centred * centred).mean(-1, True) + eps).rsqrt()


@native_group_norm.vjp
def _(grad_output, grad_mean, grad_rstd, input, weight, bias, N, C, HxW, group, eps, needs):
    def formula(x, w, b):
        centred, mean, rstd = _group_statistics(x.reshape(N, C, HxW), group, eps)
        y = (centred * rstd).reshape(N, C, HxW)
        y = y if w is None else y * w.reshape(1, C, 1)
        y = y if b is None else y + b.reshape(1, C, 1)
        return y.reshape(x.shape), mean.squeeze(-1), rstd.squeeze(-1)

    return differentiate(formula, (input, weight, bias), needs, (grad_output, grad_mean, grad_rstd))


def _group_formula(groups, eps):
    """group_norm_backward as plain ops."""

    def formula(grad, x, weight):
        shape = _channel_shape(x)
        centred, _, rstd = _group_statistics(x, groups, eps)
        normal = centred * rstd
        g = grad if weight is None else grad * weight.reshape(shape)
        g = g.reshape(normal.shape)
        inner = g - g.mean(-1, True) - normal * (g * normal).mean(-1, True)
        dims = [d for d in range(x.dim()) if d != 1]
        return (
            (rstd * inner).reshape(x.shape),
            (grad * normal.reshape(x.shape)).sum(dims),
            grad.sum(dims),
        )

    return formula


@group_norm_backward.vjp
def _(grad_d_input, grad_d_weight, grad_d_bias, grad_output, input, weight, num_groups, eps, needs):
    cotangents = (grad_d_input, grad_d_weight, grad_d_bias)
    return differentiate(
        _group_formula(num_groups, eps), (grad_output, input, weight), needs, cotangents
    )


@composite
def instance_norm(
    input,
    weight,
    bias,
    running_mean,
    running_var,
    use_input_stats,
    momentum,
    eps,
    cudnn_enabled=True,
):
    """torch.instance_norm's argument order over nn.functional.instance_norm."""
    from ..nn.functional import instance_norm as functional

    return functional(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


@composite(methods=("renorm",), out=True)
def renorm(input, p, dim, maxnorm):
    """Scale each slice along dim down to the p-norm maxnorm, if its norm is larger."""
    from .reduce import vector_norm

    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if input.dim() < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions"
        )
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    rank = input.dim()
    if not -rank <= dim < rank:
        raise IndexError(
            f"renorm: Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
        )
    dims = [d for d in range(rank) if d != dim % rank]
    norm = vector_norm(input, p, dims, True)
    # The small constant is PyTorch's.
    factor = (maxnorm / (norm + 1e-7)).where(norm > maxnorm, norm.new_ones(()))
    return input.contiguous() * factor


def _renorm_(input, p, dim, maxnorm):
    """In-place form of renorm."""
    return input.copy_(renorm(input.clone(), p, dim, maxnorm))  # the clone is what backward reads


composite(_renorm_, methods=("renorm_",))
