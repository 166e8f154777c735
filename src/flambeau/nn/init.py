"""Initial values of parameters. All functions work in place, without recording gradients, and return the tensor.

The numbers are PyTorch's for the same seed.
"""

import math

import flambeau

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_no_grad = flambeau.no_grad

_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = frozenset({
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
})  # fmt: skip


def calculate_gain(nonlinearity, param=None):
    """The recommended gain for a nonlinearity: 1 for linear ones and sigmoid, 5/3 for tanh, sqrt(2) for relu, ...

    Args:
        nonlinearity: name of the function in nn.functional.
        param: the negative slope of leaky_relu (default 0.01).
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill with draws from U(a, b)."""
    with _no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fill with draws from N(mean, std ** 2)."""
    with _no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fill with draws from N(mean, std ** 2) cut to [a, b].

    By rejection: from the normal distribution itself where [a, b] holds more than 0.3 of it, otherwise from U(a, b).
    """

    def cdf(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        import warnings

        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    inside = cdf((b - mean) / std) - cdf((a - mean) / std)
    with _no_grad():
        if inside > 0.3:
            tensor.normal_(mean, std, generator=generator)
            return _redraw(
                tensor,
                lambda t: t.normal_(mean, std, generator=generator),
                lambda t: (t < a) | (t > b),
            )
        # The density relative to its peak in [a, b] is the chance to accept a candidate.
        peak = min(max(mean, a), b)

        def rejected(t):
            ratio = (((peak - mean) / std) ** 2 - ((t - mean) / std) ** 2).mul_(0.5).exp_()
            return flambeau.empty_like(t).uniform_(0, 1, generator=generator) > ratio

        tensor.uniform_(a, b, generator=generator)
        return _redraw(tensor, lambda t: t.uniform_(a, b, generator=generator), rejected)


def _redraw(tensor, draw, rejected):
    """Replace rejected elements by further draws (of the whole shape, as PyTorch draws them) until none is left."""
    left = rejected(tensor)
    while bool(left.any()):
        candidate = draw(flambeau.empty_like(tensor))
        accepted = left & ~rejected(candidate)
        tensor.copy_(flambeau.where(accepted, candidate, tensor))
        left = left & ~accepted
    return tensor


def constant_(tensor, val):
    """Fill with a value."""
    with _no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fill with 1."""
    with _no_grad():
        return tensor.fill_(1.0)


def zeros_(tensor):
    """Fill with 0."""
    with _no_grad():
        return tensor.zero_()


def eye_(tensor):
    """Fill a matrix with the identity."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with _no_grad():
        return tensor.copy_(flambeau.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor, groups=1):
    """Fill a 3-, 4- or 5-d convolution weight so that the convolution passes its input through, as far as it can."""
    dims = tensor.dim()
    if dims not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    out_per_group = sizes[0] // groups
    centre = tuple(size // 2 for size in sizes[2:])
    with _no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(out_per_group, sizes[1])):
                tensor[(g * out_per_group + d, d, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    sizes = tensor.shape
    if len(sizes) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    if len(sizes) == 2:
        return sizes[1], sizes[0]
    receptive = math.prod(sizes[2:])
    return sizes[1] * receptive, sizes[0] * receptive


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fill from U(-k, k), k = gain * sqrt(6 / (fan_in + fan_out)).

    References:
        Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    with _no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fill from N(0, s ** 2), s = gain * sqrt(2 / (fan_in + fan_out))."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    with _no_grad():
        return tensor.normal_(0.0, std, generator=generator)


def _warn_zero_elements():
    import warnings

    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill from U(-k, k), k = gain * sqrt(3 / fan).

    Args:
        a: the negative slope of the leaky_relu behind this layer.
        mode: "fan_in" keeps the variance in the forward pass, "fan_out" in the backward pass.

    References:
        He et al., "Delving Deep into Rectifiers", 2015, arXiv:1502.01852.
    """
    if 0 in tensor.shape:
        _warn_zero_elements()
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    bound = math.sqrt(3.0) * std
    with _no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill from N(0, s ** 2), s = gain / sqrt(fan); see kaiming_uniform_."""
    if 0 in tensor.shape:
        _warn_zero_elements()
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    with _no_grad():
        return tensor.normal_(0, std, generator=generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Fill with a (semi-)orthogonal matrix times gain; dims behind the first are flattened.

    References:
        Saxe, McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear neural
        networks", 2013, arXiv:1312.6120.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    with _no_grad():
        flat = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
        if rows < cols:
            flat = flat.t()
        q, r = flambeau.linalg.qr(flat)
        # The sign of R's diagonal makes the distribution uniform.
        q = q * flambeau.diag(r, 0).sign()
        if rows < cols:
            q = q.t()
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill a matrix from N(0, std ** 2) and set a fraction `sparsity` of each column to zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with _no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            # PyTorch draws this permutation from the default generator whatever `generator` is.
            chosen = flambeau.randperm(rows)[:zeros]
            tensor[chosen, col] = 0
    return tensor


def _deprecated(function):
    name, old = function.__name__, function.__name__[:-1]

    def renamed(*args, **kwargs):
        import warnings

        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    renamed.__name__ = old
    renamed.__doc__ = f"Deprecated: use {name}."
    return renamed


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)


# Older names that programs use.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_
