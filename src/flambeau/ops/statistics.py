"""Spread, quantiles, covariance and distances."""

from .. import _C
from .reduce import reduced_numel, restore_dims, vector_norm
from .registry import composite, native, overload
from .sort import sort

__all__ = [
    "allclose",
    "corrcoef",
    "cosine_similarity",
    "cov",
    "dist",
    "nanquantile",
    "pairwise_distance",
    "quantile",
    "std",
    "std_mean",
    "var",
    "var_mean",
]

_SPREAD = "Tensor input, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False"
var_correction = native(
    f"var_correction({_SPREAD}) -> Tensor",
    out=True,
    doc="""Variance over the given dims (all by default): sum(|x - mean| ** 2) / (n - correction).

    correction is 1 by default. The older form var(dim, unbiased, keepdim) works too. A divisor that is not positive
    gives NaN or infinity, and a warning.
    """,
)
std_correction = native(f"std_correction({_SPREAD}) -> Tensor", out=True, doc="Square root of var.")
var_mean_correction = native(
    f"var_mean_correction({_SPREAD}) -> (Tensor var, Tensor mean)",
    doc="Variance and mean; arguments as for var.",
)
std_mean_correction = native(
    f"std_mean_correction({_SPREAD}) -> (Tensor std, Tensor mean)",
    doc="Standard deviation and mean; see var.",
)


def _variance_gradient(grad, input, dim, correction, keepdim):
    dims = dim or None
    divisor = reduced_numel(input.shape, dims) - (1 if correction is None else correction)
    centred = input - input.mean(dims, True)
    scale = 2 / divisor if divisor > 0 else float("nan") if divisor == 0 else 0.0
    return restore_dims(grad, input.shape, dims, keepdim) * scale * centred


def _deviation_gradient(grad, std, input, dim, correction, keepdim):
    grad = (grad / (std * 2)).masked_fill(std == 0, 0)
    return _variance_gradient(grad, input, dim, correction, keepdim)


def _mean_gradient(grad, input, dim, keepdim):
    dims = dim or None
    return restore_dims(grad, input.shape, dims, keepdim).expand(input.shape) / reduced_numel(
        input.shape, dims
    )


@var_correction.vjp
def _(grad, input, dim, correction, keepdim):
    return _variance_gradient(grad, input, dim, correction, keepdim)


@std_correction.vjp
def _(grad, result, input, dim, correction, keepdim):
    return _deviation_gradient(grad, result, input, dim, correction, keepdim)


def _both(first, mean_part):
    return first if mean_part is None else mean_part if first is None else first + mean_part


@var_mean_correction.vjp
def _(grad_var, grad_mean, input, dim, correction, keepdim):
    spread = (
        None if grad_var is None else _variance_gradient(grad_var, input, dim, correction, keepdim)
    )
    return _both(
        spread, None if grad_mean is None else _mean_gradient(grad_mean, input, dim, keepdim)
    )


@std_mean_correction.vjp
def _(grad_std, grad_mean, std, input, dim, correction, keepdim):
    spread = (
        None
        if grad_std is None
        else _deviation_gradient(grad_std, std, input, dim, correction, keepdim)
    )
    return _both(
        spread, None if grad_mean is None else _mean_gradient(grad_mean, input, dim, keepdim)
    )


def _with_unbiased(op):
    """The older argument `unbiased`: op(input, unbiased) and op(input, dim, unbiased, keepdim)."""

    def function(input, dim=None, unbiased=True, keepdim=False, *, out=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        extra = {} if out is None else {"out": out}
        return op(input, dim, correction=int(unbiased), keepdim=keepdim, **extra)

    return function


var = overload("var", var_correction, _with_unbiased(var_correction), methods=("var",))
std = overload("std", std_correction, _with_unbiased(std_correction), methods=("std",))
var_mean = overload("var_mean", var_mean_correction, _with_unbiased(var_mean_correction))
std_mean = overload("std_mean", std_mean_correction, _with_unbiased(std_mean_correction))


def _check_quantile(name, input, q, interpolation):
    if input.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if q.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if str(input.dtype).rpartition(".")[2] not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if q.dtype != input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not ((q >= 0).logical_and(q <= 1)).all().item():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")


def _interpolated(ordered, ranks, interpolation):
    if interpolation == "lower":
        ranks = ranks.floor()
    elif interpolation == "higher":
        ranks = ranks.ceil()
    elif interpolation == "nearest":
        ranks = ranks.round()
    low = ranks.long()
    values = ordered.gather(-1, low)
    if interpolation in ("linear", "midpoint"):
        weight = ranks - low if interpolation == "linear" else ranks.new_full(ranks.shape, 0.5)
        values = values.lerp(ordered.gather(-1, ranks.ceil().long()), weight)
    return values


def _quantile(name, input, q, dim, keepdim, interpolation, ignore_nan):
    if not hasattr(q, "dim"):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        q = input.new_full((), q)
    _check_quantile(name, input, q, interpolation)
    rank = input.dim()
    final = [1] * rank if dim is None else list(input.shape)
    if dim is None:
        flat = input.reshape(-1)
    else:
        if rank and not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
        flat = input.movedim(dim, -1) if rank else input.reshape(1)
        if rank:
            final[dim] = 1
    ordered = sort(flat, -1)[0]  # (..., n)
    size = ordered.shape[-1]
    wide = q.reshape([1] * (ordered.dim() - 1) + [-1]).to(input.dtype)
    if ignore_nan:
        count = ordered.isnan().logical_not().sum(-1, True)
        ranks = wide * (count - 1)
        ranks = ranks.masked_fill(ranks < 0, 0)
    else:
        ranks = wide * (size - 1)
        ranks = ranks.expand([*ordered.shape[:-1], wide.shape[-1]])
        ranks = ranks.masked_fill(ordered.isnan().any(-1, True), size - 1)
    values = _interpolated(ordered, ranks, interpolation)  # (..., q)
    values = values.movedim(-1, 0)
    kept = (
        final
        if keepdim
        else (
            [] if dim is None or not rank else [s for d, s in enumerate(final) if d != dim % rank]
        )
    )
    values = values.reshape([values.shape[0], *kept])
    return values.squeeze(0) if q.dim() == 0 else values


@composite(methods=("quantile",), out=True)
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """q-th quantiles along dim, or of all elements; NaN in a row gives NaN.

    Args:
        q: a number or a 1-d tensor in [0, 1]; a tensor adds a leading dim to the result.
        interpolation: linear, lower, higher, midpoint or nearest, between neighbouring ranks.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@composite(methods=("nanquantile",), out=True)
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """quantile of the elements that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


def _check_cov_weights(input, name, weights, integral):
    if weights.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions"
        )
    floating = weights.is_floating_point() or weights.is_complex()
    if integral and floating:
        raise RuntimeError(
            f"cov(): expected {name} to have integral dtype but got {name} with {weights.dtype} dtype"
        )
    if not integral and not floating:
        raise RuntimeError(
            f"cov(): expected {name} to have floating point dtype but got {name} with {weights.dtype} dtype"
        )
    if weights.numel() != input.shape[1]:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {input.shape[1]}"
        )
    if weights.numel() and weights.min().item() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite(methods=("cov",))
def cov(input, *, correction=1, fweights=None, aweights=None):
    """Covariance matrix of the rows (variables) of input over its columns (observations).

    Args:
        correction: subtracted from the number of observations.
        fweights, aweights: integer repetition counts and floating weights of the observations.
    """
    import warnings

    if input.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions"
        )
    if input.dtype == _C.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    if not (rows.is_floating_point() or rows.is_complex()):
        rows = rows.float()
    weights = None
    if fweights is not None:
        _check_cov_weights(rows, "fweights", fweights, True)
        weights = fweights
    if aweights is not None:
        _check_cov_weights(rows, "aweights", aweights, False)
        weights = aweights if weights is None else weights * aweights
    count = rows.shape[1]
    total = rows.new_full((), count, dtype=rows.real.dtype) if weights is None else weights.sum()
    if weights is not None and count and total.item() == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = rows.mean(1, True) if weights is None else (rows * weights).sum(1, True) / total
    centred = rows - mean
    if weights is not None and aweights is not None and correction != 0:
        norm = total - correction * (weights * aweights).sum() / total
    else:
        norm = total - correction
    if norm.item() <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            stacklevel=2,
        )
        norm = norm.abs() * 0  # +0: quotients keep their signs
    weighted = centred if weights is None else centred * weights
    result = (centred @ weighted.mH) / norm
    return result.squeeze()


@composite(methods=("corrcoef",))
def corrcoef(input):
    """Correlation coefficients of the rows of input; values are clipped to [-1, 1]."""
    if input.dim() > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions"
        )
    c = cov(input)
    if c.dim() == 0:
        return c / c
    deviation = (c.diagonal().real if c.is_complex() else c.diagonal()).sqrt()
    c = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if c.is_complex():
        from .complex_ops import complex as make_complex

        return make_complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)


@composite(methods=("dist",))
def dist(input, other, p=2):
    """p-norm of input - other."""
    return vector_norm(input - other, p)


@composite
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """p-norm of x1 - x2 + eps along the last dim."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def _floored(norm, eps):
    """At least eps; the floor takes no part in the gradient, as in PyTorch."""
    if not _C._is_differentiated(norm):
        return norm.clamp_min(eps)
    constant = norm.detach()
    return norm + (constant.clamp_min(eps) - constant)


@composite
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Dot product along dim over the product of the 2-norms, each at least eps."""
    from .view import broadcast_tensors

    common = x1.dtype
    if x1.dtype != x2.dtype:
        common = (x1.new_empty(()) * x2.new_empty(())).dtype
        x1, x2 = x1.to(common), x2.to(common)
    if not (common.is_floating_point or common.is_complex):
        raise RuntimeError(
            f"quantile: expected common dtype to be floating point, yet common dtype is {common}"
        )
    if x1.shape != x2.shape:
        x1, x2 = broadcast_tensors(x1, x2)
    n1, n2 = (
        _floored(vector_norm(x1, 2, dim, True), eps),
        _floored(vector_norm(x2, 2, dim, True), eps),
    )
    return ((x1 / n1) * (x2 / n2)).sum(dim)


@composite(methods=("allclose",))
def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Is |input - other| <= atol + rtol * |other| everywhere?"""
    return input.isclose(other, rtol, atol, equal_nan).all().item()
