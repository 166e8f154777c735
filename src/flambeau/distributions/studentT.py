"""Student's t-distribution."""

import math

import flambeau

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t-distribution, moved and scaled.

    Args:
        df: degrees of freedom, above 0.
        loc: centre.
        scale: factor, above 0.
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(StudentT, _instance)
        batch_shape = flambeau.Size(batch_shape)
        for name in ("df", "loc", "scale", "_chi2"):
            setattr(new, name, getattr(self, name).expand(batch_shape))
        return self._finish_expanded(new, batch_shape, ())

    @property
    def mean(self):
        """loc; NaN for df up to 1."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """scale^2 df / (df - 2); infinite for df up to 2, NaN for df up to 1."""
        variance = self.scale.pow(2) * self.df / (self.df - 2)
        variance = variance.masked_fill(self.df <= 2, math.inf)
        return variance.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        normal = standard_normal(shape, self.df.dtype, self.df.device)
        chi2 = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * flambeau.rsqrt(chi2 / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        log_normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + flambeau.lgamma(0.5 * self.df)
            - flambeau.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * flambeau.log1p(y**2.0 / self.df) - log_normalizer

    def entropy(self):
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - next_half.lgamma()
        spread = next_half * (next_half.digamma() - half.digamma())
        return self.scale.log() + spread + 0.5 * self.df.log() + log_beta
