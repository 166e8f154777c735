"""Distances between rows: cdist and pdist. Of pairs of vectors (dist, pairwise_distance): statistics.py."""

from .. import _C
from .registry import composite, native
from .triangle import triu_indices
from .view import broadcast_shapes

__all__ = ["cdist", "pdist"]

# Rows above which a matrix product pays for p = 2, as PyTorch counts.
_MANY_ROWS = 25
_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}


def _ratio(grad, result):
    """grad / result, 0 where result is, without a 0 / 0 that second derivatives would meet."""
    zero = result == 0
    return (grad / result.masked_fill(zero, 1)).masked_fill(zero, 0)


def _slope(grad, result, x1, x2, p):
    """grad times the derivatives of the distances `result` by the elements of x1, of shape (*, m, n, d)."""
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)  # (*, m, n, d)
    if p == 0:
        return difference * 0
    grad, result = grad.unsqueeze(-1), result.unsqueeze(-1)
    if p == 1:
        return grad * difference.sign()
    elif p == 2:
        return _ratio(grad, result) * difference
    elif p == float("inf"):
        return grad * difference.sign() * (difference.abs() == result)
    else:
        # At equal elements the slope is 0 for every p, as PyTorch has it: no powers of 0.
        equal = difference == 0
        size = difference.abs().masked_fill(equal, 1)
        scale = (grad / result.masked_fill(result == 0, 1) ** (p - 1)).masked_fill(result == 0, 0)
        return (scale * size ** (p - 1) * difference.sign()).masked_fill(equal, 0)


cdist_rows = native(
    "cdist_rows(Tensor x1, Tensor x2, float p) -> Tensor",
    doc="""Distances of the rows of x1 (*, m, d) to those of x2 (*, n, d), summed up from their differences.""",
)

cdist_rows_grad = native(
    "cdist_rows_grad(Tensor cotangent, Tensor x1, Tensor x2, float p, Tensor distance) -> Tensor",
    non_differentiable="cdist_rows's rule takes the differentiable path when a graph is asked for",
    doc="""Gradient in x1 of cdist_rows, whose result is `distance`.""",
)


@cdist_rows.vjp
def _(grad, result, x1, x2, p, needs):
    if not _C._records_derivatives():
        return (
            cdist_rows_grad(grad, x1, x2, p, result) if needs[0] else None,
            cdist_rows_grad(grad.mT, x2, x1, p, result.mT) if needs[1] else None,
        )
    slope = _slope(grad, result, x1, x2, p)
    return slope.sum(-2) if needs[0] else None, -slope.sum(-3) if needs[1] else None


pdist_rows = native(
    "pdist_rows(Tensor input, float p) -> Tensor",
    doc="""Distances of the pairs of rows i < j of a matrix, in row-major order.""",
)


@pdist_rows.vjp
def _(grad, result, input, p):
    n = input.shape[0]
    first, second = triu_indices(n, n, 1)

    def symmetric(pairs):  # (n (n - 1) / 2,) to (n, n)
        upper = pairs.new_zeros(n * n).index_add(0, first * n + second, pairs).reshape(n, n)
        return upper + upper.mT

    grad, result = symmetric(grad), symmetric(result)
    if _C._records_derivatives():
        return _slope(grad, result, input, input, p).sum(-2)
    return cdist_rows_grad(grad, input, input, p, result)


cdist_euclidean = native(
    "cdist_euclidean(Tensor x1, Tensor x2) -> Tensor",
    doc="""Euclidean distances of the rows of x1 (*, m, d) to those of x2 (*, n, d), by a matrix product.""",
)


@cdist_euclidean.vjp
def _(grad, result, x1, x2, needs):
    ratio = _ratio(grad, result)  # (*, m, n)
    return (
        x1 * ratio.sum(-1, True) - ratio @ x2 if needs[0] else None,
        x2 * ratio.sum(-2).unsqueeze(-1) - ratio.mT @ x1 if needs[1] else None,
    )


def _check_rows(x1, x2, p):
    if x1.dim() < 2 or x2.dim() < 2:
        raise RuntimeError(
            f"cdist only supports at least 2D tensors, X1 got: {x1.dim()}D and X2 got: {x2.dim()}D"
        )
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"cdist: X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype}")


@composite
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances between two sets of vectors: (*, m, d) and (*, n, d) to (*, m, n).

    out[i, j] = (sum over k of |x1[i, k] - x2[j, k]| ** p) ** (1 / p); for p = 0 the number of unequal elements, for
    infinity the largest difference.

    Args:
        x1, x2: float, same dtype; leading dims broadcast.
        p: order of the norm, 0 or more.
        compute_mode: whether p = 2 goes through a matrix product, which is fast but loses digits between near rows:
            use_mm_for_euclid_dist, donot_use_mm_for_euclid_dist, or use_mm_for_euclid_dist_if_necessary (with more
            than 25 rows on either side).
    Raises:
        RuntimeError: other dtypes, different numbers of columns, negative p.
        ValueError: another compute_mode.
    Differentiable in x1 and x2; the slope at equal rows is 0.
    Example:
        >>> cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0], [1.0, 0.0]]))
        tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    _check_rows(x1, x2, p)
    if x1.shape[:-2] != x2.shape[:-2]:
        leading = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        x1 = x1.expand((*leading, *x1.shape[-2:]))
        x2 = x2.expand((*leading, *x2.shape[-2:]))
    product = _MODES[compute_mode]
    if product is None:
        product = x1.shape[-2] > _MANY_ROWS or x2.shape[-2] > _MANY_ROWS
    if p == 2 and product:
        return cdist_euclidean(x1, x2)
    return cdist_rows(x1, x2, float(p))


@composite
def pdist(input, p=2.0):
    """p-norm distances of all pairs of rows (i < j) of a matrix, in row-major order.

    Args:
        input: float, shape (n, d).
        p: order of the norm, 0 or more; see cdist.
    Returns:
        Shape (n (n - 1) / 2,).
    Raises:
        RuntimeError: input is not a matrix, or p is negative.
    Differentiable in input.
    """
    if input.dim() != 2:
        raise RuntimeError("pdist only supports 2D tensors")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if not input.is_floating_point():
        raise RuntimeError(f"pdist only supports floating-point dtypes, got: {input.dtype}")
    return pdist_rows(input, float(p))
