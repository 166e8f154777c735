"""Wishart distribution."""

import math
import warnings
from numbers import Number

import flambeau

from . import constraints
from ._matrices import half_log_det
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import cholesky_of, one_matrix
from .utils import lazy_property

__all__ = ["Wishart"]

_LOG_2 = math.log(2)


def _mvdigamma(x, p):
    """Derivative of the logarithm of the multivariate gamma function of dimension p."""
    steps = flambeau.arange(p, dtype=x.dtype, device=x.device) / 2
    return flambeau.digamma(x.unsqueeze(-1) - steps).sum(-1)


class Wishart(ExponentialFamily):
    """Distribution of the scatter matrix of df normal vectors: positive definite matrices of mean df times covariance.

    Args:
        df: degrees of freedom, above n - 1; need not be an integer.
        covariance_matrix: of the vectors, positive definite, shape (..., n, n). Exactly one of the three is given.
        precision_matrix: its inverse.
        scale_tril: its Cholesky factor.
    Raises:
        ValueError: df is too small, or not exactly one matrix is given.
    References:
        Odell, Feiveson, "A numerical procedure to generate a sample covariance matrix", 1966 (Bartlett's
        decomposition).
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {
        "df": 0,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
        "_unbroadcasted_scale_tril": None,
    }

    @property
    def arg_constraints(self):
        """df depends on the size of the matrices."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None
    ):
        given, matrix = one_matrix("Wishart", covariance_matrix, precision_matrix, scale_tril)
        if isinstance(df, Number):
            df = flambeau.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = flambeau.broadcast_shapes(matrix.shape[:-2], df.shape)
        event_shape = matrix.shape[-2:]
        self.df = df.expand(batch_shape)
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(
                f"Wishart: expected df above {event_shape[-1] - 1}, the size of the matrices less 1, got {df}."
            )
        setattr(self, given, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if self.df.lt(event_shape[-1]).any():
            warnings.warn(
                "Wishart: df below the size of the matrices: samples are likely to be singular.",
                stacklevel=2,
            )
        self._unbroadcasted_scale_tril = cholesky_of(given, matrix)
        self._batch_dims = [-1 - dim for dim in range(len(batch_shape))]
        self._dist_chi2 = self._chi2()

    def _chi2(self):
        """Squares of the diagonal in Bartlett's decomposition: df, df - 1, ... degrees of freedom."""
        steps = flambeau.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return Chi2(df=self.df.unsqueeze(-1) - steps)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new._batch_dims = [-1 - dim for dim in range(len(new._batch_shape))]
        new._dist_chi2 = new._chi2()
        return new

    def _expanded(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """Cholesky factor of the covariance."""
        return self._expanded(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """Covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return self._expanded(flambeau.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self):
        """Inverse of the covariance."""
        return self._expanded(flambeau.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        """df times the covariance."""
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self):
        """(df - n - 1) times the covariance; NaN where that is not positive."""
        factor = self.df - self._event_shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        """Variance of each entry."""
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (covariance.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape=()):
        """L A A^T L^T: A lower triangular, normal below its diagonal, roots of chi-squared numbers on it."""
        p = self._event_shape[-1]
        sample_shape = flambeau.Size(sample_shape)
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=flambeau.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = flambeau.tril_indices(p, p, offset=-1, device=noise.device)
        noise[..., rows, columns] = flambeau.randn(
            (*sample_shape, *self._batch_shape, p * (p - 1) // 2),
            dtype=noise.dtype,
            device=noise.device,
        )
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Draw with gradients; what rounding made singular is drawn again.

        Args:
            sample_shape: draws per batch element.
            max_try_correction: how often at most; 10 times if None.
        """
        sample_shape = flambeau.Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        # PyTorch draws what is not singular once more; so do we, for the same numbers from the same seed.
        again = self._any_of_batch(self.support.check(sample))
        for attempt in range(1 + (10 if max_try_correction is None else max_try_correction)):
            if again.any():
                sample[again] = self._bartlett_sampling((int(again.sum()),))
            again = self._any_of_batch(~self.support.check(sample))
            if not again.any():
                break
            if attempt == 0:
                warnings.warn("Wishart: singular sample drawn again.", stacklevel=2)
        return sample

    def _any_of_batch(self, flags):
        """Reduce flags of draws and batch elements to flags of draws."""
        return flags.any(tuple(self._batch_dims)) if self._batch_shape else flags

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        solved = flambeau.cholesky_solve(value, factor)
        return (
            -nu * (p * _LOG_2 / 2 + half_log_det(factor))
            - flambeau.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * flambeau.linalg.slogdet(value).logabsdet
            - solved.diagonal(dim1=-2, dim2=-1).sum(-1) / 2
        )

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * _LOG_2 / 2 + half_log_det(self._unbroadcasted_scale_tril))
            + flambeau.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p)
            + nu * p / 2
        )

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        """log of the normaliser in x = -precision / 2 and y = (df - n - 1) / 2."""
        p = self._event_shape[-1]
        half_df = y + (p + 1) / 2
        return flambeau.mvlgamma(half_df, p=p) - half_df * flambeau.linalg.slogdet(-x).logabsdet
