"""Reductions over dims: sums, products, extremes, truth, counts and norms.

Variance, medians and quantiles are in statistics.py, running results in scan.py, softmax and logsumexp in softmax.py.
"""

import builtins

from .registry import composite, native, overload

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "norm",
    "prod",
    "sum",
]

_DISCRETE = "the result takes discrete values"


def restore_dims(value, shape, dim, keepdim):
    """A reduction's result (or cotangent) with the reduced dims back as 1, so that it broadcasts to `shape`."""
    if keepdim or dim is None or not shape:
        return value
    dims = (dim,) if isinstance(dim, int) else dim
    rank = len(shape)
    for d in sorted(d % rank for d in dims):
        value = value.unsqueeze(d)
    return value


def reduced_numel(shape, dim):
    """Number of elements that are reduced to one; None and an empty list mean every dim."""
    dims = (
        range(len(shape))
        if dim is None or dim == () or dim == []
        else (dim,)
        if isinstance(dim, int)
        else dim
    )
    count = 1
    if shape:
        for d in dims:
            count *= shape[d]
    return count


sum = native(
    "sum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    methods=("sum",),
    out=True,
    doc="""Sum over the given dims (all of them by default).

    Args:
        input: any shape and dtype.
        dim: dims to reduce; None and () reduce all.
        keepdim: keep reduced dims with size 1.
        dtype: convert input to this first. By default integers and bool give int64.
    Returns:
        The sum; float32 accumulates blockwise in double, half types in float32. The same for any number of threads.
    Raises:
        IndexError: a dim is out of range. RuntimeError: a dim is given twice.
    Differentiable in input; supports second derivatives.
    Example:
        >>> sum(tensor([[1.0, 2.0], [3.0, 4.0]]), 0)
        tensor([4., 6.])
    """,
)


@sum.vjp
def _(grad, input_meta, dim, keepdim):
    shape = input_meta.shape
    return restore_dims(grad, shape, dim, keepdim).expand(shape)


nansum = native(
    "nansum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    methods=("nansum",),
    out=True,
    doc="Sum that counts NaN as zero; arguments as for sum.",
)


@nansum.vjp
def _(grad, input, dim, keepdim):
    return restore_dims(grad, input.shape, dim, keepdim) * input.isnan().logical_not()


mean = native(
    "mean(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    methods=("mean",),
    out=True,
    doc="""Arithmetic mean over the given dims (all of them by default); arguments as for sum.

    Raises:
        RuntimeError: input is of an integer dtype and no floating dtype is given.
    Differentiable in input; supports second derivatives.
    Example:
        >>> mean(tensor([1.0, 2.0, 6.0]))
        tensor(3.)
    """,
)


@mean.vjp
def _(grad, input_meta, dim, keepdim):
    shape = input_meta.shape
    return restore_dims(grad, shape, dim, keepdim).expand(shape) / builtins.max(
        1, reduced_numel(shape, dim)
    )


@composite(methods=("nanmean",), out=True)
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """Mean of the elements that are not NaN; NaN where there is none."""
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"nanmean: expected input of a floating dtype, got {input.dtype}. Convert it, e.g. input.float()."
        )
    count = sum(input.isnan().logical_not(), dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count


prod_all = native(
    "prod_all(Tensor input, *, dtype? dtype=None) -> Tensor",
    out=True,
    doc="Product of all elements.",
)
prod_dim = native(
    "prod_dim(Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    out=True,
    doc="Product along one dim.",
)
prod = overload("prod", prod_all, prod_dim, methods=("prod",))


def _others_product(input, dim):
    """Product of all other elements along dim, without dividing: exclusive products from both ends."""
    size = input.shape[dim]
    one = input.narrow(dim, 0, 1) * 0 + 1
    left = _cat([one, input.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    backward = _cat([one, input.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return left * backward


def _cat(tensors, dim):
    from .join import cat

    return cat(tensors, dim)


def _prod_gradient(grad, result, input, dim):
    if input.shape[dim] == 0:
        return input * 0
    if (input == 0).any().item():
        return grad * _others_product(input, dim).conj()
    return grad * (result / input).conj()


@prod_all.vjp
def _(grad, result, input, dtype):
    wide = input.to(result.dtype)
    flat = wide.reshape(-1)
    return _prod_gradient(grad, result, flat, 0).reshape(input.shape)


@prod_dim.vjp
def _(grad, result, input, dim, keepdim, dtype):
    if input.dim() == 0:
        return grad
    shape = input.shape
    wide = input.to(result.dtype)
    return _prod_gradient(
        restore_dims(grad, shape, dim, keepdim),
        restore_dims(result, shape, dim, keepdim),
        wide,
        dim,
    )


any = native(
    "any(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
    methods=("any",),
    out=True,
    non_differentiable=_DISCRETE,
    doc="Is any element nonzero? bool, but uint8 for uint8 input. NaN counts as nonzero.",
)
all = native(
    "all(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
    methods=("all",),
    out=True,
    non_differentiable=_DISCRETE,
    doc="Are all elements nonzero? bool, but uint8 for uint8 input. NaN counts as nonzero.",
)
count_nonzero = native(
    "count_nonzero(Tensor input, int[]? dim=None) -> Tensor",
    methods=("count_nonzero",),
    non_differentiable=_DISCRETE,
    doc="Number of nonzero elements, int64.",
)

amax = native(
    "amax(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor",
    methods=("amax",),
    out=True,
    doc="""Largest element over the given dims (all of them by default). NaN wins.

    Differentiable in input: equal extremes share the gradient evenly.
    """,
)
amin = native(
    "amin(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor",
    methods=("amin",),
    out=True,
    doc="Smallest element over the given dims; see amax.",
)


def _shared_among(grad, result, input, dim, keepdim):
    """Gradient of an extreme: spread evenly over the elements that equal it."""
    shape = input.shape
    extreme = restore_dims(result, shape, dim or None, keepdim)
    mask = (input == extreme).logical_or(input.isnan().logical_and(extreme.isnan()))
    count = sum(mask, dim or None, True)
    return restore_dims(grad, shape, dim or None, keepdim) * mask / count


@amax.vjp
def _(grad, result, input, dim, keepdim):
    return _shared_among(grad, result, input, dim, keepdim)


@amin.vjp
def _(grad, result, input, dim, keepdim):
    return _shared_among(grad, result, input, dim, keepdim)


max_all = native("max_all(Tensor input) -> Tensor", out=True, doc="Largest element. NaN wins.")
min_all = native("min_all(Tensor input) -> Tensor", out=True, doc="Smallest element. NaN wins.")


@max_all.vjp
def _(grad, result, input):
    return _shared_among(grad, result, input, None, False)


@min_all.vjp
def _(grad, result, input):
    return _shared_among(grad, result, input, None, False)


max_dim = native(
    "max_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    return_type="max",
    out=True,
    doc="Largest element along one dim and its (first) position. NaN wins.",
)
min_dim = native(
    "min_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    return_type="min",
    out=True,
    doc="Smallest element along one dim and its (first) position. NaN wins.",
)


def scatter_selected(grad, indices, shape, dim, keepdim):
    """Gradient of a selection along one dim: cotangents go where the elements came from, zeros elsewhere."""
    if not shape:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(shape).scatter(dim, indices, grad)


@max_dim.vjp
def _(grad_values, indices, input_meta, dim, keepdim):
    return scatter_selected(grad_values, indices, input_meta.shape, dim, keepdim)


@min_dim.vjp
def _(grad_values, indices, input_meta, dim, keepdim):
    return scatter_selected(grad_values, indices, input_meta.shape, dim, keepdim)


def _elementwise_extreme(name):
    def call(input, other, *, out=None):
        from . import arithmetic

        return getattr(arithmetic, name)(input, other, out=out)

    return call


max = overload("max", max_all, max_dim, _elementwise_extreme("maximum"), methods=("max",))
min = overload("min", min_all, min_dim, _elementwise_extreme("minimum"), methods=("min",))

argmax = native(
    "argmax(Tensor input, int? dim=None, bool keepdim=False) -> Tensor",
    methods=("argmax",),
    out=True,
    non_differentiable=_DISCRETE,
    doc="Position (int64) of the first largest element along dim, or in the flattened input.",
)
argmin = native(
    "argmin(Tensor input, int? dim=None, bool keepdim=False) -> Tensor",
    methods=("argmin",),
    out=True,
    non_differentiable=_DISCRETE,
    doc="Position (int64) of the first smallest element along dim, or in the flattened input.",
)

aminmax = native(
    "aminmax(Tensor input, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    methods=("aminmax",),
    return_type="aminmax",
    out=True,
    doc="Smallest and largest element, along dim or of all.",
)


@aminmax.vjp
def _(grad_min, grad_max, min, max, input, dim, keepdim):
    dims = None if dim is None else (dim,)
    total = None
    for grad, result in ((grad_min, min), (grad_max, max)):
        if grad is not None:
            part = _shared_among(grad, result, input, dims, keepdim)
            total = part if total is None else total + part
    return total


vector_norm = native(
    "vector_norm(Tensor input, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    out=True,
    doc="""p-norm of vectors: (sum |x|^p)^(1/p); p = 0 counts nonzeros, p = +-inf is the largest or smallest modulus.

    Args:
        input: floating or complex; the result is real.
        ord: p, any real number.
        dim: dims that make up one vector; None means all.
    """,
)


@vector_norm.vjp
def _(grad, result, input, ord, dim, keepdim):
    dims = dim or None
    norm = restore_dims(result, input.shape, dims, keepdim)
    grad = restore_dims(grad, input.shape, dims, keepdim)
    if ord == 0:
        return input * 0 * grad
    if ord == 1:
        return input.sgn() * grad
    if ord == 2:
        return grad * (input / norm).masked_fill(norm == 0, 0)
    modulus = input.abs()
    if ord in (float("inf"), float("-inf")):
        mask = (modulus == norm).logical_or(modulus.isnan().logical_and(norm.isnan()))
        return input.sgn() * (mask * (grad / sum(mask, dims, True)))
    if ord < 1:
        return (
            input.sgn() * modulus.pow(ord - 1).masked_fill(input == 0, 0) * grad * norm.pow(1 - ord)
        )
    scale = (grad / norm.pow(ord - 1)).masked_fill(norm == 0, 0)
    if ord < 2:
        return input.sgn() * modulus.pow(ord - 1) * scale
    return input * modulus.pow(ord - 2) * scale


@composite(methods=("norm",), out=True)
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """Vector norm of the given dims (all by default), or the Frobenius or nuclear norm of matrices.

    Args:
        p: order of a vector norm; "fro" is the 2-norm of the dims; "nuc" the sum of singular values of two dims.
    """
    if isinstance(p, str):
        if p == "nuc":
            from ..linalg import matrix_norm

            return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
        if p != "fro":
            raise RuntimeError(f"norm: expected p to be a number, 'fro' or 'nuc', got {p!r}.")
    order = 2 if p is None or p == "fro" else p
    return vector_norm(input, order, dim, keepdim, dtype=dtype)
