"""Multivariate normal distribution."""

import flambeau

from . import constraints
from ._matrices import batch_mahalanobis, batch_mv, half_log_det, precision_to_scale_tril
from .distribution import LOG_2PI, Distribution
from .utils import lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """Normal distribution of vectors. Exactly one of the three matrices is given.

    Args:
        loc: mean, of shape (..., n).
        covariance_matrix: positive definite, shape (..., n, n).
        precision_matrix: its inverse.
        scale_tril: its Cholesky factor, lower triangular with a positive diagonal. The cheapest: everything else is
            computed from it.
    Raises:
        ValueError: a parameter has too few dims, or not exactly one matrix is given.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = {
        "loc": 1,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
        "_unbroadcasted_scale_tril": None,
    }

    def __init__(
        self,
        loc,
        covariance_matrix=None,
        precision_matrix=None,
        scale_tril=None,
        validate_args=None,
    ):
        name = type(self).__name__
        if loc.dim() < 1:
            raise ValueError(f"{name}: expected loc of at least one dim, got a 0-d tensor.")
        given, matrix = one_matrix(name, covariance_matrix, precision_matrix, scale_tril)
        batch_shape = flambeau.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, given, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = cholesky_of(given, matrix)

    def _expanded(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """Cholesky factor of the covariance."""
        return self._expanded(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """Covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._expanded(flambeau.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self):
        """Inverse of the covariance."""
        return self._expanded(flambeau.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """Diagonal of the covariance."""
        variance = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return variance.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        noise = standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor = self._unbroadcasted_scale_tril
        squares = batch_mahalanobis(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2PI + squares) - half_log_det(factor)

    def entropy(self):
        log_det = half_log_det(self._unbroadcasted_scale_tril)
        entropy = 0.5 * self._event_shape[0] * (1.0 + LOG_2PI) + log_det
        return entropy.expand(self._batch_shape)


# The names under which programs import these from PyTorch.
_batch_mahalanobis = batch_mahalanobis
_batch_mv = batch_mv
_precision_to_scale_tril = precision_to_scale_tril
_standard_normal = standard_normal


def one_matrix(name, covariance_matrix, precision_matrix, scale_tril):
    """The one matrix that was given, and its parameter's name.

    Raises:
        ValueError: none or several were given, or it has fewer than two dims.
    """
    matrices = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    given = {key: value for key, value in matrices.items() if value is not None}
    if len(given) != 1:
        raise ValueError(
            f"{name}: expected exactly one of covariance_matrix, precision_matrix and scale_tril,"
            f" got {', '.join(given) or 'none'}."
        )
    ((key, value),) = given.items()
    if value.dim() < 2:
        raise ValueError(f"{name}: expected {key} of at least two dims, got {value.dim()}.")
    return key, value


def cholesky_of(given, matrix):
    """Cholesky factor of the covariance, from the matrix that was given."""
    if given == "scale_tril":
        return matrix
    if given == "covariance_matrix":
        return flambeau.linalg.cholesky(matrix)
    return precision_to_scale_tril(matrix)
