"""Activations: inplace= forms over the ops, softmax with an implicit dim, and compositions."""

from flambeau import ops

__all__ = [
    "celu",
    "elu",
    "glu",
    "gumbel_softmax",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "silu",
    "softmax",
    "softmin",
    "softsign",
    "tanhshrink",
    "threshold",
]


def relu(input, inplace=False):
    """max(0, input), elementwise."""
    return ops.relu_(input) if inplace else ops.relu(input)


def relu6(input, inplace=False):
    """clamp(input, 0, 6), elementwise."""
    return ops.relu6.inplace(input) if inplace else ops.relu6(input)


def threshold(input, threshold, value, inplace=False):
    """Input where input > threshold, value elsewhere."""
    return (
        ops.threshold_(input, threshold, value)
        if inplace
        else ops.threshold(input, threshold, value)
    )


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """clamp(input, min_val, max_val), elementwise."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (
        ops.hardtanh_(input, min_val, max_val) if inplace else ops.hardtanh(input, min_val, max_val)
    )


def elu(input, alpha=1.0, inplace=False):
    """Input for input > 0, alpha * (exp(input) - 1) elsewhere."""
    return ops.elu_(input, alpha) if inplace else ops.elu(input, alpha)


def selu(input, inplace=False):
    """Scale * (max(0, x) + min(0, alpha * (exp(x) - 1))) with the self-normalising constants."""
    return ops.selu_(input) if inplace else ops.selu(input)


def celu(input, alpha=1.0, inplace=False):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    return ops.celu_(input, alpha) if inplace else ops.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """Input for input > 0, negative_slope * input elsewhere."""
    return (
        ops.leaky_relu_(input, negative_slope) if inplace else ops.leaky_relu(input, negative_slope)
    )


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """Leaky ReLU with slopes drawn from U(lower, upper) in training, and their mean otherwise."""
    return (
        ops.rrelu_(input, lower, upper, training)
        if inplace
        else ops.rrelu(input, lower, upper, training)
    )


def silu(input, inplace=False):
    """Input * sigmoid(input)."""
    return ops.silu.inplace(input) if inplace else ops.silu(input)


def mish(input, inplace=False):
    """Input * tanh(softplus(input))."""
    return ops.mish.inplace(input) if inplace else ops.mish(input)


def hardsigmoid(input, inplace=False):
    """clamp(input + 3, 0, 6) / 6."""
    return ops.hardsigmoid.inplace(input) if inplace else ops.hardsigmoid(input)


def hardswish(input, inplace=False):
    """Input * hardsigmoid(input)."""
    return ops.hardswish.inplace(input) if inplace else ops.hardswish(input)


def glu(input, dim=-1):
    """A * sigmoid(b) for the two halves a, b of one dim."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return ops.glu(input, dim)


def softsign(input):
    """Input / (1 + |input|)."""
    return input / (input.abs() + 1)


def tanhshrink(input):
    """Input - tanh(input)."""
    return input - input.tanh()


def _implicit_dim(name, ndim, stacklevel):
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) / sum(exp(input)) along dim, computed in dtype if given."""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim(), _stacklevel)
    return ops.softmax(input, dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """Softmax of -input."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return ops.softmax(-input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(input, dim))."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim(), _stacklevel)
    return ops.log_softmax(input, dim, dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Sample from the Gumbel-softmax distribution of (unnormalised) logits.

    Args:
        tau: temperature; smaller is closer to one-hot.
        hard: return one-hot samples; the gradient is that of the soft ones.
        eps: unused.
    """
    if eps != 1e-10:
        import warnings

        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -ops.empty_like(logits).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = ops.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
