"""Transforms of vectors and matrices: simplices, Cholesky factors, positive definite matrices."""

import math

import flambeau
from flambeau.nn import functional as F

from . import constraints
from ._scalar_transforms import clipped_sigmoid
from ._transform import Transform
from .utils import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


class CorrCholeskyTransform(Transform):
    """Vectors of n (n - 1) / 2 numbers to Cholesky factors of n x n correlation matrices.

    tanh maps each number to a partial correlation z in (-1, 1), and fills the strictly lower triangle row by row. In
    row i the entries are z_j times the root of what the earlier ones left of the unit norm, prod_{k<j} (1 - z_k^2); the
    diagonal takes the rest.

    References:
        Lewandowski, Kurowicka, Joe, "Generating random correlation matrices based on vines and extended onion method",
        2009; Stan reference manual, "Cholesky factors of correlation matrices".
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        eps = flambeau.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(flambeau.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        # the diagonal: everything that is left
        unit = partial + flambeau.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        left = (1 - partial.square()).sqrt().cumprod(-1)
        return unit * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = 1 - (y * y).cumsum(-1)
        left = F.pad(left[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2  # atanh

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        """The stick lengths' logarithms, and the derivative of tanh.

        Entry (i, j) has the factor sqrt(prod_{k<j} (1 - z_k^2)) = sqrt(1 - sum_{k<j} y_k^2).
        """
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        sticks = 0.5 * left.log().sum(-1)
        tanh = -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)
        return sticks + tanh

    def forward_shape(self, shape):
        """(..., n (n - 1) / 2) to (..., n, n)."""
        if len(shape) < 1:
            raise ValueError("CorrCholeskyTransform: expected at least one dim, got none.")
        count = shape[-1]
        size = (1 + math.isqrt(1 + 8 * count)) // 2
        if size * (size - 1) // 2 != count:
            raise ValueError(f"CorrCholeskyTransform: expected n (n - 1) / 2 numbers, got {count}.")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape):
        """(..., n, n) to (..., n (n - 1) / 2)."""
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise ValueError(
                f"CorrCholeskyTransform: expected square matrices, got shape {tuple(shape)}."
            )
        size = shape[-1]
        return shape[:-2] + (size * (size - 1) // 2,)


class SoftmaxTransform(Transform):
    """y = exp(x) / sum exp(x) over the last dim. Not a bijection: the inverse is one of many, log y."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other):
        return isinstance(other, SoftmaxTransform)

    __hash__ = None

    def _call(self, x):
        shifted = (x - x.max(-1, True)[0]).exp()
        return shifted / shifted.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        """Unchanged."""
        if len(shape) < 1:
            raise ValueError("SoftmaxTransform: expected at least one dim, got none.")
        return shape

    def inverse_shape(self, shape):
        """Unchanged."""
        return self.forward_shape(shape)


def _remaining(x):
    """log of how many pieces are still to break, for each break: log(n - 1), ..., log 1, log 0 excluded."""
    count = x.shape[-1]
    return (count + 1 - x.new_ones(count).cumsum(-1)).log()


class StickBreakingTransform(Transform):
    """Vectors of n - 1 numbers to the simplex of n numbers.

    sigmoid(x_i - log(n - i)) is the part of what is left of a stick of length 1 that piece i takes, so that x = 0 gives
    equal pieces.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other):
        return isinstance(other, StickBreakingTransform)

    __hash__ = None

    def _call(self, x):
        taken = clipped_sigmoid(x - _remaining(x))
        left = (1 - taken).cumprod(-1)
        return F.pad(taken, [0, 1], value=1) * F.pad(left, [1, 0], value=1)

    def _inverse(self, y):
        pieces = y[..., :-1]
        left = (1 - pieces.cumsum(-1)).clamp(min=flambeau.finfo(y.dtype).tiny)
        return pieces.log() - left.log() + _remaining(pieces)

    def log_abs_det_jacobian(self, x, y):
        """Sum of log(left_i) + log of the sigmoid's derivative."""
        x = x - _remaining(x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        """(..., n - 1) to (..., n)."""
        if len(shape) < 1:
            raise ValueError("StickBreakingTransform: expected at least one dim, got none.")
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        """(..., n) to (..., n - 1)."""
        if len(shape) < 1:
            raise ValueError("StickBreakingTransform: expected at least one dim, got none.")
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(Transform):
    """Square matrices to lower triangular ones with positive diagonals, by exp on the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other):
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = None

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Square matrices to positive definite ones: the product of the lower Cholesky transform with its transpose."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = None

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(flambeau.linalg.cholesky(y))
