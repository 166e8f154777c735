"""Multivariate normal distribution whose covariance has a low-rank form."""

import flambeau

from . import constraints
from ._matrices import batch_mv, capacitance_tril, lowrank_log_det, lowrank_mahalanobis
from .distribution import LOG_2PI, Distribution
from .utils import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal distribution of vectors with covariance W W^T + D: cost grows with n m^2, not n^3.

    Args:
        loc: mean, of shape (..., n).
        cov_factor: W, of shape (..., n, m).
        cov_diag: the diagonal of D, of shape (..., n), above 0.
    Raises:
        ValueError: the shapes do not fit.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = {
        "loc": 1,
        "cov_diag": 1,
        "cov_factor": 2,
        "_unbroadcasted_cov_factor": None,
        "_unbroadcasted_cov_diag": None,
        "_capacitance_tril": None,
    }

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        name = type(self).__name__
        if loc.dim() < 1:
            raise ValueError(f"{name}: expected loc of at least one dim, got a 0-d tensor.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                f"{name}: expected cov_factor of at least two dims, got {cov_factor.dim()}."
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(
                f"{name}: expected cov_factor of shape (..., {event_shape[0]}, m), got {tuple(cov_factor.shape)}."
            )
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(
                f"{name}: expected cov_diag of shape (..., {event_shape[0]}), got {tuple(cov_diag.shape)}."
            )
        try:
            batch_shape = flambeau.broadcast_shapes(
                loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
            )
        except RuntimeError:
            raise ValueError(
                f"{name}: expected batch shapes that broadcast, got loc {tuple(loc.shape)}, cov_factor"
                f" {tuple(cov_factor.shape)} and cov_diag {tuple(cov_diag.shape)}."
            ) from None
        self.loc = loc.expand((*batch_shape, -1))
        self.cov_factor = cov_factor.expand((*batch_shape, -1, -1))
        self.cov_diag = cov_diag.expand((*batch_shape, -1))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)

    def _expanded(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @lazy_property
    def variance(self):
        """Diagonal of the covariance."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """Cholesky factor of the covariance, D^1/2 times that of D^-1/2 W W^T D^-1/2 + I."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = flambeau.eye(root.shape[-2], dtype=root.dtype, device=root.device)
        inner = flambeau.matmul(scaled, scaled.mT) + identity
        return self._expanded(root * flambeau.linalg.cholesky(inner))

    @lazy_property
    def covariance_matrix(self):
        """Covariance."""
        factor = self._unbroadcasted_cov_factor
        diag = flambeau.diag_embed(self._unbroadcasted_cov_diag)
        return self._expanded(flambeau.matmul(factor, factor.mT) + diag)

    @lazy_property
    def precision_matrix(self):
        """Inverse of the covariance, by the Woodbury identity."""
        inverse = self._unbroadcasted_cov_diag.reciprocal()
        scaled = self._unbroadcasted_cov_factor.mT * inverse.unsqueeze(-2)
        solved = flambeau.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._expanded(flambeau.diag_embed(inverse) - flambeau.matmul(solved.mT, solved))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        like = self.loc.dtype, self.loc.device
        low = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], *like)
        full = standard_normal(shape, *like)
        spread = batch_mv(self._unbroadcasted_cov_factor, low)
        return self.loc + spread + self._unbroadcasted_cov_diag.sqrt() * full

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        squares = lowrank_mahalanobis(factor, diag, value - self.loc, self._capacitance_tril)
        log_det = lowrank_log_det(diag, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * LOG_2PI + log_det + squares)

    def entropy(self):
        log_det = lowrank_log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + LOG_2PI) + log_det)
        return entropy.expand(self._batch_shape)
