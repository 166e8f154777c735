"""Running results along one dim: cumulative sums, products, extremes, and what is built from them.

Reductions are in reduce.py.
"""

from .. import _C
from .registry import composite, native

__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "diff",
    "logcumsumexp",
    "trapezoid",
    "trapz",
]

cumsum = native(
    "cumsum(Tensor input, int dim, *, dtype? dtype=None) -> Tensor",
    methods=("cumsum",),
    inplace=True,
    out=True,
    doc="""Running sum along dim: y[i] = x[0] + ... + x[i].

    Integers and bool give int64 unless dtype says otherwise; float32 accumulates in double.
    """,
)


def _reversed_cumsum(value, dim):
    return value.flip(dim).cumsum(dim).flip(dim)


@cumsum.vjp
def _(grad, input_meta, dim):
    return grad if input_meta.dim() == 0 else _reversed_cumsum(grad, dim)


cumprod = native(
    "cumprod(Tensor input, int dim, *, dtype? dtype=None) -> Tensor",
    methods=("cumprod",),
    inplace=True,
    out=True,
    doc="Running product along dim: y[i] = x[0] * ... * x[i]; dtypes as for cumsum.",
)


@cumprod.vjp
def _(grad, input, dim, dtype):
    if input.dim() == 0 or input.numel() == 0 or input.shape[dim] == 1:
        return grad
    wide = input.to(grad.dtype)
    if not (wide == 0).any().item():
        conjugate = wide.conj()
        return _reversed_cumsum(grad * conjugate.cumprod(dim), dim) / conjugate
    return _cumprod_gradient_with_zeros(grad, wide.conj(), dim)


def _cumprod_gradient_with_zeros(grad, input, dim):
    """Dividing by x is out: dx[k] = sum over j >= k of grad[j] * product of x[i <= j, i != k]."""
    from .join import cat, stack

    size = input.shape[dim]
    one = input.select(dim, 0) * 0 + 1
    parts = []
    before = one
    for k in range(size):
        factors = [before.unsqueeze(dim)]
        if k + 1 < size:
            factors.append(
                before.unsqueeze(dim) * input.narrow(dim, k + 1, size - k - 1).cumprod(dim)
            )
        parts.append((grad.narrow(dim, k, size - k) * cat(factors, dim)).sum(dim))
        before = before * input.select(dim, k)
    return stack(parts, dim)


cummax = native(
    "cummax(Tensor input, int dim) -> (Tensor values, Tensor indices)",
    methods=("cummax",),
    return_type="cummax",
    out=True,
    doc="Running maximum along dim and its position (the last of equal ones). NaN stays once it came.",
)
cummin = native(
    "cummin(Tensor input, int dim) -> (Tensor values, Tensor indices)",
    methods=("cummin",),
    return_type="cummin",
    out=True,
    doc="Running minimum along dim and its position (the last of equal ones). NaN stays once it came.",
)


def _scatter_running(grad, indices, shape, dim):
    if not shape or grad.numel() == 0:
        return grad
    return grad.new_zeros(shape).scatter_add(dim, indices, grad)


@cummax.vjp
def _(grad_values, indices, input_meta, dim):
    return _scatter_running(grad_values, indices, input_meta.shape, dim)


@cummin.vjp
def _(grad_values, indices, input_meta, dim):
    return _scatter_running(grad_values, indices, input_meta.shape, dim)


logcumsumexp = native(
    "logcumsumexp(Tensor input, int dim) -> Tensor",
    methods=("logcumsumexp",),
    out=True,
    doc="Logarithm of the running sum of exponentials along dim, without overflow.",
)


@logcumsumexp.vjp
def _(grad, result, input, dim):
    if input.dim() == 0 or input.numel() == 0:
        return grad

    def backward(log_grad):
        return (logcumsumexp((log_grad - result).flip(dim), dim).flip(dim) + input).exp()

    if grad.is_complex():
        # exp(conj) = conj(exp): the conjugate formula, conjugated as a whole.
        return backward(grad.conj().log()).conj()
    # The logarithm of a gradient needs a sign of its own. Lowest, not -inf: that would give NaN in second derivatives.
    lowest = grad.new_full((), -1.7976931348623157e308 if grad.dtype == _C.float64 else -3.0e38)
    if grad.dtype == _C.float16:
        lowest = grad.new_full((), -65504.0)
    # The inner where keeps the logarithm's own derivative finite where the gradient is 0.
    logarithm = grad.abs().where(grad != 0, grad.new_full((), 1.0)).log()
    return backward(logarithm.where(grad > 0, lowest)) - backward(logarithm.where(grad < 0, lowest))


@composite(methods=("diff",), out=True)
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """n-th difference of neighbours along dim; bool input gives the exclusive or.

    Args:
        prepend, append: joined to input along dim before differencing.
    """
    from .join import cat

    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"diff: order must be non-negative but got {n}")
    for name, extra in (("prepend", prepend), ("append", append)):
        if extra is not None and extra.dim() != input.dim():
            raise RuntimeError(
                f"diff expects {name} to be of the dims of input ({input.dim()}), got {extra.dim()}"
            )
    if n == 0:
        return input.clone()
    if prepend is not None or append is not None:
        input = cat([part for part in (prepend, input, append) if part is not None], dim)
    size = input.shape[dim]
    n = min(n, size)
    for _ in range(n):
        size = input.shape[dim]
        if size == 0:
            return input.clone()
        later, earlier = input.narrow(dim, 1, size - 1), input.narrow(dim, 0, size - 1)
        input = later.logical_xor(earlier) if input.dtype == _C.bool else later - earlier
    return input


def _spacing(y, x, dim):
    """Distances between the points x, shaped to go with y along dim."""
    if x.dim() == 0:
        raise RuntimeError("trapezoid: x must be at least one-dimensional")
    if x.dim() == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(
                f"trapezoid: There must be one `x` value for each sample point, got {x.shape[0]} for {y.shape[dim]}"
            )
        return diff(x).reshape([-1 if d == dim % y.dim() else 1 for d in range(y.dim())])
    while x.dim() < y.dim():
        x = x.unsqueeze(0)
    return diff(x, dim=dim)


def _areas(y, x, dx, dim):
    size = y.shape[dim]
    pairs = y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)
    return pairs * (_spacing(y, x, dim) if x is not None else 1 if dx is None else dx) / 2


def _check_trapezoid(name, y, x, dx):
    if y.dtype == _C.bool:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is not None and x.dtype == _C.bool:
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    if x is not None and dx is not None:
        raise TypeError(f"{name}: expected x or dx, got both.")


@composite
def trapezoid(y, x=None, *, dx=None, dim=-1):
    """Integral along dim by the trapezoidal rule, over points x or with spacing dx (1 by default)."""
    _check_trapezoid("trapezoid", y, x, dx)
    if y.shape[dim] == 0:
        return y.new_zeros([s for d, s in enumerate(y.shape) if d != dim % y.dim()])
    return _areas(y, x, dx, dim).sum(dim)


@composite
def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """Running integral along dim by the trapezoidal rule; one element shorter than y."""
    _check_trapezoid("cumulative_trapezoid", y, x, dx)
    return _areas(y, x, dx, dim).cumsum(dim)


trapz = trapezoid
