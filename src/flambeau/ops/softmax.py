"""softmax and its relatives. The forms of nn.functional, whose dim may be left out, are here too."""

import warnings

from .reduce import restore_dims
from .registry import composite, native, overload

__all__ = [
    "_log_softmax_backward_data",
    "_softmax_backward_data",
    "log_softmax",
    "logsumexp",
    "softmax",
]

softmax = native(
    "softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    methods=("softmax",),
    out=True,
    doc="""Exponentials that sum to one along dim.

    y = exp(x - max(x)) / sum(exp(x - max(x)))

    Args:
        input: floating point; half types compute in float32.
        dim: the dim that sums to one.
        dtype: convert input to this first.
    Returns:
        Same shape; a row of -inf only, or with +inf, gives NaN.
    Differentiable in input; supports second derivatives.
    Example:
        >>> softmax(tensor([0.0, 0.0]), 0)
        tensor([0.5000, 0.5000])
    """,
)
log_softmax = native(
    "log_softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    methods=("log_softmax",),
    out=True,
    doc="x - log(sum(exp(x))) along dim, without overflow; arguments as for softmax.",
)
_softmax_backward_data = native(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, dtype input_dtype) -> Tensor",
    out=True,
    doc="dx = y * (dy - sum(dy * y)): the cotangent of softmax's input.",
)
_log_softmax_backward_data = native(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, dtype input_dtype) -> Tensor",
    out=True,
    doc="dx = dy - exp(y) * sum(dy): the cotangent of log_softmax's input.",
)


@softmax.vjp
def _(grad, result, input_meta, dim):
    return _softmax_backward_data(grad, result, dim, input_meta.dtype)


@log_softmax.vjp
def _(grad, result, input_meta, dim):
    return _log_softmax_backward_data(grad, result, dim, input_meta.dtype)


@_softmax_backward_data.vjp("grad_output")
def _(grad, output, dim):
    return _softmax_backward_data(grad.to(output.dtype), output, dim, output.dtype)


@_softmax_backward_data.vjp("output")
def _(grad, grad_output, output, dim):
    inner = (grad_output * output).sum(dim, True)
    return grad * (grad_output - inner) - grad_output * (grad * output).sum(dim, True)


@_log_softmax_backward_data.vjp("grad_output")
def _(grad, output, dim):
    return grad - (grad * output.exp()).sum(dim, True)


@_log_softmax_backward_data.vjp("output")
def _(grad, grad_output, output, dim):
    return -grad * output.exp() * grad_output.sum(dim, True)


logsumexp_real = native(
    "logsumexp(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
    out=True,
    doc="log(sum(exp(x))) over the given dims, without overflow.",
)


@logsumexp_real.vjp
def _(grad, result, input, dim, keepdim):
    shape = input.shape
    return (
        restore_dims(grad, shape, dim or None, keepdim)
        * (input - restore_dims(result, shape, dim or None, keepdim)).exp()
    )


@composite(methods=("logsumexp",), out=True)
def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(x))) over the given dims, without overflow; integers give the default float dtype."""
    if not input.is_complex():
        return logsumexp_real(input, dim, keepdim)
    if input.numel() == 0:  # no largest value: the logarithm of an empty sum
        return input.sum(dim, keepdim).log()
    shift = input.real.detach().amax(dim, True)
    shift = shift.masked_fill(shift.abs() == float("inf"), 0)
    total = (input - shift).exp().sum(dim, True).log() + shift
    if keepdim:
        return total
    dims = (dim,) if isinstance(dim, int) else dim
    return total.squeeze(tuple(dims)) if dims else total.reshape(())


def _implicit_dim(name, rank, stacklevel):
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if rank in (0, 1, 3) else 1


def _with_implicit_dim(op, name):
    """nn.functional's form: dim may be None, and there is an argument for the warning's stack level."""

    def function(input, dim=None, _stacklevel=3, dtype=None):
        if dim is None:
            dim = _implicit_dim(name, input.dim(), _stacklevel)
        return op(input, dim, dtype=dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    return function


functional_softmax = overload("softmax", softmax, _with_implicit_dim(softmax, "softmax"))
functional_log_softmax = overload(
    "log_softmax", log_softmax, _with_implicit_dim(log_softmax, "log_softmax")
)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -input."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return softmax(-input, dim, dtype=dtype)
